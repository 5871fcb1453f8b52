package tests

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// secretVariables are names that a server's environment may have with a secret in it.
var secretVariables = []string{"E2B_API_KEY", "DAYTONA_API_KEY", "EVERTTY_TOKEN", "EVERTTY_UNKNOWN_TOKEN",
	"MY_OWN_WORD"}

// withSecrets is an environment with a secret, and a pattern for grep that finds it and not itself.
func withSecrets() (env []string, secret, pattern string) {
	number := fmt.Sprintf("%016x", rand.Uint64())
	for _, name := range secretVariables {
		env = append(env, name+"=very-secret-"+number)
	}
	return env, "very-secret-" + number, "very-[s]ecret-" + number
}

// lookout is a command that prints where a secret can be read, and "found nothing" at last: in environments and command
// lines of all processes, in what it has open, and in the data directory. It leaves out the processes of the test
// itself.
func lookout(pattern, dir string) string {
	return `me=$$; for f in /proc/[0-9]*/environ /proc/[0-9]*/cmdline /proc/$me/fd/*; do ` +
		`case $f in /proc/$me/fd/*) [ -f "$f" ] || continue;; esac; ` +
		`if tr '\0' '\n' 2>/dev/null <"$f" | grep -q '` + pattern +
		`'; then echo "LEAK $f $(tr '\0' ' ' 2>/dev/null <${f%/*}/cmdline)"; fi; done; ` +
		`grep -rals '` + pattern + `' ` + dir +
		` | sed 's/^/LEAK /'; echo "memfds $(ls -l /proc/$me/fd | grep -c memfd:)"; echo 'found' nothing`
}

// noLeak checks what a lookout said.
func noLeak(t *testing.T, where, said string) {
	t.Helper()
	if strings.Contains(said, "LEAK") || !strings.Contains(said, "found nothing") ||
		!strings.Contains(said, "memfds 0") {
		t.Errorf("%s sees:\n%s", where, said)
	}
}

// seeNoSecret looks from every kind of program.
func (s *server) seeNoSecret(when, pattern string) {
	s.t.Helper()
	t, ok := s.t.(*testing.T)
	if !ok {
		s.t.Fatal("not a test")
	}
	script := filepath.Join(t.TempDir(), "lookout")
	s.must(os.WriteFile(script, []byte(lookout(pattern, s.how.dir)), 0o600))
	id := s.create("sh", script).ID
	s.exit(id)
	noLeak(t, when+": a terminal", s.text(id))
	for kind, b := range map[string]body{
		"an exec shell":        {"command": ". " + script},
		"a background command": {"command": "(. " + script + ") & wait"},
		"a tty command":        {"command": "sh " + script, "tty": true},
	} {
		var got struct{ Stdout string }
		r := s.post("/session/look/exec", asJSON(b)).wants(200)
		r.into(&got)
		s.book.add("look")
		noLeak(t, when+": "+kind, r.body)
	}
}

// TestNoProgramSeesASecretOfTheServer: keys of providers and whatever else the server was started with are not in any
// file of /proc, nor in the data directory: after a start, after another server has taken over, and after the keeper
// was started anew.
func TestNoProgramSeesASecretOfTheServer(t *testing.T) {
	t.Parallel()
	env, secret, pattern := withSecrets()
	s := start(t, launch{env: env})
	s.seeNoSecret("first server", pattern)
	if log := s.stderr.String() + s.keeperLog(); strings.Contains(log, secret) {
		t.Errorf("the log has the secret:\n%s", log)
	}
	var health struct{ Status string }
	s.get("/healthz").wants(200).into(&health)
	providers := s.post("/api/threads", `{"id":"far","provider":"e2b"}`)
	if strings.Contains(providers.body, "providers") || strings.Contains(providers.body, "unknown provider") {
		t.Errorf("the key of the environment makes no provider any more: %s", providers.body)
	}
	old := s.keeperPID()
	s.kill()
	s.must(syscall.Kill(old, syscall.SIGKILL))
	s.how.flags = append(s.how.flags, "--takeover")
	s.launch()
	s.seeNoSecret("second server", pattern)
	if log := s.stderr.String() + s.keeperLog(); strings.Contains(log, secret) {
		t.Errorf("the log has the secret:\n%s", log)
	}
}

// TestTheKeeperOfAServerBeforeIsCleaned: what a keeper was started with before there was an allow-list goes on over
// execve(2), and is overwritten.
func TestTheKeeperOfAServerBeforeIsCleaned(t *testing.T) {
	t.Parallel()
	env, secret, _ := withSecrets()
	s := start(t, launch{})
	s.stop()
	s.dismissKeeper()
	s.nothingIsLeft()
	c := s.command("keeper", "--data-dir", s.how.dir, "--idle", "1m") // as an old server started it: with everything
	c.Env = append(c.Env, env...)
	s.must(c.Start())
	go func() { _ = c.Wait() }()
	eventually(t, "the keeper is there", func() bool {
		_, err := os.Stat(s.file("keeper.sock"))
		return err == nil
	})
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", c.Process.Pid))
	if err == nil && bytes.Contains(b, []byte(secret)) {
		t.Errorf("the keeper shows %q", b)
	}
	s.launch()
	if s.keeperPID() != c.Process.Pid {
		t.Errorf("the keeper is %d, want %d", s.keeperPID(), c.Process.Pid)
	}
}
