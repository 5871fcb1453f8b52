//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/confine"
	"github.com/evertty/evertty/internal/localsocket"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/strictmodes"
	"github.com/evertty/evertty/pty"
)

// prepare begins this process. Started by the keeper it becomes a program. Else inherited files must not reach the
// programs that it starts.
func prepare() error {
	if len(os.Args) > 1 && os.Args[1] == confine.Verb {
		os.Exit(confine.Main(os.Args))
	}
	return proc.CloseInherited()
}

// parentOf is the parent of a process; ok is false when it has gone.
func parentOf(pid int) (parent int, ok bool) {
	p, ok := proc.Find(pid)
	return p.Parent, ok
}

// surroundings says in which terminals this program runs: by the variables of its
// ancestors and by its and their terminal devices, so that it is known also when the
// variables were removed.
func (a *app) surroundings() client.Inside {
	if a.guest != nil { // this process is the server's; where the user's is only they can say
		in := client.Inside{Nested: true}
		if a.guest.inside != "" {
			in.Terminals = []string{a.guest.inside}
		}
		return in
	}
	s := pty.SurroundingsOf(os.Getpid())
	if id := os.Getenv(pty.EnvTerminal); id != "" && !slices.Contains(s.Terminals, id) {
		s.Terminals = append(s.Terminals, id)
	}
	for _, f := range []*os.File{a.stdin, a.stdout} {
		if name, ok := pty.FileDevice(f); ok && !slices.Contains(s.Devices, name) {
			s.Devices = append(s.Devices, name)
		}
	}
	return client.Inside{Terminals: s.Terminals, Devices: s.Devices}
}

// clientDir is dir for a verb that asks a server: inside a terminal that of its server, unless a directory is named.
func (a *app) clientDir() (string, error) {
	socket := os.Getenv(pty.EnvSocket)
	if a.namedDir() != "" || !filepath.IsAbs(socket) || filepath.Base(socket) != localsocket.Name {
		return a.dir()
	}
	dir := filepath.Dir(socket)
	if err := strictmodes.CheckOwn(dir); err != nil {
		return a.dir() // its server is another user's, or gone
	}
	return dir, nil
}
