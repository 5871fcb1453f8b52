package main

import (
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// terminalDevice is the console of this process.
const terminalDevice = "CONIN$"

// prepare begins this process: consoles show escape sequences only when they are told to.
func prepare() error {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		var mode uint32
		if h := windows.Handle(f.Fd()); windows.GetConsoleMode(h, &mode) == nil {
			_ = windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) // old ones show them as text
		}
	}
	return nil
}

// sizeInterval is how often the size of the console is looked at: there is no signal for it.
const sizeInterval = 250 * time.Millisecond

// sizeChanged is what hearTerminal sends for another size.
type sizeChanged struct{}

func (sizeChanged) Signal()        {}
func (sizeChanged) String() string { return "the size has changed" }

// hearTerminal begins to look for another size of the console. No shell stops a program here.
func (s signals) hearTerminal() {
	go func() {
		ticks := time.NewTicker(sizeInterval)
		defer ticks.Stop()
		cols, rows, _ := sizeOf(os.Stdout)
		for {
			select {
			case <-ticks.C:
			case <-s.closed:
				return
			}
			c, r, ok := sizeOf(os.Stdout)
			if !ok || c == cols && r == rows {
				continue
			}
			cols, rows = c, r
			select {
			case s.size <- sizeChanged{}:
			default: // one before is not heard yet
			}
		}
	}()
}

// Windows has no job control: nothing stops a process, and each may use its console.

func stopProcess(int) error { return windows.ERROR_NOT_SUPPORTED }

func suspendJob() {}

func foreground(*os.File) bool { return true }

func orphaned() bool { return true }

// isNull reports whether a file is NUL.
func isNull(f *os.File) bool {
	s, err := f.Stat()
	null, errNull := os.Stat(os.DevNull)
	return err == nil && errNull == nil && os.SameFile(s, null)
}
