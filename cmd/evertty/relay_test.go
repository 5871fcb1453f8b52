//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/catalog"
	"github.com/evertty/evertty/internal/provider/relay"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/fakeprov"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/tests/providertest"
)

// relayLimit is for anything that is waited for.
const relayLimit = 2 * time.Minute

// relayJob rents an instance, whose processes and files are on this machine, and leaves a job for it. It returns the
// job's directory.
func relayJob(t *testing.T, j relay.Job) (dir string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	home, dir := t.TempDir(), t.TempDir()
	fake, err := fakeprov.Start(home)
	must(err)
	t.Cleanup(func() { must(fake.Close()) })
	section := map[string]string{"api_key": fakeprov.Key, "api_url": fake.E2BURL(), "sandbox_url": fake.E2BSandboxURL(),
		"cwd": home}
	text, err := json.Marshal(map[string]any{"provider": "e2b", "e2b": section})
	must(err)
	s, err := catalog.ParseSettings(text, func(string) (string, bool) { return "", false })
	must(err)
	j.Settings, err = s.Pack()
	must(err)
	p, err := s.Open()
	must(err)
	i, err := p.Create(t.Context(), provider.CreateRequest{Name: "relay"})
	must(err)
	j.Instance = i.ID
	must(relay.WriteJob(dir, j))
	return dir
}

func relayWaits(t *testing.T, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(relayLimit, fact) {
		t.Fatal("it did not come to that: " + what)
	}
}

// pidIn waits for the process whose number is in a file.
func pidIn(t *testing.T, file string) (pid int) {
	t.Helper()
	relayWaits(t, "a process in "+file, func() bool {
		b, _ := os.ReadFile(file)
		_, err := fmt.Sscanf(string(b), "%d\n", &pid)
		return err == nil
	})
	return pid
}

// TestRelayCancelled: the signals that end a relay end the command elsewhere, and the shell that has started it sees an
// interrupted program.
func TestRelayCancelled(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			dir := relayJob(t, relay.Job{Command: &relay.Command{
				Text:  relay.Bytes("echo begin; sleep 100000 & echo $! >" + file + "; wait; echo end"),
				State: file + ".state"}})
			out := providertest.NewExpect("begin\n")
			c := exec.Command(os.Args[0], "relay", "exec", dir)
			c.Env, c.Stdout, c.Stderr = append(os.Environ(), asProgram+"=1"), out, out
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			pid := pidIn(t, file)
			out.Wait(t)
			if err := c.Process.Signal(signal); err != nil {
				t.Error(err)
			}
			_ = c.Wait()
			if status := c.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() ||
				status.Signal() != syscall.SIGINT || out.String() != "begin\n" {
				t.Errorf("%v, %q", c.ProcessState, out.String())
			}
			relayWaits(t, "the command has ended", func() bool { return syscall.Kill(pid, 0) != nil })
			if f, failed := relay.Outcome(dir); failed {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestRelayTerminal: a terminal's relay is a program like any other on it: the size, keys and the exit code go through,
// and SIGTERM ends what runs elsewhere.
func TestRelayTerminal(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(p *pty.Process) error
		code int
	}{
		"by itself": {func(p *pty.Process) error {
			_, err := p.Write(context.Background(), []byte("end\r"))
			return err
		}, 5},
		"SIGTERM": {func(p *pty.Process) error { return syscall.Kill(p.PID(), syscall.SIGTERM) }, 129},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			script := "echo $$ >" + file +
				"; while read -r line; do case $line in size) stty size;; end) exit 5;; esac; done"
			dir := relayJob(t, relay.Job{Terminal: &relay.Terminal{Argv: []relay.Bytes{relay.Bytes("bash"),
				relay.Bytes("-c"), relay.Bytes(script)}}})
			p, err := pty.Start(pty.Spec{Argv: []string{os.Args[0], "relay", "pty", dir},
				Env: map[string]string{asProgram: "1"}, Cols: 83, Rows: 27})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			var mu sync.Mutex
			var shown strings.Builder
			go func() {
				_, _ = io.Copy(writerFunc(func(b []byte) (int, error) {
					mu.Lock()
					defer mu.Unlock()
					return shown.Write(b)
				}), p)
			}()
			pid := pidIn(t, file)
			for _, size := range []string{"27 83\r\n", "33 101\r\n"} {
				relayWaits(t, "the size is "+size, func() bool {
					if _, err := p.Write(t.Context(), []byte("size\r")); err != nil {
						t.Fatal(err)
					}
					mu.Lock()
					defer mu.Unlock()
					return strings.Contains(shown.String(), size)
				})
				if err := p.Resize(101, 33); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.end(p); err != nil {
				t.Fatal(err)
			}
			exit, err := p.Wait(t.Context())
			if err != nil || exit.Code != c.code {
				t.Errorf("%+v, %v, %q", exit, err, shown.String())
			}
			relayWaits(t, "the program has ended", func() bool { return syscall.Kill(pid, 0) != nil })
		})
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
