package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/evertty/evertty/provider"
)

// codeLost is what a terminal ends with whose program cannot be reached any more, as ssh(1) does.
const codeLost = 255

// codeHungUp is what it ends with after ctx has ended, when the program's end is not heard any more: what SIGHUP makes of a program.
const codeHungUp = 128 + 1

// inputPiece is how much typed text goes in one call, in bytes: a paste in few, and no service refuses it.
const inputPiece = 16 << 10

// Screen is the relay's own terminal.
type Screen struct {
	In, Out *os.File
	Size    func() (cols, rows int)
	Resized <-chan os.Signal
}

// Run runs the program of a directory's job on a terminal elsewhere and returns its exit code, 128 plus the number for one that a signal ended; 255 and a line that says why
// when it could not be started or the connection is lost. It hangs up when ctx ends (129 unless the program's end is heard) or nothing can be typed any more. The screen must be in raw mode.
func Run(ctx context.Context, dir string, s Screen) int {
	j, err := take(dir)
	if err != nil || j.Terminal == nil {
		return s.lost(lacks("program", err))
	}
	p, err := j.open()
	if err != nil {
		return s.lost(err)
	}
	if closer, ok := p.(io.Closer); ok {
		defer closer.Close()
	}
	t, err := j.openTerminal(ctx, p, s)
	if err != nil {
		return s.lost(err)
	}
	defer t.Close()
	told := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process: a read of a terminal cannot be taken back
		buffer := make([]byte, inputPiece)
		_, _ = io.CopyBuffer(struct{ io.Writer }{t}, struct{ io.Reader }{s.In}, buffer)
		_ = t.Close()
	}()
	go s.follow(ctx, t)
	stop := context.AfterFunc(ctx, func() { _ = t.Close() })
	defer stop()
	_, err = io.Copy(struct{ io.Writer }{s.Out}, t)
	if code, known := t.Exit(); known {
		return code
	}
	if told.Err() != nil {
		return codeHungUp
	}
	if err == nil {
		err = errors.New("nobody knows how the program ended")
	}
	return s.lost(err)
}

// openTerminal starts the program. A directory that is gone is none.
func (j Job) openTerminal(ctx context.Context, p provider.Provider, s Screen) (provider.PTY, error) {
	cols, rows := s.Size()
	r := provider.PTYRequest{Cwd: string(j.Terminal.Cwd), Env: texts(j.Terminal.Env), Cols: cols, Rows: rows}
	for _, word := range j.Terminal.Argv {
		r.Argv = append(r.Argv, string(word))
	}
	if r.Cwd != "" {
		if _, err := p.ListDir(ctx, j.Instance, r.Cwd); errors.Is(err, provider.ErrNoFile) {
			fmt.Fprintf(s.Out, "evertty: %s is gone\r\n", r.Cwd)
			r.Cwd = ""
		}
	}
	return p.OpenPTY(ctx, j.Instance, r)
}

// follow passes the size on.
func (s Screen) follow(ctx context.Context, t provider.PTY) {
	for {
		select {
		case <-s.Resized:
			cols, rows := s.Size()
			_ = t.Resize(ctx, cols, rows) // the next one may succeed
		case <-ctx.Done():
			return
		}
	}
}

func (s Screen) lost(err error) int {
	fmt.Fprintf(s.Out, "\r\nevertty: the connection to the program is lost: %v\r\n", err)
	return codeLost
}
