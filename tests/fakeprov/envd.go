package fakeprov

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/evertty/evertty/pty"
)

const (
	// keepalive is how often a stream has a sign of life; the daemon's clients ask for 50 s, which no test would see.
	keepalive = 50 * time.Millisecond
	// outputPiece is a prime, so that characters are cut anywhere.
	outputPiece = 4093
	// afterExit is for output that a process left in its pipes; what its children print later is nobody's.
	afterExit = 100 * time.Millisecond
)

// process is what runs in a sandbox, with those who see its output.
type process struct {
	pid   int
	tag   string
	cmd   *exec.Cmd
	term  *pty.Process
	input io.WriteCloser

	mu     sync.Mutex
	seers  map[*seer]struct{}
	closed bool // of input
}

// seer is one stream. What it does not take in time holds up the process, as with the real daemon, until it is gone.
type seer struct {
	events chan map[string]any
	gone   chan struct{}
}

func (p *process) see() *seer {
	v := &seer{events: make(chan map[string]any), gone: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seers[v] = struct{}{}
	return v
}

func (p *process) leave(v *seer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.seers, v)
	close(v.gone)
}

// tell gives an event to everybody.
func (p *process) tell(event map[string]any) {
	p.mu.Lock()
	seers := make([]*seer, 0, len(p.seers))
	for v := range p.seers {
		seers = append(seers, v)
	}
	p.mu.Unlock()
	for _, v := range seers {
		select {
		case v.events <- event:
		case <-v.gone:
		}
	}
}

// selector is how a call names a process.
type selector struct {
	Process struct {
		PID int
		Tag string
	}
}

func (s selector) in(w http.ResponseWriter, i *instance) *process {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, p := range i.procs {
		if p.pid == s.Process.PID || s.Process.Tag != "" && p.tag == s.Process.Tag {
			return p
		}
	}
	rpcFail(w, "not_found", "process not found")
	return nil
}

// rpcFail is an error of a call with one reply.
func rpcFail(w http.ResponseWriter, code, message string) {
	status := map[string]int{"not_found": http.StatusNotFound, "invalid_argument": http.StatusBadRequest,
		"unimplemented": http.StatusNotImplemented}[code]
	reply(w, status, map[string]string{"code": code, "message": message})
}

// send writes a frame of a stream.
func send(w http.ResponseWriter, flags byte, v any) error {
	message, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b := append([]byte{flags, 0, 0, 0, 0}, message...)
	binary.BigEndian.PutUint32(b[1:], uint32(len(message)))
	if _, err := w.Write(b); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}

// open reads the one message that a streaming request has, and begins the reply.
func open(w http.ResponseWriter, r *http.Request, v any) bool {
	if r.Header.Get("Content-Type") != "application/connect+json" || r.Header.Get("Keepalive-Ping-Interval") == "" {
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return false
	}
	body, err := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/connect+json")
	w.WriteHeader(http.StatusOK)
	if err != nil || len(body) < 5 || body[0] != 0 || int(binary.BigEndian.Uint32(body[1:])) != len(body)-5 ||
		json.Unmarshal(body[5:], v) != nil {
		_ = send(w, 2, map[string]any{"error": map[string]string{"code": "invalid_argument",
			"message": "protocol error"}})
		return false
	}
	return true
}

// startRequest begins a process.
type startRequest struct {
	Process struct {
		Cmd  string
		Args []string
		Envs map[string]string
		Cwd  string
	}
	PTY *struct {
		Size struct{ Cols, Rows int }
	}
	Tag   string
	Stdin *bool
}

func envdStart(w http.ResponseWriter, r *http.Request, i *instance) {
	var in startRequest
	if !open(w, r, &in) {
		return
	}
	p := &process{tag: in.Tag, seers: map[*seer]struct{}{}}
	v := p.see()
	defer p.leave(v)
	run, err := p.start(i, in)
	if err != nil {
		_ = send(w, 2, map[string]any{"error": map[string]string{"code": "invalid_argument", "message": err.Error()}})
		return
	}
	i.mu.Lock()
	i.procs[p.pid] = p
	i.mu.Unlock()
	go run()
	p.stream(w, r, i, v)
}

func envdConnect(w http.ResponseWriter, r *http.Request, i *instance) {
	var in selector
	if !open(w, r, &in) {
		return
	}
	i.mu.Lock()
	p := i.procs[in.Process.PID]
	i.mu.Unlock()
	if p == nil {
		_ = send(w, 2, map[string]any{"error": map[string]string{"code": "not_found", "message": "process not found"}})
		return
	}
	v := p.see()
	defer p.leave(v)
	p.stream(w, r, i, v)
}

// stream sends what happens to a process until it has ended.
func (p *process) stream(w http.ResponseWriter, r *http.Request, i *instance, v *seer) {
	event := func(e map[string]any) error { return send(w, 0, map[string]any{"event": e}) }
	if event(map[string]any{"start": map[string]any{"pid": p.pid}}) != nil {
		return
	}
	beat := time.NewTicker(keepalive)
	defer beat.Stop()
	for {
		select {
		case e := <-v.events:
			if i.now() == dead {
				panic(http.ErrAbortHandler) // a machine that is gone says nothing more
			}
			if event(e) != nil {
				return
			}
			if e["end"] != nil {
				_ = send(w, 2, map[string]any{})
				return
			}
		case <-beat.C:
			if i.now() == dead {
				panic(http.ErrAbortHandler)
			}
			if event(map[string]any{"keepalive": map[string]any{}}) != nil {
				return
			}
		case <-r.Context().Done():
			return
		}
	}
}

// start starts it; what it returns follows it to its end.
func (p *process) start(i *instance, in startRequest) (func(), error) {
	cwd := in.Process.Cwd
	if cwd == "" {
		cwd = i.dir
	}
	if _, err := os.Stat(cwd); err != nil {
		return nil, errors.New("cwd '" + cwd + "' does not exist")
	}
	if in.PTY != nil {
		t, err := pty.Start(pty.Spec{
			Argv: append([]string{in.Process.Cmd}, in.Process.Args...), Dir: cwd, Env: i.environ(in.Process.Envs),
			Cols: in.PTY.Size.Cols, Rows: in.PTY.Size.Rows,
		})
		if err != nil {
			return nil, err
		}
		p.term, p.pid = t, t.PID()
		return func() { p.followPTY(i) }, nil
	}
	c := i.command(cwd, in.Process.Envs, append([]string{in.Process.Cmd}, in.Process.Args...)...)
	c.SysProcAttr = nil // the daemon makes no group
	return p.spawn(i, c, in.Stdin == nil || *in.Stdin)
}

// spawn starts a process on pipes.
func (p *process) spawn(i *instance, c *exec.Cmd, stdin bool) (func(), error) {
	var outs [2]*os.File // the ends that we read
	for n, to := range []*io.Writer{&c.Stdout, &c.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		defer w.Close()
		outs[n], *to = r, w
	}
	if stdin {
		w, err := c.StdinPipe()
		if err != nil {
			return nil, err
		}
		p.input = w
	}
	if err := c.Start(); err != nil {
		_ = outs[0].Close()
		_ = outs[1].Close()
		return nil, err
	}
	p.cmd, p.pid = c, c.Process.Pid
	return func() { p.followPipes(i, outs) }, nil
}

func (p *process) followPipes(i *instance, outs [2]*os.File) {
	var readers sync.WaitGroup
	for n, name := range []string{"stdout", "stderr"} {
		f := outs[n]
		readers.Go(func() {
			buf := make([]byte, outputPiece)
			for {
				n, err := f.Read(buf)
				if n > 0 {
					p.tell(map[string]any{"data": map[string]any{name: append([]byte(nil), buf[:n]...)}})
				}
				if errors.Is(err, os.ErrDeadlineExceeded) { // perhaps nobody had the time to read in time
					if rest := inPipe(f); len(rest) > 0 {
						p.tell(map[string]any{"data": map[string]any{name: rest}})
					}
				}
				if err != nil {
					return
				}
			}
		})
	}
	err := p.cmd.Wait()
	for _, f := range outs {
		_ = f.SetReadDeadline(time.Now().Add(afterExit))
	}
	readers.Wait()
	_ = outs[0].Close()
	_ = outs[1].Close()
	state := p.cmd.ProcessState
	end := map[string]any{"exited": state.Exited(), "status": state.String()}
	if code := state.ExitCode(); code != 0 {
		end["exitCode"] = code
	}
	if err != nil {
		end["error"] = err.Error()
	}
	p.over(i, end)
}

// inPipe is what is in a pipe, without waiting for more.
func inPipe(f *os.File) []byte {
	raw, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	buf, n := make([]byte, 64<<10), 0 // a pipe's capacity
	_ = raw.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), buf) })
	return buf[:max(n, 0)]
}

func (p *process) followPTY(i *instance) {
	buf := make([]byte, outputPiece)
	for {
		n, err := p.term.Read(buf)
		if n > 0 {
			p.tell(map[string]any{"data": map[string]any{"pty": append([]byte(nil), buf[:n]...)}})
		}
		if err != nil {
			break
		}
	}
	exit, _ := p.term.Wait(context.Background())
	_ = p.term.Close()
	end := map[string]any{"exited": true, "status": "exit status"}
	if exit.Code != 0 {
		end["exitCode"] = exit.Code
	}
	p.over(i, end)
}

// over tells the end. From before that on, nobody finds the process.
func (p *process) over(i *instance, end map[string]any) {
	i.mu.Lock()
	delete(i.procs, p.pid)
	i.mu.Unlock()
	p.tell(map[string]any{"end": end})
}

func envdInput(w http.ResponseWriter, r *http.Request, i *instance) {
	var in struct {
		selector
		Input struct{ Stdin, PTY []byte }
	}
	if !read(w, r, &in) {
		return
	}
	p := in.in(w, i)
	if p == nil {
		return
	}
	var err error
	switch {
	case p.term != nil && len(in.Input.PTY) > 0:
		_, err = p.term.Write(r.Context(), in.Input.PTY)
	case p.input != nil && len(in.Input.Stdin) > 0:
		_, err = p.input.Write(in.Input.Stdin)
	default:
		err = errors.New("not of this process")
	}
	if err != nil {
		rpcFail(w, "invalid_argument", err.Error())
		return
	}
	reply(w, http.StatusOK, map[string]any{})
}

func envdCloseStdin(w http.ResponseWriter, r *http.Request, i *instance) {
	var in selector
	if !read(w, r, &in) {
		return
	}
	p := in.in(w, i)
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.input != nil && !p.closed {
		p.closed = true
		_ = p.input.Close()
	}
	reply(w, http.StatusOK, map[string]any{})
}

func envdSignal(w http.ResponseWriter, r *http.Request, i *instance) {
	var in struct {
		selector
		Signal string
	}
	if !read(w, r, &in) {
		return
	}
	p := in.in(w, i)
	if p == nil {
		return
	}
	sig, ok := map[string]syscall.Signal{"SIGNAL_SIGTERM": syscall.SIGTERM,
		"SIGNAL_SIGKILL": syscall.SIGKILL}[in.Signal]
	if !ok {
		rpcFail(w, "unimplemented", "signal "+in.Signal)
		return
	}
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(sig)
	} else {
		_ = p.term.Signal(sig)
	}
	reply(w, http.StatusOK, map[string]any{})
}

func envdUpdate(w http.ResponseWriter, r *http.Request, i *instance) {
	var in struct {
		selector
		PTY struct {
			Size struct{ Cols, Rows int }
		}
	}
	if !read(w, r, &in) {
		return
	}
	p := in.in(w, i)
	if p == nil {
		return
	}
	if p.term == nil {
		rpcFail(w, "invalid_argument", "tty not assigned to process")
		return
	}
	if err := p.term.Resize(in.PTY.Size.Cols, in.PTY.Size.Rows); err != nil {
		rpcFail(w, "invalid_argument", err.Error())
		return
	}
	reply(w, http.StatusOK, map[string]any{})
}
