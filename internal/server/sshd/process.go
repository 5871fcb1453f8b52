package sshd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/pty"
)

// Order is what the process of a session is to do. It gets it as JSON by descriptor OrderFile, because others can read
// the arguments of a process. That file stays open as long as the session: its end is the end of the process.
type Order struct {
	Dir      string `json:"dir"`                // the data directory, whose server is asked
	Token    string `json:"token"`              // with this one
	Terminal string `json:"terminal,omitempty"` // to show, as a person calls it, when there is no command
	Command  []byte `json:"command,omitempty"`  // as the user's ssh has put it together
	ReadOnly bool   `json:"read_only,omitempty"`
	Inside   string `json:"inside,omitempty"` // id of the terminal that the user's ssh runs in, "" when it is not known
}

// OrderFile is the number of that descriptor.
const OrderFile = 3

// endTime is how long a process may take to end when it is told to: it gives the user's terminal back, and cancels what
// it runs.
const endTime = 5 * time.Second

// signals are those that a client may send. Others end a process that does not expect them.
var signals = []string{"HUP", "INT", "QUIT", "TERM"}

// process is the one of a session.
type process struct {
	cmd    *exec.Cmd
	order  *os.File // the writing end of OrderFile
	free   func()   // gives back its place among the sessions
	stdin  io.WriteCloser
	output [2]io.ReadCloser // of stdout and stderr, or of the terminal
	master *pty.Master      // nil without a terminal
}

// startProcess starts the process of a session. Who gets it must run it.
func (s *session) startProcess(ctx context.Context, o Order) (*process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if s.Server.sessions.Add(1) > maxSessions {
		s.Server.sessions.Add(-1)
		return nil, fmt.Errorf("the server has %d sessions of SSH, the most that it takes; try again later",
			maxSessions)
	}
	p := &process{cmd: exec.Command(s.Program[0], s.Program[1:]...), free: func() { s.Server.sessions.Add(-1) }}
	p.cmd.Env, p.cmd.Dir = s.environment()
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: s.term != ""}
	var theirs []*os.File
	if theirs, err = p.files(ctx, s); err == nil {
		err = p.cmd.Start()
	}
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		p.close()
		return nil, err
	}
	go func() { _, _ = p.order.Write(text) }() // it may be more than a pipe holds
	return p, nil
}

// files opens the files of the process. theirs are its ends, which are to be closed when it has been started.
func (p *process) files(ctx context.Context, s *session) (theirs []*os.File, err error) {
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	order, w := pipe()
	p.order, p.cmd.ExtraFiles = w, []*os.File{order}
	if s.term != "" {
		var far *os.File
		if err == nil {
			p.master, far, err = pty.OpenPair(s.cols, s.rows)
		}
		if err != nil {
			return present(order), err
		}
		p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = far, far, far
		p.stdin, p.output[0] = typed{ctx, p.master}, p.master
		return present(order, far), nil
	}
	in, stdin := pipe()
	stdout, out := pipe()
	stderr, errors := pipe()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errors
	p.stdin, p.output = stdin, [2]io.ReadCloser{stdout, stderr}
	return present(order, in, out, errors), err
}

// present are the files that were opened.
func present(files ...*os.File) []*os.File {
	return slices.DeleteFunc(files, func(f *os.File) bool { return f == nil })
}

// run passes the process's input and output until it has ended and all output is sent. The process is told to end when
// ctx does.
func (p *process) run(ctx context.Context, c ssh.Channel) *os.ProcessState {
	defer p.close()
	stop := context.AfterFunc(ctx, p.end)
	go func() { // it ends with the channel
		_, _ = io.Copy(p.stdin, c)
		_ = p.stdin.Close()
	}()
	var outputs sync.WaitGroup
	for i, to := range []io.Writer{c, c.Stderr()} {
		if from := p.output[i]; from != nil {
			outputs.Go(func() {
				if _, err := io.Copy(to, from); err != nil {
					_, _ = io.Copy(io.Discard, from) // nobody takes it any more; the process still has its end to write
				}
			})
		}
	}
	_ = p.cmd.Wait()
	stop()
	if p.master != nil {
		p.master.Drain()
	}
	outputs.Wait()
	return p.cmd.ProcessState
}

// end tells the process to end, and kills it when it does not in endTime.
func (p *process) end() {
	_ = p.order.Close()
	time.AfterFunc(endTime, func() { _ = p.cmd.Process.Kill() }) // none that was waited for
}

// close gives back what is left of a process that has ended, or was not started.
func (p *process) close() {
	if p.order != nil {
		_ = p.order.Close()
	}
	for _, f := range p.output {
		if f != nil {
			_ = f.Close()
		}
	}
	if p.stdin != nil {
		_ = p.stdin.Close()
	}
	p.free()
}

// resize gives the process's terminal another size.
func (p *process) resize(cols, rows int) {
	if p != nil && p.master != nil {
		_ = p.master.Resize(cols, rows) // one that has ended has none
	}
}

// signal sends a signal by its name without SIG, and reports whether it is one of signals.
func (p *process) signal(name string) bool {
	number, err := pty.ParseSignal(name)
	if p == nil || err != nil || !slices.Contains(signals, name) {
		return false
	}
	return p.cmd.Process.Signal(number) == nil
}

// signalOf is the name of the signal that has ended a process, without SIG; "" for none.
func signalOf(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case !ok || !status.Signaled():
		return ""
	case status.Signal() == syscall.SIGHUP:
		return "HUP"
	case status.Signal() == syscall.SIGTERM:
		return "TERM"
	}
	return "KILL"
}

// typed is the input of a terminal.
type typed struct {
	ctx    context.Context
	master *pty.Master
}

// Write types. A line that is longer than the terminal's line editing takes is left out, as the kernel does.
func (t typed) Write(p []byte) (int, error) {
	n, err := t.master.Write(t.ctx, p)
	if errors.Is(err, pty.ErrLineTooLong) {
		return len(p), nil
	}
	return n, err
}

// Close leaves the terminal open: its output may go on.
func (typed) Close() error { return nil }

// passed are the variables of the server that its sessions have too.
var passed = []string{"HOME", "USER", "LOGNAME", "PATH", "TZ", "TMPDIR"}

// environment is that of a session's process, and its directory.
func (s *session) environment() (env []string, dir string) {
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	if env = append(env, s.env...); s.term != "" {
		env = append(env, "TERM="+s.term)
	}
	home, err := os.UserHomeDir()
	if info, wrong := os.Stat(home); err != nil || wrong != nil || !info.IsDir() {
		home = "/"
	}
	return env, home
}
