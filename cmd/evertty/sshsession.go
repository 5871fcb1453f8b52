//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/evertty/evertty/internal/server/sshd"
)

// hangUpTime is how long the process of a session has for its end after the session has gone.
const hangUpTime = 3 * time.Second

// serveSSH is the process of a session of serve --ssh, and returns its exit code; see package sshd.
func (a *app) serveSSH() int {
	var o sshd.Order
	f := os.NewFile(sshd.OrderFile, "order")
	if err := json.NewDecoder(f).Decode(&o); err != nil {
		fmt.Fprintln(a.stderr, "evertty: "+sshSession+": serve --ssh starts it, and nobody else does:", err)
		return exitUsage
	}
	go endWith(f)
	if o.Command == nil {
		return a.showGuest(o)
	}
	words, at, err := splitWords(string(o.Command))
	if err == nil && (len(words) == 0 || words[0] == "") {
		err = errors.New("it begins with a verb; ssh HOST help lists them")
	}
	if err != nil {
		fmt.Fprintln(a.stderr, "evertty: the command line:", err)
		return exitUsage
	}
	return a.forGuest(o, at).run(words)
}

// endWith ends this process when the server closes the file, as a terminal does that hangs up.
func endWith(f *os.File) {
	_, _ = io.Copy(io.Discard, f)
	_ = syscall.Kill(os.Getpid(), syscall.SIGHUP)
	time.Sleep(hangUpTime)
	os.Exit(exitSignal + int(syscall.SIGHUP))
}

// forGuest is this program for the user of a session. The words of its command line begin at these bytes.
func (a *app) forGuest(o sshd.Order, at []int) *app {
	return &app{stdin: a.stdin, stdout: a.stdout, stderr: a.stderr, guest: &guest{dir: o.Dir, token: o.Token,
		readOnly: o.ReadOnly, inside: o.Inside, raw: string(o.Command), at: at}}
}

// showGuest shows the terminal that the name of the user means. When there is none it says which there are.
func (a *app) showGuest(o sshd.Order) int {
	code := a.forGuest(o, nil).run([]string{"attach", "--", o.Terminal})
	if code == exitNoTerminal {
		fmt.Fprintln(a.stderr, "evertty: ssh NAME@HOST shows a terminal, ssh -t HOST new makes one. There are:")
		list := a.forGuest(o, nil)
		list.stdout = os.Stderr
		list.run([]string{"ls"})
	}
	return code
}
