package auth

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrSetting is a setting of the server that cannot be used; the error names
// it, what was given and what is allowed.
var ErrSetting = errors.New("wrong setting")

// listenAddress is --listen taken apart.
type listenAddress struct {
	unix bool   // host is the socket's path
	host string // "" means every address
}

// parseListen reads HOST:PORT or unix:///PATH; it fails with ErrSetting.
func parseListen(listen string) (listenAddress, error) {
	wrong := fmt.Errorf("%w: listen %q is not HOST:PORT or unix:///PATH", ErrSetting, listen)
	if path, ok := strings.CutPrefix(listen, "unix://"); ok {
		if !filepath.IsAbs(path) {
			return listenAddress{}, wrong
		}
		return listenAddress{unix: true, host: path}, nil
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listenAddress{}, wrong
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return listenAddress{}, wrong
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return listenAddress{host: addr.String()}, nil
	}
	if _, ok := parseHostPort(host); host != "" && !ok {
		return listenAddress{}, wrong
	}
	return listenAddress{host: strings.ToLower(host)}, nil
}

// CheckListen refuses settings that would open terminals to the network
// without asking for a token: mode ModeNone needs a loopback address,
// "localhost" or a unix socket, unless insecure says that it is meant. It fails
// with ErrSetting, also when mode or listen (HOST:PORT, unix:///PATH) makes no
// sense. Other names are not resolved and count as open.
func CheckListen(mode, listen string, insecure bool) error {
	if mode != ModeToken && mode != ModeNone {
		return fmt.Errorf("%w: auth %q is not one of %s, %s", ErrSetting, mode, ModeToken, ModeNone)
	}
	where, err := parseListen(listen)
	if err != nil {
		return err
	}
	local := where.unix || hostPort{name: where.host}.isLoopback()
	if mode == ModeNone && !local && !insecure {
		return fmt.Errorf("%w: auth %s with listen %q gives a shell to everyone who reaches the machine; "+
			"listen on a loopback address or a unix socket, use auth %s, or add --insecure", ErrSetting, mode, listen,
			ModeToken)
	}
	return nil
}
