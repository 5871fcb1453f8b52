package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/internal/asciicast"
	"github.com/evertty/evertty/wire"
)

// maxSpeed is how much faster or slower than it was a recording can be shown.
const maxSpeed = 1000

// errQuit is the end of a player by a key.
var errQuit = errors.New("quit")

// playing has the flags of play.
type playing struct {
	speed  float64
	limit  time.Duration
	limits bool // limit was given
	noWait bool
}

func newPlay(a *app) *cobra.Command {
	var o playing
	c := &cobra.Command{
		Use:   "play FILE|-",
		Short: "Show a recording in this terminal",
		Long: `Shows a recording of "evertty record" or of asciinema (asciicast v2 or v3) as it
happened. Space pauses, q or C-c ends, C-z stops. The window keeps its size, so it should be
as large as what was recorded. When standard output is no terminal the text of
the recording is written as it is.`,
		Example: `  evertty play build.cast --speed 2 --idle-limit 1
  evertty record build | evertty play -
  evertty play build.cast --no-wait | grep error`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.limits = c.Flags().Changed("idle-limit")
			in := a.stdin
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("play: %w", err)
				}
				defer f.Close()
				in = f
			}
			return a.play(c.Context(), in, args[0], o)
		},
	}
	addFlags(c,
		flag{"speed", "", newSpeed(&o.speed, 1), "`times` as fast as it was"},
		flag{"idle-limit", "", newDuration(&o.limit, 0),
			"longest `pause`, before the speed is applied; 0 for none (default the recording's own)"},
		flag{"no-wait", "", &o.noWait, "everything at once"},
	)
	return c
}

// play shows the recording. On a terminal everything is as it was before in the
// end, with what was shown last above.
func (a *app) play(ctx context.Context, in io.Reader, name string, o playing) error {
	ctx, stop := endBySignal(ctx)
	defer stop()
	cast, err := asciicast.NewReader(in)
	if err != nil {
		return fmt.Errorf("play: %s: %w", name, err)
	}
	p := &player{playing: o, cast: cast, out: a.stdout, stopped: make(chan time.Duration, 1)}
	if !o.limits {
		p.limit = cast.Header().IdleLimit
	}
	if isTTY(a.stdout, a.stdout) {
		err = p.onTerminal(ctx, a.stdin, a.stdout)
		cols, rows, known := sizeOf(a.stdout)
		if h := cast.Header(); known && (h.Cols > cols || h.Rows > rows) {
			fmt.Fprintf(a.stderr, "[the recording is of %d x %d, this window has %d x %d]\n", h.Cols, h.Rows, cols,
				rows)
		}
	} else {
		err = p.run(ctx)
	}
	if err = signalled(ctx, err); err == nil || errors.Is(err, errQuit) {
		return nil
	}
	if _, quiet := errors.AsType[codeError](err); quiet {
		return err
	}
	return fmt.Errorf("play: %s: %w", name, err)
}

// player shows one recording. One goroutine, run's, writes; another reads keys
// when there is a terminal for them.
type player struct {
	playing
	cast    *asciicast.CastReader
	out     io.Writer
	user    *userOutput        // nil where out is no terminal
	keys    chan byte          // nil without a keyboard
	due     time.Time          // when the next event is to be shown
	stopped chan time.Duration // how long this process was stopped
}

// onTerminal shows the recording on the user's terminal.
func (p *player) onTerminal(ctx context.Context, in, out *os.File) error {
	p.user = &userOutput{out: out, turn: newTurn()}
	if !isTTY(in, out) { // a recording comes from there
		f, err := os.OpenFile(terminalDevice, os.O_RDWR, 0)
		if err == nil {
			defer f.Close()
			in = f
		}
	}
	if isTTY(in, out) {
		tty, err := openTTY(in, out)
		if err != nil {
			return err
		}
		defer tty.Close()
		p.user.tty = tty
		ctx, done := context.WithCancel(ctx)
		p.keys = make(chan byte)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			readPlayKeys(ctx, tty, p.keys)
		}()
		defer func() {
			done()
			tty.stop()
			<-ended
		}()
	}
	defer p.user.begun(ctx, func(d time.Duration) {
		select {
		case p.stopped <- d:
		default: // a stop before is not noted yet
		}
	})()
	h := p.cast.Header()
	if err := p.user.begin(wire.Size{Cols: h.Cols, Rows: h.Rows}); err != nil {
		return err
	}
	return p.run(ctx)
}

// readPlayKeys passes on the keys until the end of t.
func readPlayKeys(ctx context.Context, t *tty, keys chan<- byte) {
	buf := make([]byte, typedPiece)
	for {
		n, err := t.read(buf, -1)
		if err != nil {
			return // stop, or a terminal that is gone, which shows in the next write
		}
		for _, k := range playKeys(buf[:n]) {
			select {
			case keys <- k:
			case <-ctx.Done():
				return
			}
		}
	}
}

// playKeys are the keys in what came from the terminal at once. What begins with
// ESC is its word about the mouse, or a key that means nothing here.
func playKeys(p []byte) []byte {
	if len(p) > 0 && p[0] == '\x1b' {
		return nil
	}
	return p
}

// run shows the events at their times until the last, a key or ctx ends it.
func (p *player) run(ctx context.Context) error {
	p.due = time.Now()
	last := time.Duration(0)
	for {
		e, err := p.cast.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		pause := e.At - last
		last = e.At
		if p.limit > 0 {
			pause = min(pause, p.limit)
		}
		p.due = p.due.Add(time.Duration(min(float64(pause)/p.speed, math.MaxInt64/2)))
		if err := p.wait(ctx); err != nil {
			return err
		}
		if err := p.show(e); err != nil {
			return err
		}
	}
}

// wait returns when the next event is due; a pause of the user's makes that later.
func (p *player) wait(ctx context.Context) error {
	if p.noWait {
		p.due = time.Now()
	}
	timer := time.NewTimer(time.Until(p.due))
	defer timer.Stop()
	var paused time.Time
	for {
		fire := timer.C
		if !paused.IsZero() {
			fire = nil
		}
		select {
		case <-fire:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case d := <-p.stopped:
			if paused.IsZero() {
				p.due = p.due.Add(d)
				timer.Reset(time.Until(p.due))
			}
		case k := <-p.keys:
			switch {
			case k == 'q':
				return errQuit
			case k == 'C'-'@': // C-c, which raw mode makes a key
				return signalCode(syscall.SIGINT)
			case k == 'Z'-'@': // so is C-z, for all of the job
				suspendJob()
			case k == ' ' && paused.IsZero():
				paused = time.Now()
			case k == ' ':
				p.due = p.due.Add(time.Since(paused))
				paused = time.Time{}
				timer.Reset(time.Until(p.due))
			}
		}
	}
}

// show shows one event.
func (p *player) show(e asciicast.Event) error {
	if p.user == nil {
		if e.Code != asciicast.Output {
			return nil
		}
		_, err := io.WriteString(p.out, e.Data)
		return err
	}
	p.user.turn.take()
	defer p.user.turn.give()
	switch e.Code {
	case asciicast.Resize:
		p.user.screen.Resize(e.Cols, e.Rows)
	case asciicast.Output:
		return p.user.write([]byte(e.Data))
	}
	return nil
}
