package pty

import (
	"slices"
	"strings"
)

// The variables by which a program finds its server and the terminal it runs in.
// The server sets them at every start: they come neither from its own
// environment nor from a user's, and no record of a user's variables has them.
const (
	EnvTerminal = "EVERTTY_PTY"     // id of the terminal; programs of exec shells have none
	EnvSession  = "EVERTTY_SESSION" // name of the session
	EnvURL      = "EVERTTY_URL"     // http://HOST:PORT of the server, without any secret
	EnvSocket   = "EVERTTY_SOCKET"  // path of the server's socket
)

// IsIdentity reports whether name is one of these variables.
func IsIdentity(name string) bool {
	switch name {
	case EnvTerminal, EnvSession, EnvURL, EnvSocket:
		return true
	}
	return false
}

// Identity is the variables of a program of a session on a terminal ("" for
// none) of the server at address, which is an http URL or unix:///PATH. socket is the
// path of the socket in its data directory, "" for none.
func Identity(address, socket, session, terminal string) map[string]string {
	env := map[string]string{EnvSession: session}
	if terminal != "" {
		env[EnvTerminal] = terminal
	}
	if path, ok := strings.CutPrefix(address, "unix://"); ok {
		env[EnvSocket] = path
	} else if address != "" {
		env[EnvURL] = address
	}
	if socket != "" {
		env[EnvSocket] = socket
	}
	return env
}

// WithIdentity is env (NAME=VALUE) with the identity in the place of any that it has.
func WithIdentity(env []string, identity map[string]string) []string {
	list := slices.DeleteFunc(slices.Clone(env), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return IsIdentity(name)
	})
	return append(list, pairs(identity)...)
}
