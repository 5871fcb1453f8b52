package installtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/tests/polling"
)

// firstTerminal is how long the first terminal may take from the key Enter, on a machine that does nothing else.
const firstTerminal = 3 * time.Second

// detach is what a user types to leave a terminal running.
const detach = "\x1c\x1c"

var loginLink = regexp.MustCompile(`http://127\.0\.0\.1:\d+/\?ticket=`)

// packaged is a Debian with the package and a user, alice.
func packaged(t *testing.T) *root {
	t.Helper()
	r := newRoot(t)
	file, err := deb()
	if err != nil {
		t.Fatal(err)
	}
	r.put(file, "/tmp/evertty.deb")
	r.as("root", "useradd --create-home --shell /bin/bash alice")
	r.as("root", "dpkg --install /tmp/evertty.deb")
	return r
}

// TestPackage: what it installs, upgrades and removes.
func TestPackage(t *testing.T) {
	t.Parallel()
	r := packaged(t)
	if said := r.as("alice", "evertty version"); !strings.HasPrefix(said, "evertty v"+version) {
		t.Errorf("evertty version says %q", said)
	}
	files := r.as("root", "dpkg --listfiles evertty")
	for _, file := range []string{"/usr/bin/evertty", "/usr/share/man/man1/evertty.1.gz",
		"/usr/share/bash-completion/completions/evertty", "/usr/share/zsh/vendor-completions/_evertty",
		"/usr/share/fish/vendor_completions.d/evertty.fish", "/usr/lib/systemd/system/evertty.service",
		"/usr/lib/systemd/system/evertty.socket", "/usr/lib/systemd/user/evertty.service",
		"/usr/lib/systemd/user/evertty.socket", "/usr/lib/sysusers.d/evertty.conf"} {
		if !strings.Contains(files, file+"\n") {
			t.Errorf("the package has no %s", file)
		}
		r.as("alice", "test -s "+file)
	}
	r.as("root", "gzip --test /usr/share/man/man1/*.gz /usr/share/doc/evertty/*.gz")
	r.as("alice", "bash -c 'source /usr/share/bash-completion/completions/evertty; complete -p evertty'")
	if on := r.as("root", "find /etc/systemd -lname '*evertty*'"); on != "" {
		t.Errorf("the package enables %s", on)
	}
	if said := r.as("root", "ls -l /proc/[0-9]*/exe 2>/dev/null | grep evertty || true"); said != "" {
		t.Errorf("the package starts processes %s", said)
	}
	r.as("root", "dpkg --install /tmp/evertty.deb") // an upgrade
	r.as("root", "mkdir -p /var/lib/evertty && touch /var/lib/evertty/work && dpkg --purge evertty")
	r.as("root", "test -e /var/lib/evertty/work && test ! -e /usr/bin/evertty")
}

// TestFirstMinute: a user and root, each in a package's first minute and after: a terminal, what survives the death of
// the server, a link for a browser, a healthy doctor, and programs that outlive the package.
func TestFirstMinute(t *testing.T) {
	t.Parallel()
	r := packaged(t)
	var jobs []string
	for _, user := range []string{"alice", "root"} {
		l := r.login(user)
		r.firstTerminal(l, user)
		l.types("sleep 86400 & echo answer $((6*7)) job $!\n")
		l.shows(`^answer 42 job \d+\n.*[$#]$`)
		jobs = append(jobs, regexp.MustCompile(`(?m)^answer 42 job (\d+)$`).FindStringSubmatch(l.screen())[1])
		before := l.screen()
		l.types(detach)
		l.shows(`(?i)detached[^\n]*(\n[^\n]+)*[$#]\z`)

		r.as(user, `kill -9 "$(cat ~/.local/state/evertty/lock)"`)
		l.types("clear; echo cleared\n")
		l.shows(`\Acleared\n.*[$#]\z`)
		l.types("evertty attach " + r.onlyTerminal(user) + "\n")
		same := polling.Until(enough, func() bool { return strings.HasPrefix(l.screen(), before) })
		if !same {
			t.Errorf("%s had\n%s\nand has\n%s", user, before, l.screen())
		}
		l.types("echo again $((6*7))\n")
		l.shows(`^again 42$`)
		l.types(detach)

		if link := r.as(user, "evertty url"); !loginLink.MatchString(link) {
			t.Errorf("evertty url says %q", link)
		}
		t.Logf("%s: %s", user, r.as(user, "evertty doctor"))
	}
	r.as("root", "dpkg --remove evertty")
	for _, job := range jobs {
		r.as("root", "kill -0 "+job)
	}
	r.as("alice", "test -s ~/.local/state/evertty/token")
}

// firstTerminal has a user type evertty, until the terminal shows its prompt.
func (r *root) firstTerminal(l *login, user string) {
	r.t.Helper()
	l.types("clear; evertty")
	l.shows(`evertty\z`)
	began := time.Now()
	l.types("\n")
	l.shows(`[$#]\s*\z`)
	took := time.Since(began)
	l.types("echo inside $EVERTTY_PTY\n")
	l.shows(`^inside \w+$`)
	r.t.Logf("%s: a terminal after %v", user, took)
	if took > firstTerminal && !busy() {
		r.t.Errorf("the first terminal took %v, longer than %v", took, firstTerminal)
	}
}

// onlyTerminal is the id of the user's one terminal.
func (r *root) onlyTerminal(user string) string {
	r.t.Helper()
	id := regexp.MustCompile(`"id": ?"(\w+)"`).FindAllStringSubmatch(r.as(user, "evertty ls --json"), -1)
	if len(id) != 1 {
		r.t.Fatalf("%s has %d terminals", user, len(id))
	}
	return id[0][1]
}

// busy reports whether other work takes this machine, so that times say nothing.
func busy() bool {
	b, err := os.ReadFile("/proc/loadavg")
	return err == nil && !regexp.MustCompile(`^[0-2]\.`).Match(b)
}

// TestInstallScriptInDebian: an ordinary user gets the archive by the install script and uses it, without root.
func TestInstallScriptInDebian(t *testing.T) {
	t.Parallel()
	r := newRoot(t)
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(dir, "evertty"))
	if err != nil {
		t.Fatal(err)
	}
	release := serveRelease(t, map[string]string{"evertty": string(program)}, same[string], same[[]byte])
	r.as("root", "useradd --create-home --shell /bin/bash alice")
	r.put("../../scripts/install.sh", "/tmp/install.sh")
	said := r.as("alice", "EVERTTY_BASE_URL="+release.URL+" sh /tmp/install.sh")
	if !strings.Contains(said, "installed /home/alice/.local/bin/evertty: evertty v"+version) {
		t.Errorf("the script says %q", said)
	}
	r.as("alice", "PATH=$HOME/.local/bin:$PATH evertty doctor")
}

// TestUnits: systemd reads them, and the system unit is no more exposed than it was.
func TestUnits(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("needs systemd-analyze")
	}
	dir := t.TempDir()
	for _, kind := range []string{"system", "user"} {
		at := filepath.Join(dir, kind)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, name := range []string{"evertty.service", "evertty.socket"} {
			b, err := os.ReadFile(filepath.Join("../../deploy/systemd", kind, name))
			if err != nil {
				t.Fatal(err)
			}
			b = []byte(strings.ReplaceAll(string(b), "/usr/bin/evertty", "/bin/true")) // which is there
			file := filepath.Join(at, name)
			if err := os.WriteFile(file, b, 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		verify(t, dir, kind, files)
	}
}

// verify has systemd read units.
func verify(t *testing.T, dir, kind string, files []string) {
	t.Helper()
	c := exec.Command("systemd-analyze", append([]string{"--" + kind, "verify", "--man=no"}, files...)...)
	c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v", kind, err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, dir) && !strings.Contains(line, "DelegateSubgroup") { // since systemd 254
			t.Error(line)
		}
	}
}
