// Package sshd is the server of SSH: it lets in who has a key of the file of authorized keys, and runs a process for
// each session, which is a call of the command line with the rights of that key. It knows no terminal and no verb.
//
// Of the protocol it offers sessions (RFC 4254, 6): a shell, a command, a pseudo-terminal, its size, signals, and a few
// variables. Forwarding of ports, agents and X11 and subsystems are refused.
package sshd

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/server/auth"
)

const (
	// handshakeTime is how long a connection may take to log in: a person may have to type a passphrase.
	handshakeTime = 30 * time.Second
	// maxStrangers is how many connections may be logging in. The oldest makes room for one more: nobody keeps others
	// out by connections that never log in.
	maxStrangers = 64
	// maxTries is how many keys or tokens a connection may show, as OpenSSH's MaxAuthTries.
	maxTries = 6
	// maxConnections bounds those that have logged in.
	maxConnections = 1000
	// maxSessions bounds the processes of sessions, 22 MB each, of which 3 MB are their own; maxOfConnection those of
	// one connection, as OpenSSH's MaxSessions.
	maxSessions, maxOfConnection = 256, 10
	// aliveEvery and aliveMost find a connection that is gone without a word.
	aliveEvery, aliveMost = 15 * time.Second, 45 * time.Second
	// closeTime is how long sessions have for their last word when the server ends.
	closeTime = time.Second
)

// Config is what a Server needs to know.
type Config struct {
	Dir       string   // the data directory: the host key, and where sessions find the server
	Keys      string   // file of authorized keys
	Passwords bool     // tokens are passwords
	Program   []string // of a session, see Order
	Auth      *auth.Auth
	Log       *slog.Logger
}

// Server lets in connections by SSH. It is safe for concurrent use.
type Server struct {
	Config
	ssh         *ssh.ServerConfig
	fingerprint string
	keys        keyFile
	ctx         context.Context // ends with the server
	cancel      context.CancelFunc
	sessions    atomic.Int64
	running     sync.WaitGroup // of connections

	mu        sync.Mutex
	listeners []net.Listener
	known     map[net.Conn]struct{} // have logged in
	strangers *list.List            // of net.Conn that have not, the oldest first
}

// New makes a server; Serve starts it. The host key is made when there is none. Errors: ErrHostKey.
func New(c Config) (*Server, error) {
	key, err := hostKey(c.Dir)
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c, fingerprint: ssh.FingerprintSHA256(key.PublicKey()),
		keys:  keyFile{path: c.Keys, log: c.Log},
		known: map[net.Conn]struct{}{}, strangers: list.New()}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.ssh = &ssh.ServerConfig{ServerVersion: "SSH-2.0-evertty", MaxAuthTries: maxTries,
		PublicKeyCallback: s.byKey}
	if c.Passwords {
		s.ssh.PasswordCallback = s.byToken
	}
	s.ssh.AddHostKey(key)
	return s, nil
}

// Serve answers the connections of l until Close, which closes it.
func (s *Server) Serve(l net.Listener) error {
	if !s.listens(l) {
		return l.Close()
	}
	s.Log.Info("ssh", "address", l.Addr(), "host_key", s.fingerprint)
	if n := s.keys.count(); n == 0 && !s.Passwords {
		s.Log.Warn("nobody can log in by SSH: the file has no key that can be used", "file", s.Config.Keys)
	}
	for pause := time.Duration(0); ; {
		c, err := l.Accept()
		switch {
		case s.ctx.Err() != nil:
			if err == nil {
				_ = c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed): // by somebody else
			return err
		case err != nil: // too many files, or a connection that has gone
			pause = min(max(2*pause, acceptFirst), acceptMost)
			s.Log.Warn("a connection by SSH was not taken", "error", err, "after", pause)
			s.rest(pause)
			continue
		}
		pause = 0
		s.running.Go(func() { s.serve(c) })
	}
}

// listens notes a listener. It is false when the server has ended.
func (s *Server) listens(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners = append(s.listeners, l)
	return s.ctx.Err() == nil
}

// acceptFirst and acceptMost bound the pause after a connection that could not be taken.
const acceptFirst, acceptMost = 5 * time.Millisecond, time.Second

// rest waits, unless the server ends.
func (s *Server) rest(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

// Close ends all sessions, which have closeTime for their last word, and returns when nothing is left of them.
func (s *Server) Close() {
	s.cancel()
	s.mu.Lock()
	for _, l := range s.listeners {
		_ = l.Close()
	}
	for e := s.strangers.Front(); e != nil; e = e.Next() {
		_ = e.Value.(net.Conn).Close()
	}
	s.mu.Unlock()
	late := time.AfterFunc(closeTime, s.closeKnown)
	defer late.Stop()
	s.running.Wait()
}

func (s *Server) closeKnown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.known {
		_ = c.Close()
	}
}

// enter notes a connection that has not logged in. It is false when the server ends.
func (s *Server) enter(c net.Conn) (e *list.Element, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil {
		return nil, false
	}
	if s.strangers.Len() >= maxStrangers {
		_ = s.strangers.Remove(s.strangers.Front()).(net.Conn).Close()
	}
	return s.strangers.PushBack(c), true
}

// know notes that a connection has logged in, or, if not, that it has gone. It is false when there are too many.
func (s *Server) know(e *list.Element, in bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.strangers.Remove(e).(net.Conn)
	if in = in && len(s.known) < maxConnections && s.ctx.Err() == nil; in {
		s.known[c] = struct{}{}
	}
	return in
}

func (s *Server) forget(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, c)
}
