package tests

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// checkup is what `evertty doctor --json` says about a data directory.
type checkup struct {
	OK               bool
	Servers, Keepers []struct{ Problem string } // those of other tests too
	Checks           []struct{ Name, Text, Problem, Warning, Advice string }
}

// examine has doctor look at a directory, which stays as it is.
func examine(t *testing.T, dir string, env ...string) checkup {
	t.Helper()
	out := run(t, call(t, env, "doctor", "--json", "--data-dir", dir))
	var c checkup
	err := json.Unmarshal([]byte(out.stdout), &c)
	well := len(c.problems()) == 0
	for _, p := range append(c.Servers, c.Keepers...) {
		well = well && p.Problem == ""
	}
	if err != nil || c.OK != well || c.OK != (out.code == 0) {
		t.Fatalf("%v: %+v", err, out)
	}
	return c
}

// problems are those of the checks.
func (c checkup) problems() (list []string) {
	for _, one := range c.Checks {
		if one.Problem != "" {
			list = append(list, one.Name+": "+one.Problem)
		}
	}
	return list
}

// finds checks that the check of that name tells all words, the remedy among them, and that nothing else is wrong.
func (c checkup) finds(t *testing.T, name string, words ...string) {
	t.Helper()
	for _, one := range c.Checks {
		text := one.Problem + one.Warning + " -> " + one.Advice
		switch {
		case one.Name == name:
			for _, w := range append(words, one.Advice) {
				if w == "" || !strings.Contains(text, w) {
					t.Errorf("%s: no %q in %+v", name, w, one)
				}
			}
		case one.Problem != "":
			t.Errorf("%s is a problem too: %+v", one.Name, one)
		}
	}
}

// files are the sizes and times of all files in a directory.
func files(dir string) map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, _ error) error {
		if info, err := e.Info(); err == nil {
			all[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime())
		}
		return nil
	})
	return all
}

// flip turns a bit in the middle of a file.
func flip(t *testing.T, pattern string) {
	t.Helper()
	found, _ := filepath.Glob(pattern)
	if len(found) == 0 {
		t.Fatal("no " + pattern)
	}
	for _, path := range found {
		b, err := os.ReadFile(path)
		if err == nil && len(b) > 0 {
			b[len(b)/2] ^= 1
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// stoppedDir is the directory of a server that has had a terminal and a shell and has ended.
func stoppedDir(t *testing.T) string {
	t.Helper()
	s := start(t, launch{auth: "token"})
	i := s.create("sh", "-c", "seq 1000")
	s.exit(i.ID)
	s.post("/session/x/exec", `{"command":"echo hi"}`).wants(200)
	s.book.add("x")
	s.endShells()
	s.stop()
	s.dismissKeeper()
	eventually(t, "the keeper has gone", func() bool { return len(marked(s.mark)) == 0 })
	return s.how.dir
}

// TestDoctorWithoutAServer: each damage of a directory is told with what mends it. A healthy one is well, and stays as
// it is.
func TestDoctorWithoutAServer(t *testing.T) {
	t.Parallel()
	healthy := stoppedDir(t)
	before := files(healthy)
	if bad := examine(t, healthy).problems(); bad != nil {
		t.Fatalf("a healthy directory: %v", bad)
	}
	if after := files(healthy); !maps.Equal(before, after) {
		t.Errorf("before %v\nafter %v", before, after)
	}
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }
	for name, one := range map[string]struct {
		check string
		harm  func(t *testing.T, dir string) error
		words []string
	}{
		"database": {"database", func(_ *testing.T, dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, "evertty.db"), os.O_RDWR, 0)
			if err == nil {
				_, err = f.WriteAt(make([]byte, 8192), 4096)
				_ = f.Close()
			}
			return err
		}, []string{"damaged", "restore"}},
		"no database": {"database", func(_ *testing.T, dir string) error {
			return write(filepath.Join(dir, "evertty.db"), "this is no database at all, it is a text")
		}, []string{"damaged", "move it away"}},
		"snapshot": {"journals and snapshots", func(t *testing.T, dir string) error {
			flip(t, filepath.Join(dir, "terminals/*/screen.*"))
			return nil
		}, []string{"screen.", "kill --purge"}},
		"journal": {"journals and snapshots", func(t *testing.T, dir string) error {
			flip(t, filepath.Join(dir, "terminals/*/data.*"))
			return nil
		}, []string{"damaged", "evertty restore"}},
		"metadata": {"journals and snapshots", func(t *testing.T, dir string) error {
			flip(t, filepath.Join(dir, "terminals/*/meta"))
			return nil
		}, []string{"metadata", "evertty restore"}},
		"clock": {"clock", func(_ *testing.T, dir string) error {
			ahead := time.Now().Add(2 * time.Hour)
			return os.Chtimes(filepath.Join(dir, "lock"), ahead, ahead)
		}, []string{"behind", "lock", "timedatectl"}},
		"old socket": {"socket", func(_ *testing.T, dir string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "server.sock")})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return errors.Join(l.Close(), os.Chmod(filepath.Join(dir, "server.sock"), 0o600))
		}, []string{"left over", "evertty serve"}},
		"socket that hangs": {"socket", func(t *testing.T, dir string) error {
			l, err := net.Listen("unix", filepath.Join(dir, "server.sock"))
			if err == nil {
				t.Cleanup(func() { _ = l.Close() })
				err = os.Chmod(filepath.Join(dir, "server.sock"), 0o600)
			}
			return err
		}, []string{"nobody answers within", "ss -xlp"}},
		"lock": {"locks", func(t *testing.T, dir string) error {
			f, err := os.Open(filepath.Join(dir, "lock"))
			if err == nil {
				t.Cleanup(func() { _ = f.Close() })
				err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
			}
			return err
		}, []string{fmt.Sprint("process ", os.Getpid()), "no server can start", "kill"}},
		"unfinished file": {"leftovers", func(_ *testing.T, dir string) error {
			return write(filepath.Join(dir, ".tmp-token"), "")
		}, []string{".tmp-token", "evertty serve"}},
		"FIFO": {"leftovers", func(_ *testing.T, dir string) error {
			return syscall.Mkfifo(filepath.Join(dir, "shells/ctl"), 0o600)
		}, []string{"shells/ctl", "evertty serve"}},
		"empty token": {"token", func(_ *testing.T, dir string) error {
			return write(filepath.Join(dir, "token"), "")
		}, []string{"must hold one line", "rm -r", "token"}},
		"no token": {"token", func(_ *testing.T, dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "token")), os.Mkdir(filepath.Join(dir, "token"), 0o700))
		}, []string{"not a regular file", "rm -r"}},
		"mode": {"owners and modes", func(_ *testing.T, dir string) error {
			return os.Chmod(filepath.Join(dir, "terminals"), 0o500)
		}, []string{"terminals", "chmod -R u+rwX"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			if out, err := exec.Command("cp", "-a", healthy, dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if err := one.harm(t, dir); err != nil {
				t.Fatal(err)
			}
			examine(t, dir).finds(t, one.check, one.words...)
		})
	}
}

// TestDoctorReadsTheCertificate: what is wrong with the files of TLS, and with what a server shows of them.
func TestDoctorReadsTheCertificate(t *testing.T) {
	t.Parallel()
	const name, year = "TLS certificate", 365 * 24 * time.Hour
	dir := filepath.Join(t.TempDir(), "none")
	with := func(cert, key string, more ...string) checkup {
		return examine(t, dir, append(more, "EVERTTY_TLS_CERT="+cert, "EVERTTY_TLS_KEY="+key)...)
	}
	cert, key, _ := certificateFor(t, year)
	if bad := with(cert, key).problems(); bad != nil {
		t.Errorf("a good one: %v", bad)
	}
	with(cert+".none", key).finds(t, name, "no such file", "PEM file")
	with(cert, key, "EVERTTY_ALLOWED_HOST=other.example").finds(t, name, "other.example is not in it", "get a certificate")
	other, otherKey, _ := certificateFor(t, year)
	with(cert, otherKey).finds(t, name, "private key does not match", "the key that it was made for")
	old, oldKey, _ := certificateFor(t, -time.Hour)
	with(old, oldKey).finds(t, name, "it has expired", "new one")
	soon, soonKey, _ := certificateFor(t, 13*24*time.Hour)
	with(soon, soonKey).finds(t, name, "it expires in 12d", "new one")
	if err := os.Chmod(key, 0o644); err != nil {
		t.Fatal(err)
	}
	with(cert, key).finds(t, name, "mode 0644", "this user alone")

	served, servedKey, _ := certificateFor(t, year)
	s := startAt(t, "--tls-cert", served, "--tls-key", servedKey)
	if bad := examine(t, s.how.dir).problems(); bad != nil {
		t.Errorf("a good server: %v", bad)
	}
	for from, to := range map[string]string{other: served, otherKey: servedKey} {
		s.must(os.Rename(from, to))
	}
	examine(t, s.how.dir).finds(t, name, "still shows another one", "serve --takeover")
}

// TestDoctorReadsTheKeysOfSSH: what keeps everybody out, and a line that lets nobody in.
func TestDoctorReadsTheKeysOfSSH(t *testing.T) {
	t.Parallel()
	const name = "SSH"
	file := filepath.Join(t.TempDir(), "authorized_keys")
	dir := filepath.Join(t.TempDir(), "none")
	put := func(text string, mode os.FileMode) checkup {
		t.Helper()
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
		return examine(t, dir, "EVERTTY_SSH=127.0.0.1:0", "EVERTTY_SSH_AUTHORIZED_KEYS="+file)
	}
	const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHl0D7xUYCVUeVYH4fVZ1RQ8YnsX5sVjtFcE0pK3bDPl me\n"
	if bad := put(key, 0o600).problems(); bad != nil {
		t.Errorf("a good one: %v", bad)
	}
	put("", 0o600).finds(t, name, "nobody can log in", ">> "+file)
	put(key, 0o666).finds(t, name, "others can write to it", "chmod go-w")
	put(key+"restrict "+key, 0o600).finds(t, name, "authorized_keys:2: ", "restrict")
}

// TestDoctorReadsUnits: a unit of systemd that ends all programs with the server, unless a drop-in mends it.
func TestDoctorReadsUnits(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	dir := filepath.Join(config, "none")
	unit := filepath.Join(config, "systemd/user/terminals.service")
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(unit, "[Service]\nExecStart=/usr/bin/evertty serve --takeover\n")
	examine(t, dir, "XDG_CONFIG_HOME="+config).finds(t, "systemd units", "KillMode=control-group",
		"systemctl --user edit terminals.service", "KillMode=process")
	put(unit+".d/kill.conf", "[Service]\nKillMode=process\n")
	if bad := examine(t, dir, "XDG_CONFIG_HOME="+config).problems(); bad != nil {
		t.Errorf("with the drop-in: %v", bad)
	}
}

// TestDoctorOfARunningServer: a healthy one is well; a jump of the clock and damage that the server knows of are told.
func TestDoctorOfARunningServer(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", errors: true})
	i := s.create("sh", "-c", "seq 1000")
	s.exit(i.ID)
	s.shell()
	s.post("/session/x/exec", `{"command":"echo hi"}`).wants(200)
	s.book.add("x")
	if bad := examine(t, s.how.dir).problems(); bad != nil {
		t.Errorf("a healthy server: %v", bad)
	}
	earlier := time.Now().Add(-3 * time.Hour)
	s.must(os.Chtimes(s.file("lock"), earlier, earlier))
	examine(t, s.how.dir).finds(t, "clock", "jumped by 3h", "timedatectl")
	s.stop()
	flip(t, s.file("terminals", i.ID, "screen.*"))
	s.again()
	eventually(t, "the server has read the files", func() bool { return s.info(i.ID).Damage != "" })
	examine(t, s.how.dir).finds(t, "journals and snapshots", i.ID, "damaged", "evertty restore")
}

// TestDoctorOfAServerThatHangs: one that has the directory and does not answer.
func TestDoctorOfAServerThatHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "serve"), 0o600); err != nil {
		t.Fatal(err)
	}
	fake := exec.Command("cat")
	fake.Args, fake.Dir = []string{"evertty", "serve"}, dir // waits for the FIFO
	if err := fake.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = fake.Process.Kill()
		_ = fake.Wait()
	})
	l, err := net.Listen("unix", filepath.Join(dir, "server.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, text := range map[string]string{"lock": strconv.Itoa(fake.Process.Pid),
		"server.json": `{"url":"http://127.0.0.1:1"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := run(t, call(t, nil, "doctor", "--data-dir", dir))
	if out.code != 1 || !strings.Contains(out.stdout, "it hangs") ||
		!strings.Contains(out.stdout, "serve --takeover --data-dir "+dir) {
		t.Errorf("%+v", out)
	}
}

// TestDoctorFindsLeftProcesses: a program that outlives its keeper and its server is named.
func TestDoctorFindsLeftProcesses(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token", errors: true})
	id := s.shell().ID
	apart := filepath.Join(t.TempDir(), "pid")
	s.input(id, daemon(apart)+"; echo 'be'gun\n")
	s.await(id, "^begun$")
	left := pidIn(t, apart)
	keeper := s.keeperPID()
	s.kill()
	if bad := examine(t, s.how.dir).problems(); bad != nil {
		t.Errorf("a keeper without a server: %v", bad)
	}
	s.must(syscall.Kill(keeper, syscall.SIGKILL))
	eventually(t, "the keeper has gone", func() bool { return !alive(keeper) })
	examine(t, s.how.dir).finds(t, "processes", strconv.Itoa(left), "kill -9 "+strconv.Itoa(left))
	s.must(syscall.Kill(left, syscall.SIGKILL))
	s.again()
}
