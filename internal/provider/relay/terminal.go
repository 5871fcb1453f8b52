package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/evertty/evertty/internal/provider"
)

// codeLost is what a terminal ends with whose program cannot be reached any more, as ssh(1) does.
const codeLost = 255

// codeHangUp is what it ends with after ctx has ended, when the program's end is not heard any
// more: what SIGHUP makes of a program.
const codeHangUp = 128 + 1

// inputPiece is how much typed text goes in one call, in bytes: a paste in few, and no service
// refuses it.
const inputPiece = 16 << 10

// Screen is the relay's own terminal.
type Screen struct {
	In, Out *os.File
	Size    func() (cols, rows int)
	Resized <-chan os.Signal
}

// Run runs the program of a directory's job on a terminal elsewhere and returns its exit code, 128
// plus the number for one that a signal ended; 255 and a line that says why when it could not be
// started or the connection is lost. It hangs up when ctx ends (129 unless the program's end is
// heard) or nothing can be typed any more. The screen must be in raw mode.
func Run(ctx context.Context, dir string, s Screen) int {
	j, err := takeJob(dir)
	if err != nil || j.Terminal == nil {
		return s.lost(noJob("program", err))
	}
	p, err := j.open()
	if err != nil {
		return s.lost(err)
	}
	if closer, ok := p.(io.Closer); ok {
		defer closer.Close()
	}
	size := sizeFollower{screen: s}
	size.cols, size.rows = s.Size()
	t, err := j.openTerminal(ctx, p, s, size.cols, size.rows)
	if err != nil {
		return s.lost(err)
	}
	defer t.Close()
	size.to = t
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process: a read of a terminal cannot be taken back
		buffer := make([]byte, inputPiece)
		_, _ = io.CopyBuffer(typedInput{ctx, &size}, struct{ io.Reader }{s.In}, buffer)
		_ = t.Close()
	}()
	go size.follow(ctx)
	stop := context.AfterFunc(ctx, func() { _ = t.Close() })
	defer stop()
	_, err = io.Copy(struct{ io.Writer }{s.Out}, t)
	if code, known := t.Exit(); known {
		return code
	}
	if parent.Err() != nil {
		return codeHangUp
	}
	if err == nil {
		err = errors.New("nobody knows how the program ended")
	}
	return s.lost(err)
}

// openTerminal starts the program. A directory that is gone is none.
func (j Job) openTerminal(ctx context.Context, p provider.Provider, s Screen, cols, rows int) (provider.PTY, error) {
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

// sizeFollower keeps the size of the program's terminal equal to the screen's.
type sizeFollower struct {
	screen Screen
	to     provider.PTY

	turn       sync.Mutex // held over a change, so that sizes come in their order
	cols, rows int        // the last size
}

// apply passes the size on when it is another than before.
func (f *sizeFollower) apply(ctx context.Context) {
	f.turn.Lock()
	defer f.turn.Unlock()
	cols, rows := f.screen.Size()
	if cols == f.cols && rows == f.rows {
		return
	}
	f.cols, f.rows = cols, rows
	_ = f.to.Resize(ctx, cols, rows) // the next one may succeed
}

// follow calls apply whenever the screen says that it has another size.
func (f *sizeFollower) follow(ctx context.Context) {
	for {
		select {
		case <-f.screen.Resized:
			f.apply(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// typedInput passes typed text on. A change of the screen comes before the text that follows it,
// though the signal may be late.
type typedInput struct {
	ctx  context.Context
	size *sizeFollower
}

// Write implements io.Writer.
func (w typedInput) Write(p []byte) (int, error) {
	w.size.apply(w.ctx)
	return w.size.to.Write(p)
}

func (s Screen) lost(err error) int {
	fmt.Fprintf(s.Out, "\r\nevertty: the connection to the program is lost: %v\r\n", err)
	return codeLost
}
