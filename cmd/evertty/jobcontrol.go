package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// turnTimeout is how long this process, told to stop, waits for a write to the user's
// terminal to end: one that takes no output must not keep it from stopping.
const turnTimeout = time.Second

// endTimeout is how long this process, told to end, tries to give back a terminal that takes no
// output.
const endTimeout = 5 * time.Second

// together is how far apart two signals may be heard that were sent at once: a shell that ends a
// stopped job sends SIGTERM and SIGCONT.
const together = 20 * time.Millisecond

// turn is the right to write to the user's terminal, of one goroutine at a time. Whoever
// stops this process takes it until the terminal is back.
type turn chan struct{}

func newTurn() turn {
	t := make(turn, 1)
	t <- struct{}{}
	return t
}

func (t turn) take() { <-t }
func (t turn) give() { t <- struct{}{} }

// takeSoon is take within turnTimeout; it reports whether it was.
func (t turn) takeSoon() bool {
	late := time.NewTimer(turnTimeout)
	defer late.Stop()
	select {
	case <-t:
		return true
	case <-late.C:
		return false
	}
}

// signals are the signals that a program handles while it has the user's terminal.
type signals struct {
	size, end, stop, cont chan os.Signal
	late                  chan os.Signal // as end
	closed                chan struct{}
}

// hearSignals begins to hear signals; from then on none ends or stops the program by
// itself.
func hearSignals() signals {
	one := func() chan os.Signal { return make(chan os.Signal, 1) }
	s := signals{one(), one(), one(), one(), one(), make(chan struct{})}
	for _, c := range []chan os.Signal{s.end, s.late} {
		signal.Notify(c, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT)
	}
	s.hearTerminal()
	return s
}

func (s signals) close() {
	for _, c := range []chan os.Signal{s.size, s.end, s.stop, s.cont, s.late} {
		signal.Stop(c)
	}
	close(s.closed)
}

// endLate ends this process endTimeout after a signal to end, if a write to the user's terminal keeps
// it from ending by itself. It returns after close.
func (s signals) endLate(tty *tty) {
	var got os.Signal
	select {
	case got = <-s.late:
	case <-s.closed:
		return
	}
	select {
	case <-time.After(endTimeout):
		tty.Restore()
		os.Exit(int(signalCode(got.(syscall.Signal))))
	case <-s.closed:
	}
}

// stopped gives the user's terminal back, stops this process, as SIGTSTP asks, and returns with the
// turn when it was continued. farewell is called in the turn, unless a write takes too long. Where no
// shell could continue it, it goes on, as POSIX says of an orphaned process group (XBD 3.264).
func (s signals) stopped(turn turn, tty *tty, farewell func()) {
	mine := turn.takeSoon()
	if mine {
		farewell()
	}
	tty.Restore()
	if !orphaned() {
		s.pause(os.Getpid())
	}
	if !mine {
		turn.take()
	}
}

// pause stops this process, or with pid 0 its group, until SIGCONT. It is SIGSTOP that stops it: a
// handler of SIGTSTP stays installed in a Go program.
func (s signals) pause(pid int) {
	select {
	case <-s.cont: // of an earlier stop
	default:
	}
	if stopProcess(pid) == nil {
		<-s.cont
	}
}

// regain waits, stopped, until this process has the terminal behind out: who uses it in the
// background has to stop (POSIX XBD 11.1.4). It returns false when the program is to end.
func (s signals) regain(out *os.File) bool {
	for !foreground(out) && !orphaned() {
		<-time.After(together) // a signal to end comes beside SIGCONT, in either order
		if len(s.end) > 0 {
			return false
		}
		if !foreground(out) {
			s.pause(0)
		}
	}
	return len(s.end) == 0
}
