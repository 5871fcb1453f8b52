package provider

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// dockerQuiet of silence ends the output of a command whose process has ended, while something it left holds it; dockerLook is between two questions whether it has.
	dockerQuiet = 250 * time.Millisecond
	dockerLook  = 500 * time.Millisecond
	// dockerSoon is the first pause after the end of the output: mostly the process has ended too.
	dockerSoon = 10 * time.Millisecond
	// dockerFrame is the length of the head before each piece of output: the stream, three zeros, and the size, big endian.
	dockerFrame = 8
)

// dockerStream is the connection of one exec, after the engine has handed it over.
type dockerStream struct {
	net.Conn
	r    *bufio.Reader
	exec string // its id
}

func (s *dockerStream) Read(p []byte) (int, error) { return s.r.Read(p) }

// CloseWrite ends the program's input.
func (s *dockerStream) CloseWrite() error {
	if c, ok := s.Conn.(*net.UnixConn); ok {
		return c.CloseWrite()
	}
	return nil
}

// attach makes an exec and starts it. Until the start is sent nothing has begun: ErrNotStarted.
func (d *Docker) attach(ctx context.Context, id string, body map[string]any, tty bool) (*dockerStream, error) {
	if err := d.ready(ctx, id); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	body["AttachStdin"], body["AttachStdout"], body["AttachStderr"], body["Tty"] = true, true, true, tty
	var made struct{ ID string }
	if err := d.ask(ctx, http.MethodPost, container(id, "/exec"), body, &made, false); err != nil {
		if errors.Is(err, ErrState) { // it was paused meanwhile
			err = fmt.Errorf("%w: %w", ErrNotRunning, err)
		}
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	conn, err := d.dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("docker: %w: %w: %w", ErrNotStarted, ErrUnreachable, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	s, err := d.upgrade(conn, made.ID, tty)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return s, nil
}

// upgrade turns a connection into the exec's streams. Engines answer 101, or 200 and go on as if it was that.
func (d *Docker) upgrade(conn net.Conn, exec string, tty bool) (*dockerStream, error) {
	body, _ := json.Marshal(map[string]bool{"Detach": false, "Tty": tty})
	req, err := http.NewRequest(http.MethodPost, "http://docker"+dockerAPI+"/exec/"+url.PathEscape(exec)+"/start", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("docker: %w: %w", ErrProvider, err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "Connection": {"Upgrade"}, "Upgrade": {"tcp"}}
	_ = conn.SetDeadline(time.Now().Add(callTimeout))
	if err := req.Write(conn); err != nil {
		return nil, fmt.Errorf("docker: %w: %w", ErrUnreachable, err)
	}
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, fmt.Errorf("docker: %w: %w", ErrUnreachable, err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols && resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, fmt.Errorf("docker: %w: %w", ErrNotStarted, d.problem(resp))
	}
	_ = conn.SetDeadline(time.Time{})
	return &dockerStream{Conn: conn, r: r, exec: exec}, nil
}

// status asks whether an exec has ended, and how.
func (d *Docker) status(ctx context.Context, exec string) (code int, ended bool, err error) {
	var e struct {
		Running  bool
		ExitCode *int
	}
	if err := d.ask(ctx, http.MethodGet, "/exec/"+url.PathEscape(exec)+"/json", nil, &e, true); err != nil {
		return 0, false, err
	}
	if e.Running || e.ExitCode == nil {
		return 0, false, nil
	}
	return *e.ExitCode, true, nil
}

// Exec runs a command with a bash in the container. The script comes over its input, before the command's own. When ctx or the timeout ends, or its output is lost, another exec
// ends what it has started, found by a variable in its environment.
func (d *Docker) Exec(ctx context.Context, id string, r ExecRequest, stdout, stderr io.Writer) (ExecResult, error) {
	text, err := commandScript(r)
	if err != nil {
		return ExecResult{}, err
	}
	text = whole(text)
	waiting, cancel := limited(ctx, r.Timeout)
	defer cancel()
	waiting, fail := context.WithCancelCause(waiting)
	defer fail(nil)
	tag := "x." + rand.Text()
	s, err := d.attach(waiting, id, map[string]any{"Cmd": []string{"bash", "-c", fmt.Sprintf(`eval "$(head -c %d)"`, len(text))}, "Env": []string{sshMark + "=" + tag}}, false)
	if err != nil {
		return ExecResult{}, err
	}
	defer s.Close()
	var last atomic.Int64
	var copying sync.WaitGroup
	copied := make(chan error, 1)
	copying.Go(func() {
		_, _ = io.WriteString(s.Conn, text)
		_, _ = s.Write(r.Stdin)
		_ = s.CloseWrite()
	})
	go func() {
		defer close(copied)
		copied <- demultiplex(s, guarded{stdout, fail}, guarded{stderr, fail}, func() { last.Store(time.Now().UnixNano()) })
	}()
	code, err := d.follow(waiting, s.exec, copied, &last)
	if waiting.Err() != nil || err != nil { // nobody hears the rest of it
		d.end(id, tag)
	}
	_ = s.Close()
	for range copied { // until it is closed
	}
	copying.Wait()
	if waiting.Err() != nil {
		return stopped("docker", ctx, waiting)
	}
	return ExecResult{ExitCode: code}, err
}

// follow waits until an exec has ended and its output too, or has been silent since. copied tells how the output ended.
func (d *Docker) follow(ctx context.Context, exec string, copied <-chan error, last *atomic.Int64) (int, error) {
	over := time.Time{}
	for pause := dockerLook; ; {
		select {
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		case err := <-copied:
			if err != nil {
				return 0, fmt.Errorf("docker: %w: the output was lost: %w", ErrUnreachable, err)
			}
			copied, pause = nil, dockerSoon
		case <-time.After(pause):
			if copied == nil { // it may have closed its output and go on for long
				pause = min(2*pause, dockerLook)
			}
		}
		code, ended, err := d.status(ctx, exec)
		switch {
		case err != nil:
			return 0, err
		case ended && copied == nil:
			return code, nil
		case ended && over.IsZero():
			over, pause = time.Now(), dockerQuiet/5
		case ended && len(copied) == 0 && time.Since(later(over, time.Unix(0, last.Load()))) > dockerQuiet:
			return code, nil
		}
	}
}

// end ends what has a tag, as well as it can.
func (d *Docker) end(id, tag string) {
	ctx, cancel := context.WithTimeout(context.Background(), sshKillTimeout)
	defer cancel()
	s, err := d.attach(ctx, id, map[string]any{"Cmd": []string{"bash", "-c", killText("^"+sshMark+"="+tag+"$", "")}}, false)
	if err != nil {
		return
	}
	defer s.Close()
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	_ = s.CloseWrite()
	_, _ = io.Copy(io.Discard, s)
}

// demultiplex takes the two streams of an exec without a terminal apart. An engine that has not taken all input resets the connection instead of ending it.
// Errors: io.ErrUnexpectedEOF for half a piece, ErrProvider for what is none; writers that fail are not asked again.
func demultiplex(r io.Reader, stdout, stderr io.Writer, seen func()) error {
	var head [dockerFrame]byte
	out, errs := newGate(stdout), newGate(stderr)
	for {
		if n, err := io.ReadFull(r, head[:]); err == io.EOF || n == 0 && errors.Is(err, syscall.ECONNRESET) {
			return nil
		} else if err != nil {
			return err
		}
		to := io.Writer(out)
		switch {
		case head[1]|head[2]|head[3] != 0 || head[0] > 2:
			return fmt.Errorf("docker: %w: output that is not in pieces", ErrProvider)
		case head[0] == 2:
			to = errs
		}
		n := int64(binary.BigEndian.Uint32(head[4:]))
		seen()
		if m, err := io.CopyN(to, r, n); m < n {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
}

// dockerPTY is a terminal in a container.
type dockerPTY struct {
	*dockerStream
	d       *Docker
	id, tag string
	once    sync.Once
	mu      sync.Mutex
	code    int
	known   bool
}

// OpenPTY starts a program on a terminal of the container, a login shell when none is given.
func (d *Docker) OpenPTY(ctx context.Context, id string, r PTYRequest) (PTY, error) {
	argv := r.Argv
	if len(argv) == 0 {
		argv = []string{"bash", "-l"}
	}
	tag := "x." + rand.Text()
	env := []string{sshMark + "=" + tag, "TERM=xterm-256color", "COLORTERM=truecolor"}
	for k, v := range r.Env {
		env = append(env, k+"="+v)
	}
	body := map[string]any{"Cmd": argv, "Env": env, "ConsoleSize": []int{r.Rows, r.Cols}}
	if r.Cwd != "" {
		body["WorkingDir"] = d.files().in(r.Cwd)
	}
	s, err := d.attach(ctx, id, body, true)
	if err != nil {
		if !errors.Is(err, ErrNotStarted) {
			d.end(id, tag)
		}
		return nil, err
	}
	t := &dockerPTY{dockerStream: s, d: d, id: id, tag: tag}
	if err := t.Resize(ctx, r.Cols, r.Rows); err != nil { // engines before 1.42 know no ConsoleSize
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

// Read ends when the exit is known.
func (t *dockerPTY) Read(p []byte) (int, error) {
	n, err := t.dockerStream.Read(p)
	if err == nil {
		return n, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), drainLimit)
	defer cancel()
	_ = until(ctx, "docker: the end of a terminal", drainLimit, time.Second, func(ctx context.Context) (bool, error) {
		code, ended, err := t.d.status(ctx, t.exec)
		if ended {
			t.mu.Lock()
			t.code, t.known = code, true
			t.mu.Unlock()
		}
		return ended, err
	})
	if _, known := t.Exit(); !known && !errors.Is(err, net.ErrClosed) {
		return n, fmt.Errorf("docker: %w: %w", ErrUnreachable, err)
	}
	return n, io.EOF
}

func (t *dockerPTY) Resize(ctx context.Context, cols, rows int) error {
	err := t.d.ask(ctx, http.MethodPost, fmt.Sprintf("/exec/%s/resize?h=%d&w=%d", url.PathEscape(t.exec), rows, cols), nil, nil, true)
	if err != nil {
		if _, ended, e := t.d.status(ctx, t.exec); e == nil && ended {
			return nil // it has ended before anybody could see a size
		}
	}
	return err
}

func (t *dockerPTY) Exit() (code int, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.code, t.known
}

// Close ends what the program has started; the engine alone would leave it running.
func (t *dockerPTY) Close() error {
	t.once.Do(func() {
		t.d.end(t.id, t.tag)
		_ = t.dockerStream.Close()
	})
	return nil
}
