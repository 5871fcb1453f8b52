package docker

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/moby/moby/client"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/wait"
)

const (
	// outputQuiet is the silence that ends the output of a command whose process has ended, while a
	// background process holds it.
	outputQuiet = 250 * time.Millisecond
	// inspectPause is the time between two checks whether a process has ended; firstInspect follows
	// the end of the output, when mostly the process has ended too.
	inspectPause = 500 * time.Millisecond
	firstInspect = 10 * time.Millisecond
	// frameHead is the length of the head before each piece of output: the stream, three zeros, and
	// the size, big endian.
	frameHead = 8
)

// stream is the connection of one exec.
type stream struct {
	client.HijackedResponse
	exec string // its id
}

// attach makes an exec and starts it. ErrNotStarted until the start is sent.
func (d *Provider) attach(ctx context.Context, id string, o client.ExecCreateOptions) (*stream, error) {
	if err := d.expect(ctx, id, provider.Running, provider.ErrNotRunning); err != nil {
		return nil, fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
	}
	o.AttachStdin, o.AttachStdout, o.AttachStderr = true, true, true
	made, err := d.engine.ExecCreate(ctx, id, o)
	if err != nil {
		if err = wrap(ctx, err); errors.Is(err, provider.ErrState) { // it was paused meanwhile
			err = fmt.Errorf("%w: %w", provider.ErrNotRunning, err)
		}
		return nil, fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
	}
	a, err := d.engine.ExecAttach(ctx, made.ID, client.ExecAttachOptions{TTY: o.TTY, ConsoleSize: o.ConsoleSize})
	if err != nil {
		if ctx.Err() != nil {
			return nil, wrap(ctx, err)
		}
		return nil, fmt.Errorf("docker: %w: %w", provider.ErrUnreachable, err)
	}
	return &stream{a.HijackedResponse, made.ID}, nil
}

// status gets whether an exec has ended, and its code.
func (d *Provider) status(ctx context.Context, exec string) (code int, ended bool, err error) {
	e, err := d.engine.ExecInspect(ctx, exec, client.ExecInspectOptions{})
	return e.ExitCode, err == nil && !e.Running, wrap(ctx, err)
}

// Exec runs a command with a bash in the container. The script is the first part of its input. When
// ctx or the timeout ends, or its output is lost, another exec kills its processes, which it finds
// by a variable in their environment.
func (d *Provider) Exec(ctx context.Context, id string, r provider.ExecRequest, stdout, stderr io.Writer,
) (provider.ExecResult, error) {
	text, err := bash.Script(r)
	if err != nil {
		return provider.ExecResult{}, err
	}
	text = bash.AllOrNothing(text)
	a, end := bash.NewAttempt(ctx, r.Timeout, stdout, stderr)
	defer end()
	tag := "x." + rand.Text()
	s, err := d.attach(a, id, client.ExecCreateOptions{Env: []string{bash.TagVariable + "=" + tag},
		Cmd: []string{"bash", "-c", fmt.Sprintf(`eval "$(head -c %d)"`, len(text))}})
	if err != nil {
		return provider.ExecResult{}, err
	}
	defer s.Close()
	var writing sync.WaitGroup
	writing.Go(func() {
		_, _ = io.WriteString(s.Conn, text)
		_, _ = s.Conn.Write(r.Stdin)
		_ = s.CloseWrite()
	})
	out, errs := bash.NewActivityWriter(a.Stdout), bash.NewActivityWriter(a.Stderr)
	copied := make(chan error, 1)
	go func() {
		defer close(copied)
		copied <- demultiplex(s.Reader, out, errs)
	}()
	code, err := d.follow(a, s.exec, copied, out, errs)
	if a.Err() != nil || err != nil { // the rest has no reader
		d.kill(id, tag)
	}
	s.Close()
	for range copied { // until it is closed
	}
	writing.Wait()
	if a.Err() != nil {
		return a.Interrupted("docker")
	}
	return provider.ExecResult{ExitCode: code}, err
}

// follow waits until an exec and its output have ended, or the output is silent after that. copied
// has the error of the output.
func (d *Provider) follow(ctx context.Context, exec string, copied <-chan error, outs ...*bash.ActivityWriter,
) (int, error) {
	over := time.Time{}
	for pause := inspectPause; ; {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case err := <-copied:
			if err != nil {
				return 0, fmt.Errorf("docker: %w: the output was lost: %w", provider.ErrUnreachable, err)
			}
			copied, pause = nil, firstInspect
		case <-time.After(pause):
			if copied == nil { // it may have closed its output and go on for long
				pause = min(2*pause, inspectPause)
			}
		}
		code, ended, err := d.status(ctx, exec)
		switch {
		case err != nil:
			return 0, err
		case ended && copied == nil:
			return code, nil
		case ended && over.IsZero():
			over, pause = time.Now(), outputQuiet/5
		case ended && len(copied) == 0 && time.Since(bash.Later(over, outs[0].Last(), outs[1].Last())) > outputQuiet:
			return code, nil
		}
	}
}

// kill kills the processes with a tag, as far as it can.
func (d *Provider) kill(id, tag string) {
	ctx, cancel := context.WithTimeout(context.Background(), bash.KillTimeout)
	defer cancel()
	s, err := d.attach(ctx, id, client.ExecCreateOptions{
		Cmd: []string{"bash", "-c", bash.KillScript("^"+bash.TagVariable+"="+tag+"$", "")}})
	if err != nil {
		return
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, s.Close)
	defer stop()
	_ = s.CloseWrite()
	_, _ = io.Copy(io.Discard, s.Reader)
}

// demultiplex separates the two streams of an exec without a terminal. An engine that has not read
// all input resets the connection instead of ending it. The library's stdcopy takes a connection
// that is cut within a piece for the end of the output, and allocates the length that a piece
// announces. Errors: io.ErrUnexpectedEOF for an incomplete piece, ErrProvider for an invalid one.
// Writers do not fail.
func demultiplex(r io.Reader, stdout, stderr io.Writer) error {
	var head [frameHead]byte
	for {
		n, err := io.ReadFull(r, head[:])
		if err == io.EOF || n == 0 && errors.Is(err, syscall.ECONNRESET) {
			return nil
		} else if err != nil {
			return err
		}
		to := stdout
		switch {
		case head[1]|head[2]|head[3] != 0 || head[0] > 2:
			return fmt.Errorf("docker: %w: output that is not in pieces", provider.ErrProvider)
		case head[0] == 2:
			to = stderr
		}
		length := int64(binary.BigEndian.Uint32(head[4:]))
		if m, err := io.CopyN(to, r, length); m < length {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
}

// terminal is a program on a terminal in a container.
type terminal struct {
	*stream
	d       *Provider
	id, tag string
	once    sync.Once
	code    atomic.Pointer[int] // nil until it is known
}

// OpenPTY starts a program on a terminal of the container, a login shell when none is given.
func (d *Provider) OpenPTY(ctx context.Context, id string, r provider.PTYRequest) (provider.PTY, error) {
	tag := "x." + rand.Text()
	o := client.ExecCreateOptions{TTY: true, Cmd: r.Argv,
		ConsoleSize: client.ConsoleSize{Height: uint(r.Rows), Width: uint(r.Cols)},
		Env: append([]string{bash.TagVariable + "=" + tag, "TERM=xterm-256color", "COLORTERM=truecolor"},
			environ(r.Env)...)}
	if len(r.Argv) == 0 {
		o.Cmd = []string{"bash", "-l"}
	}
	if r.Cwd != "" {
		o.WorkingDir = provider.AbsPath(d.cfg.Mount, r.Cwd)
	}
	s, err := d.attach(ctx, id, o)
	if err != nil {
		if !errors.Is(err, provider.ErrNotStarted) {
			d.kill(id, tag)
		}
		return nil, err
	}
	t := &terminal{stream: s, d: d, id: id, tag: tag}
	if err := t.Resize(ctx, r.Cols, r.Rows); err != nil { // engines before 1.42 know no ConsoleSize
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

// Read ends when the exit is known.
func (t *terminal) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	if err == nil {
		return n, nil
	}
	ctx, cancel := wait.CleanupContext(context.Background())
	defer cancel()
	const most = time.Second // between two questions
	_ = wait.Until(ctx, "docker: the end of a terminal", wait.CleanupTimeout, most,
		func(ctx context.Context) (bool, error) {
			code, ended, err := t.d.status(ctx, t.exec)
			if ended {
				t.code.Store(&code)
			}
			return ended, err
		})
	if _, known := t.Exit(); !known && !errors.Is(err, net.ErrClosed) {
		return n, fmt.Errorf("docker: %w: %w", provider.ErrUnreachable, err)
	}
	return n, io.EOF
}

func (t *terminal) Write(p []byte) (int, error) { return t.Conn.Write(p) }

func (t *terminal) Resize(ctx context.Context, cols, rows int) error {
	_, err := t.d.engine.ExecResize(ctx, t.exec, client.ExecResizeOptions{Height: uint(rows), Width: uint(cols)})
	if err != nil {
		if _, ended, e := t.d.status(ctx, t.exec); e == nil && ended {
			return nil // it has ended before anybody could see a size
		}
	}
	return wrap(ctx, err)
}

func (t *terminal) Exit() (code int, known bool) {
	if c := t.code.Load(); c != nil {
		return *c, true
	}
	return 0, false
}

// Close kills the program's processes; the engine alone would leave them running.
func (t *terminal) Close() error {
	t.once.Do(func() {
		t.d.kill(t.id, t.tag)
		t.stream.Close()
	})
	return nil
}
