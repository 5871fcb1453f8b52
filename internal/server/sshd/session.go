package sshd

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/server/auth"
)

const (
	// maxSize is the largest window, in columns and rows, as of a terminal.
	maxSize = 1000
	// defaultCols and defaultRows are the size of a window that does not say.
	defaultCols, defaultRows = 80, 24
	// maxVariables and maxValue bound what a client sets; a value is in bytes.
	maxVariables, maxValue = 32, 256
)

// variables are those that a client may set, beside LC_ ones. EVERTTY_PTY is the terminal that the client runs in, if
// its user has ssh send it.
var variables = []string{"LANG", "COLORTERM", "NO_COLOR", insideVariable}

const insideVariable = "EVERTTY_PTY"

// session is a channel of a connection: one process, once it was asked for.
type session struct {
	*connection
	channel    ssh.Channel
	term       string // of the pseudo-terminal; "" is none
	cols, rows int
	env        []string
	inside     string // see insideVariable
	begun      bool
	process    *process // nil before it is begun, and when it could not be
}

// answer takes the requests of a session until the client closes it, or its connection. The process ends with it.
func (s *session) answer(requests <-chan *ssh.Request) {
	ctx, cancel := context.WithCancel(s.ctx)
	var running sync.WaitGroup
	for r := range requests {
		run, ok := s.request(ctx, r)
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}
		if run != nil {
			running.Go(run) // no output comes before the reply
		}
	}
	cancel()
	_ = s.channel.Close()
	running.Wait()
}

// request carries out one and reports whether it can. run is what a session does then until its end.
func (s *session) request(ctx context.Context, r *ssh.Request) (run func(), ok bool) {
	switch r.Type {
	case "pty-req":
		return nil, !s.begun && s.openTerminal(r.Payload)
	case "window-change":
		var w windowChange
		if ssh.Unmarshal(r.Payload, &w) != nil || s.term == "" {
			return nil, false
		}
		s.cols, s.rows = sizeOf(w.Cols, w.Rows)
		s.process.resize(s.cols, s.rows)
		return nil, true
	case "env":
		var v struct{ Name, Value string }
		return nil, ssh.Unmarshal(r.Payload, &v) == nil && s.setVariable(v.Name, v.Value)
	case "signal":
		var v struct{ Name string }
		return nil, ssh.Unmarshal(r.Payload, &v) == nil && s.process.signal(v.Name)
	case "shell":
		return s.start(ctx, Order{Terminal: s.conn.User()})
	case "exec":
		var v struct{ Command []byte }
		if ssh.Unmarshal(r.Payload, &v) != nil {
			return nil, false
		}
		return s.start(ctx, Order{Command: v.Command})
	}
	return nil, false // subsystem, x11-req, auth-agent-req@openssh.com
}

// windowChange is RFC 4254, 6.7; the two last are pixels.
type windowChange struct{ Cols, Rows, Width, Height uint32 }

// openTerminal is pty-req (RFC 4254, 6.2). The modes are left as the kernel has them: programs set their own.
func (s *session) openTerminal(payload []byte) bool {
	var v struct {
		Term                      string
		Cols, Rows, Width, Height uint32
		Modes                     string
	}
	if ssh.Unmarshal(payload, &v) != nil || len(v.Term) > maxValue {
		return false
	}
	if s.term = v.Term; v.Term == "" || strings.ContainsFunc(v.Term, func(r rune) bool { return r <= ' ' || r > '~' }) {
		s.term = "dumb"
	}
	s.cols, s.rows = sizeOf(v.Cols, v.Rows)
	return true
}

// sizeOf is a size that a terminal can have.
func sizeOf(cols, rows uint32) (int, int) {
	if cols == 0 || rows == 0 {
		return defaultCols, defaultRows
	}
	return int(min(cols, maxSize)), int(min(rows, maxSize))
}

func (s *session) setVariable(name, value string) bool {
	known := slices.Contains(variables, name) || strings.HasPrefix(name, "LC_") && !strings.ContainsAny(name, "=\x00")
	if !known || len(s.env) >= maxVariables || len(name)+len(value) > maxValue || strings.Contains(value, "\x00") {
		return false
	}
	if name == insideVariable {
		s.inside = value
		return true
	}
	s.env = append(s.env, name+"="+value)
	return true
}

// start starts the process of the session, which has one. When it cannot, the user is told why, and the session ends.
func (s *session) start(ctx context.Context, o Order) (run func(), ok bool) {
	if s.begun {
		return nil, false
	}
	s.begun = true
	o.Dir, o.Token, o.ReadOnly, o.Inside = s.Dir, s.token, s.guest.Role != auth.Write, s.inside
	p, err := s.startProcess(ctx, o)
	if err != nil {
		s.Log.Warn("a session of SSH was not started", "error", err, "remote", s.guest.From)
		return func() {
			s.say(err.Error())
			s.exit(1, "")
		}, true
	}
	s.process = p
	return func() {
		state := p.run(ctx, s.channel)
		if s.Server.ctx.Err() != nil {
			s.say("the server ends; programs go on")
		}
		s.exit(state.ExitCode(), signalOf(state))
	}, true
}

// say writes a line for the user.
func (s *session) say(line string) {
	_, _ = io.WriteString(s.channel.Stderr(), "evertty: "+line+"\r\n")
}

// exit tells the client how the process has ended, and closes the session.
func (s *session) exit(code int, signal string) {
	if signal != "" {
		_, _ = s.channel.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Signal      string
			Dumped      bool
			Error, Lang string
		}{Signal: signal}))
	} else {
		_, _ = s.channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Code uint32 }{uint32(code)}))
	}
	_ = s.channel.Close()
}
