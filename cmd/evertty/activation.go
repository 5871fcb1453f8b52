//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/evertty/evertty/internal/server/auth"
)

// takePassed takes the listening sockets that a service manager has opened for this process (sd_listen_fds(3)). They
// stand for --listen, and are checked as it is. Without any it does nothing. Errors are wrong usage. Call it once: the
// variables that name the sockets are unset, and the sockets are close-on-exec.
func (f *serveFlags) takePassed() error {
	for i, file := range activation.Files(true) {
		l, err := net.FileListener(file)
		_ = file.Close() // l has its own descriptor
		if err != nil {
			return usage(fmt.Errorf("the service manager passed %s, which is not a listening socket of TCP or unix: %w",
				file.Name(), err))
		}
		address, err := passedAddress(l)
		if err == nil {
			err = auth.CheckListen(f.auth.Mode, address, f.insecure)
		}
		if err != nil {
			return usage(err)
		}
		if f.passed = append(f.passed, l); i == 0 {
			f.auth.Listen = address
		}
	}
	return nil
}

// passedAddress is the address of a socket in the form of --listen.
func passedAddress(l net.Listener) (string, error) {
	path := l.Addr().String()
	switch {
	case l.Addr().Network() == "tcp":
		return path, nil
	case l.Addr().Network() != "unix" || !filepath.IsAbs(path):
		return "", fmt.Errorf("the service manager passed the socket %q; allowed are TCP and unix sockets in a "+
			"directory (ListenStream=)", path)
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = errors.New("others may connect to it; the unit of the socket needs SocketMode=0600")
	}
	if err != nil {
		return "", fmt.Errorf("the service manager passed the socket %s: %w", path, err)
	}
	return "unix://" + path, nil
}
