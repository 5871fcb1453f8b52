package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"

	"github.com/evertty/evertty/internal/provider"
)

// login is how hosts are known and who logs in. It is not changed after it was made.
type login struct {
	known ssh.HostKeyCallback
	keys  []string
	agent string
}

// readOK is R_OK of access(2).
const readOK = 4

func newLogin(c Config) (*login, error) {
	home, _ := os.UserHomeDir()
	if len(c.KnownHosts) == 0 {
		c.KnownHosts = []string{filepath.Join(home, ".ssh", "known_hosts")}
	}
	known, err := knownhosts.New(c.KnownHosts...)
	if err != nil {
		return nil, fmt.Errorf("ssh: known hosts: %w", err)
	}
	l := &login{known: known, keys: c.Keys, agent: c.Agent}
	if len(l.keys) == 0 {
		for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
			if path := filepath.Join(home, ".ssh", name); syscall.Access(path, readOK) == nil {
				l.keys = append(l.keys, path)
			}
		}
	}
	if len(l.keys) == 0 && l.agent == "" {
		return nil, errors.New("ssh: there is no key: set keys or agent")
	}
	return l, nil
}

// signers are the agent's and the files', read anew for every connection. conn is the agent's, if
// there is one, and the caller's to close; it ends with ctx.
func (l *login) signers(ctx context.Context) (list []ssh.Signer, conn net.Conn, err error) {
	if l.agent != "" {
		conn, err = (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "unix", l.agent)
		if err == nil {
			_ = conn.SetDeadline(time.Now().Add(2 * dialTimeout))
			stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })
			list, err = agent.NewClient(conn).Signers()
			stop()
		}
	}
	for _, path := range l.keys {
		text, fileErr := os.ReadFile(path)
		var key ssh.Signer
		if fileErr == nil {
			key, fileErr = ssh.ParsePrivateKey(text)
		}
		if fileErr != nil {
			err = errors.Join(err, fmt.Errorf("key %s: %w", path, fileErr))
			continue
		}
		list = append(list, key)
	}
	if len(list) > 0 {
		err = nil
	}
	return list, conn, err
}

// algorithms are the algorithms of the known keys of an address: a server that has other keys too
// must not choose one of them. Errors: ErrRefused when no key is known.
func (l *login) algorithms(address string) ([]string, error) {
	err := l.known(address, &net.TCPAddr{IP: net.IPv4zero}, nobodysKey{})
	var key *knownhosts.KeyError
	if !errors.As(err, &key) || len(key.Want) == 0 {
		return nil, fmt.Errorf("ssh: %w: the key of %s is in no file of known hosts", provider.ErrRefused, address)
	}
	var list []string
	for _, k := range key.Want {
		if k.Key.Type() == ssh.KeyAlgoRSA {
			list = append(list, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		} else {
			list = append(list, k.Key.Type())
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// nobodysKey is a key that no host has.
type nobodysKey struct{ ssh.PublicKey }

func (nobodysKey) Type() string    { return "none" }
func (nobodysKey) Marshal() []byte { return nil }

// dial makes a connection. Errors: ErrRefused (our key, or theirs), ErrUnreachable, ctx.Err().
func (h *host) dial(ctx context.Context) (*ssh.Client, *socket, error) {
	algorithms, err := h.login.algorithms(h.address)
	if err != nil {
		return nil, nil, err
	}
	keys, agent, err := h.login.signers(ctx)
	if agent != nil {
		defer agent.Close()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ssh: %w: %w", provider.ErrRefused, err)
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", h.address)
	if err != nil {
		return nil, nil, fmt.Errorf("ssh: %w: %w", provider.ErrUnreachable, err)
	}
	socket := &socket{Conn: conn}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	config := &ssh.ClientConfig{User: h.user, Auth: []ssh.AuthMethod{ssh.PublicKeys(keys...)},
		HostKeyCallback: h.login.known, HostKeyAlgorithms: algorithms}
	c, channels, requests, err := ssh.NewClientConn(socket, h.address, config)
	if !stop() || err != nil {
		_ = conn.Close()
		return nil, nil, dialError(h, ctx, err)
	}
	return ssh.NewClient(c, channels, requests), socket, nil
}

// socket knows that it could not be read before its user does. A channel that is opened after that
// waits for its answer for ever: x/crypto has closed its channels by then, and reports no failed
// write.
type socket struct {
	net.Conn
	gone atomic.Bool
}

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if err != nil {
		s.gone.Store(true)
	}
	return n, err
}

// dialError says which side refused. A host with another key than the known one may be an
// attacker's.
func dialError(h *host, ctx context.Context, err error) error {
	var key *knownhosts.KeyError
	switch {
	case errors.As(err, &key):
		return fmt.Errorf("ssh: %w: %s has another key than the one that is known", provider.ErrRefused, h.address)
	case err != nil && strings.Contains(err.Error(), "unable to authenticate"):
		return fmt.Errorf("ssh: %w: %s takes none of the keys", provider.ErrRefused, h)
	case ctx.Err() != nil:
		return fmt.Errorf("ssh: %w: %s: %w", provider.ErrUnreachable, h, context.Cause(ctx))
	}
	return fmt.Errorf("ssh: %w: %s: %w", provider.ErrUnreachable, h, err)
}
