package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
)

// listPause is the time between two looks at the list while the picker shows it.
const listPause = time.Second

// pick is the program without a verb: on a terminal it shows the terminals to choose from, or makes the first one;
// elsewhere it prints the help.
func (a *app) pick(c *cobra.Command) error {
	if !isTTY(a.stdin, a.stdout) {
		return c.Help()
	}
	v := viewing{detachKeys: defaultDetachKeys, scrollback: client.AllHistory}
	keys, err := canView(a, v)
	if err != nil {
		return err
	}
	server, err := a.reach()
	if err != nil {
		return err
	}
	list, err := server.List(c.Context(), "")
	if err != nil {
		return err
	}
	choice := choice{create: true}
	if len(list) > 0 {
		if choice, err = a.choose(c.Context(), list); err != nil {
			return err
		}
	} else if cols, _, ok := a.size(); ok && cols > 0 {
		a.tell(pickerHint)
	}
	switch {
	case choice.create:
		v.nested = true // as evertty new
		info, err := a.create(c, creating{session: defaultSession}, nil)
		if err != nil {
			return err
		}
		return a.view(c.Context(), info, v, keys)
	case choice.terminal != nil:
		if err := checkNesting(a.surroundings(), *choice.terminal); err != nil {
			return err
		}
		return a.view(c.Context(), *choice.terminal, v, keys)
	}
	return nil
}

// choice is what was chosen in the picker; the zero value is nothing.
type choice struct {
	terminal *client.Terminal
	create   bool
}

// choose shows the picker until there is a choice or a signal ends it. The user's terminal is as before then.
func (a *app) choose(ctx context.Context, list []client.Terminal) (chosen choice, err error) {
	heard := hearSignals()
	defer heard.close()
	tty, err := openTTY(a.stdin, a.stdout)
	if err != nil {
		return choice{}, err
	}
	go heard.endLate(tty)
	ctx, cancel := context.WithCancel(ctx)
	p := &picker{out: a.stdout, list: list}
	keys := newPickerKeys(tty)
	defer func() { // also when it panics
		cancel()
		p.leave()
		tty.stop()
		keys.stop()
		tty.Close()
	}()
	lists := make(chan []client.Terminal)
	go a.watchList(ctx, lists)
	p.enter()
	for err == nil && !p.done {
		select {
		case k := <-keys.pressed:
			p.press(k)
			keys.next(p.done)
		case p.list = <-lists:
		case <-heard.size:
		case got := <-heard.end:
			return choice{}, signalCode(got.(syscall.Signal))
		case <-heard.stop:
			err = p.pause(heard, tty, true)
		case <-heard.cont: // it was stopped by SIGSTOP
			err = p.pause(heard, tty, false)
		case err = <-keys.failed:
		}
		if err == nil && !p.done {
			err = p.draw()
		}
	}
	return p.choice, err
}

// pause stops this process when it is asked to, gives the terminal back for that long, and takes it again.
func (p *picker) pause(heard signals, tty *tty, asked bool) error {
	if asked {
		turn := newTurn()
		heard.stopped(turn, tty, p.leave)
	}
	if !heard.regain(p.out) {
		return signalCode((<-heard.end).(syscall.Signal))
	}
	tty.raw()
	p.enter()
	return nil
}

// watchList sends the list again and again until ctx ends. A server that does not answer has the list that it had.
func (a *app) watchList(ctx context.Context, lists chan<- []client.Terminal) {
	for sleep(ctx, listPause) == nil {
		server, err := a.client()
		if err != nil {
			continue
		}
		list, err := server.List(ctx, "")
		server.Close()
		if err != nil {
			continue
		}
		select {
		case lists <- list:
		case <-ctx.Done():
		}
	}
}

// errNoScreen is a user's terminal that takes no output.
var errNoScreen = errors.New("the terminal takes no output")

// size is the window's size.
func (p *picker) size() (cols, rows int) {
	w := windowOf(p.out, leastSize)
	return w.Cols, w.Rows
}

// write puts text on the user's terminal, unless another job has it.
func (p *picker) write(text string) error {
	if !foreground(p.out) {
		return nil
	}
	if _, err := p.out.WriteString(text); err != nil {
		return fmt.Errorf("%w: %w", errNoScreen, err)
	}
	return nil
}

// enter shows the alternate screen, leave the one before with the modes of a shell.
func (p *picker) enter() {
	p.painted = ""
	_ = p.write(keepTitle + alternateScreen)
	_ = p.draw()
}

func (p *picker) leave() { _ = p.write(showCursor + "\x1b[m\x1b[?1049l" + giveTitle) }
