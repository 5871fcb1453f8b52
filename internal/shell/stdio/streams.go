// Package stdio is the open files of a command in a server: the FIFOs of its outputs with their
// copiers, and its open standard input. The keeper holds all of them too, so that the command
// survives the server.
package stdio

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty/keeper"
)

// Errors of the standard input.
var (
	ErrNoStdin  = errors.New("the command's standard input is not open")
	ErrFinished = errors.New("the command has ended")
)

// Streams are the outputs and the open input of one command, through all attempts to run it.
type Streams struct {
	Dir      string // of the command
	Unused   string // the directory with FIFOs for one command after the other; "": it makes its own
	ID       string // under which the keeper holds the outputs
	Stdin    bool   // the input stays open
	Outputs  [2]*output.Log
	Keeper   *keeper.Client
	NoSplice bool            // output goes through the memory of this process
	Ctx      context.Context // of what this process does for the shell
	Work     *sync.WaitGroup // of its goroutines

	input   atomic.Pointer[os.File] // the writing end of the open input; nil before its start and after its end
	writing sync.Mutex              // held by who writes to it
}

// FinishOutputs completes the logs.
func (s *Streams) FinishOutputs() {
	s.Outputs[0].Finish()
	s.Outputs[1].Finish()
}

// inputID is the id under which the keeper holds the writing end of an open input: see [InputID].
func (s *Streams) inputID() string { return InputID(s.ID) }

// InputID is the keeper's id of the open input of a command whose outputs it holds as id.
func InputID(id string) string { return id + ".in" }

// InputOpened reports whether the input is open.
func (s *Streams) InputOpened() bool { return s.input.Load() != nil }

// SetInput takes over an open input from the keeper.
func (s *Streams) SetInput(file *os.File) { s.input.Store(file) }

// OpenInput opens the FIFO of an open input. For reading too: it can be opened before the command
// has done so, and never ends by itself.
func (s *Streams) OpenInput() error {
	path := filepath.Join(s.Dir, shelldir.InFIFO)
	var file *os.File
	err := madeAgain(func() (err error) {
		if err = shelldir.MakeFIFO(path); err == nil {
			file, err = shelldir.OpenFIFO(path, unix.O_RDWR)
		}
		return err
	})
	if err == nil {
		s.SetInput(file)
	}
	return err
}

// HoldInput has the keeper hold an open input, and starts to write what the command was given to it
// before others do.
func (s *Streams) HoldInput() error {
	input := s.input.Load()
	if input == nil {
		return nil
	}
	if err := s.Keeper.Hold(s.inputID(), input); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(s.Dir, shelldir.InputFile))
	if err != nil || len(data) == 0 {
		return nil //nolint:nilerr // it was given none
	}
	s.writing.Lock()
	s.Work.Go(func() {
		defer s.writing.Unlock()
		_ = write(s.Ctx, input, data)
	})
	return nil
}

// WriteInput writes to the open input of a command that runs, and closes it after data with eof. It
// returns when everything is in the FIFO. done is closed when the command has ended. began reports
// whether the command has opened its input; nil is one that begins with it open. Errors:
// ErrNoStdin, ErrFinished, ctx.Err().
func (s *Streams) WriteInput(ctx context.Context, data []byte, eof bool, done <-chan struct{},
	began func() bool) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	input := s.input.Load()
	switch {
	case shelldir.Closed(done):
		return ErrFinished
	case input == nil:
		return fmt.Errorf("%w: it was closed", ErrNoStdin)
	}
	if err := write(ctx, input, data); err != nil || !eof {
		return err
	}
	if began != nil {
		if err := awaitReader(ctx, done, began); err != nil {
			return err
		}
	}
	s.CloseInput()
	return nil
}

// readerPause is the time between two checks whether a command has opened its input, which mostly
// takes a millisecond.
const readerPause = time.Millisecond

// awaitReader waits until the command has opened its input or has ended: a FIFO without readers
// loses its content, and a command that opened it later would wait for ever.
func awaitReader(ctx context.Context, done <-chan struct{}, began func() bool) error {
	for !began() {
		select {
		case <-time.After(readerPause):
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// write writes all of data unless ctx or the command ends first.
func write(ctx context.Context, input *os.File, data []byte) error {
	_ = input.SetWriteDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { _ = input.SetWriteDeadline(time.Unix(1, 0)) })
	defer stop()
	_, err := input.Write(data)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrClosed):
		return ErrFinished
	}
	return err
}

// CloseInput ends an open input.
func (s *Streams) CloseInput() {
	if input := s.input.Swap(nil); input != nil {
		_ = input.Close()
		s.Keeper.Release(s.inputID())
	}
}
