//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/sshd"
)

// sshFlags say who gets in by SSH.
type sshFlags struct {
	address string // "" is nobody
	keys    string // a file; "" is the one in the data directory
	tokens  bool   // are passwords
}

func (f *sshFlags) add(c *cobra.Command) {
	addFlags(c,
		flag{"ssh", "", &f.address,
			"`HOST:PORT` to let in by SSH who has an authorized key (port 0 takes a free one, which the log names; " +
				"see docs/guide/ssh.md)"},
		flag{"ssh-authorized-keys", "", &f.keys,
			"`file` with the keys for --ssh, in the form of OpenSSH, read again when it has changed (default: " +
				"authorized_keys in the data directory)"},
		flag{"ssh-token-password", "", &f.tokens,
			"let in by SSH too who gives the token, or a user's, as the password"},
	)
}

// check refuses settings that exclude each other, and makes the file's name absolute.
func (f *sshFlags) check(mode string) error {
	if f.keys != "" {
		path, err := filepath.Abs(f.keys) // a server in the background changes its directory
		if err != nil {
			return fmt.Errorf("ssh_authorized_keys: %w", err)
		}
		f.keys = path
	}
	_, port, err := net.SplitHostPort(f.address)
	if _, wrong := strconv.ParseUint(port, 10, 16); f.address != "" && (err != nil || wrong != nil) {
		return fmt.Errorf("ssh: got %q, allowed is HOST:PORT", f.address)
	}
	switch {
	case f.address == "" && f.tokens:
		return errors.New("ssh_token_password goes with --ssh HOST:PORT")
	case f.address == "" && f.keys != "":
		return errors.New("ssh_authorized_keys goes with --ssh HOST:PORT")
	case f.tokens && mode == auth.ModeNone:
		return errors.New("ssh_token_password: with --auth none there are no tokens; leave one of the two out")
	}
	return nil
}

// sshServer is the server of SSH on its way up; the zero one is none.
type sshServer struct {
	*sshd.Server
	all []net.Listener
}

// listenSSH opens the address.
func (f *sshFlags) listen() (all []net.Listener, err error) {
	if f.address == "" {
		return nil, nil
	}
	all, _, err = listenTCP("ssh", f.address)
	return all, err
}

// keysIn is the file of keys of a server with this data directory.
func (f *sshFlags) keysIn(dir string) string {
	return cmp.Or(f.keys, filepath.Join(dir, sshd.KeysFile))
}

// openSSH makes the server of SSH.
func (d *daemon) openSSH(f sshFlags, log *slog.Logger) (err error) {
	if f.address == "" {
		return nil
	}
	d.ssh.Server, err = sshd.New(sshd.Config{Dir: d.dir, Keys: f.keysIn(d.dir),
		Passwords: f.tokens, Auth: d.auth, Log: log,
		Program: []string{"/proc/self/exe", sshSession}}) // this version, also when the file was replaced
	return err
}

// checkSSH looks at the file of keys as the server does.
func checkSSH(t examined) check {
	f := t.settings.ssh
	c := check{Name: "SSH", Text: "it is not set"}
	if f.address == "" {
		return c
	}
	path := f.keysIn(t.dir)
	n, err := sshd.CheckKeys(path)
	c.Text = fmt.Sprintf("keys in %s: %d", path, n)
	switch {
	case err != nil:
		c.finding = problem(err.Error(), "mend it; the server reads it again by itself")
	case n == 0 && !f.tokens:
		c.finding = problem("nobody can log in", "put a public key there: cat ~/.ssh/id_ed25519.pub >> "+path)
	}
	return c
}

// serve answers until close. An error of a listener is in the log: the terminals come first.
func (s sshServer) serve() {
	for _, l := range s.all {
		go func() {
			if err := s.Serve(l); err != nil {
				slog.Error("nobody gets in by SSH any more", "error", err, "address", l.Addr())
			}
		}()
	}
}

// close ends the sessions.
func (s sshServer) close() {
	if s.Server != nil {
		s.Server.Close()
	}
}
