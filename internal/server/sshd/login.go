package sshd

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/server/auth"
)

// guestKey holds an auth.Guest among the permissions of a connection.
type guestKey struct{}

func permissions(g auth.Guest) *ssh.Permissions {
	return &ssh.Permissions{ExtraData: map[any]any{guestKey{}: g}}
}

// byKey lets in who has a key of the file. That they have it is proved later.
func (s *Server) byKey(c ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
	print := ssh.FingerprintSHA256(key)
	a, ok := s.keys.find(key)
	if !ok {
		return nil, fmt.Errorf("the key %s is not in %s", print, s.Config.Keys)
	}
	g, err := s.Auth.GuestOf(a.user, a.role)
	if err != nil {
		return nil, fmt.Errorf("the key %s is of %q, who is no user of this server", print, a.user)
	}
	g.Who, g.Name = "ssh:"+print, a.name
	return permissions(g), nil
}

// errBusy ends a connection after one wrong token more than are taken.
var errBusy = errors.New("too many wrong tokens came")

// byToken lets in who has a token.
func (s *Server) byToken(c ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
	g, busy, err := s.Auth.GuestOfToken(string(password))
	switch {
	case busy:
		return nil, errBusy
	case err != nil:
		return nil, fmt.Errorf("the password is no token of this server")
	}
	return permissions(g), nil
}

// refused writes down that a connection was not let in, when it has tried to log in.
func (s *Server) refused(c net.Conn, err error) {
	tried, ok := errors.AsType[*ssh.ServerAuthError](err)
	if !ok || len(tried.Errors) == 0 {
		s.Log.Debug("a connection by SSH ended before a login", "remote", c.RemoteAddr(), "error", err)
		return
	}
	s.Auth.RefuseGuest(c.RemoteAddr().String(), "ssh", tried.Errors[len(tried.Errors)-1])
}
