package datadir

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/snapshot"
)

// helpers are what this test binary does when it is started as a child: things
// that change a whole process, or that end it.
var helpers = map[string]func(dir string) error{
	"umask 000": func(dir string) error { syscall.Umask(0); return fill(dir) },
	"umask 777": func(dir string) error { syscall.Umask(0o777); return fill(dir) },
	"file size limit": func(dir string) error {
		s, err := Open(dir)
		if err != nil {
			return err
		}
		if err := s.Save("a", snapshot.Header{}, titled("old")); err != nil {
			return err
		}
		limit := syscall.Rlimit{Cur: 100, Max: 100}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		return s.Save("a", snapshot.Header{}, titled("new"))
	},
	"open": func(dir string) error { _, err := Open(dir); return err },
	"save for ever": func(dir string) error {
		release, err := Lock(dir)
		if err != nil {
			return err
		}
		defer release()
		s, err := Open(dir)
		for i := 0; err == nil; i++ {
			err = errors.Join(s.Save("a", snapshot.Header{Seq: uint64(i)}, titled(fmt.Sprint(i))),
				s.SaveMeta("a", []byte(fmt.Sprint(i))))
			_, _ = fmt.Fprintln(os.Stdout, "saved", i)
		}
		return err
	},
}

func fill(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	release, err := Lock(dir)
	if err != nil {
		return err
	}
	defer release()
	return errors.Join(s.SaveMeta("a", []byte("{}")), s.Save("a", snapshot.Header{}, smallFrame()),
		s.Save("b", snapshot.Header{}, smallFrame()))
}

func TestMain(m *testing.M) {
	if name := os.Getenv("DATADIR_TEST_HELPER"); name != "" {
		if err := helpers[name](os.Getenv("DATADIR_TEST_DIR")); err != nil {
			_, _ = fmt.Fprintln(os.Stdout, "error:", err, "| no space:", errors.Is(err, ErrNoSpace), "| read only:",
				errors.Is(err, ErrReadOnly))
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helper is the test binary as a child that runs a helper on dir.
func helper(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "DATADIR_TEST_HELPER="+name, "DATADIR_TEST_DIR="+dir)
	return cmd
}

func TestStoreModesWhateverTheUmask(t *testing.T) {
	for _, umask := range []string{"umask 000", "umask 777"} {
		t.Run(umask, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if umask == "umask 777" { // not even the parents of a new directory could be made
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if out, err := helper(t, umask, dir).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkModes(t, dir)
		})
	}
}

func TestStoreKeepsTheOldWhenFilesMayNotGrow(t *testing.T) {
	dir := t.TempDir()
	out, err := helper(t, "file size limit", dir).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("no space: true")) {
		t.Fatalf("%v: %s", err, out)
	}
	s := openStore(t, dir)
	if got, err := s.Load("a"); err != nil || got.Frame.Title != "old" || got.Damage != nil {
		t.Errorf("%v, %v", got.Damage, err)
	}
	if got := files(t, dir, "a"); len(got) != 1 {
		t.Errorf("left %q", got)
	}
}

// TestStoreKeepsTheOldWhenTheDiskIsFull fills a real file system. Mounting one
// takes root; TestStoreKeepsTheOldWhenFilesMayNotGrow covers the rest.
func TestStoreKeepsTheOldWhenTheDiskIsFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := openStore(t, dir)
	mustSave(t, s, "a", "old")
	if err := s.SaveMeta("a", []byte("old")); err != nil {
		t.Fatal(err)
	}
	filler, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(make([]byte, 512))
	}
	_ = filler.Close()
	big := titled(strings.Repeat("new", 10_000))
	for name, err := range map[string]error{
		"Save": s.Save("a", snapshot.Header{}, big), "SaveMeta": s.SaveMeta("a", make([]byte, 50_000)),
		"Save of a new terminal": s.Save("b", snapshot.Header{}, big),
	} {
		if !errors.Is(err, ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, err := s.Load("a"); err != nil || got.Frame.Title != "old" || got.Damage != nil {
		t.Errorf("%v, %v", got.Damage, err)
	}
	if got, _, err := s.LoadMeta("a"); string(got) != "old" {
		t.Errorf("metadata %q, %v", got, err)
	}
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Fatal(err)
	}
	mustSave(t, s, "a", "new")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), dir) {
		t.Errorf("read-only file system: %v", err)
	}
}

// TestStoreRefusesAReadOnlyDirectory runs as a user for whom modes count.
func TestStoreRefusesAReadOnlyDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	cmd := helper(t, "open", dir)
	if os.Geteuid() == 0 {
		const nobody = 65534
		cmd.Path = copyBinary(t, cmd.Path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	out, err := cmd.CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("read only: true")) || !bytes.Contains(out, []byte(dir)) ||
		!bytes.Contains(out, []byte("0500")) {
		t.Errorf("%v: %s", err, out)
	}
}

// must ends the test when a preparation failed.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// copyBinary puts the test binary where another user may run it.
func copyBinary(t *testing.T, path string) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		must(t, os.Chmod(d, 0o755))
	}
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "binary"), b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "binary")
}

// TestStoreSurvivesKill kills a process that saves all the time. What it said to
// be saved is there, and its lock is gone with it.
func TestStoreSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	for round := range 5 {
		cmd := helper(t, "save for ever", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		guard := time.AfterFunc(deadline, func() { _ = cmd.Process.Kill() })
		lines := bufio.NewReader(out)
		for range 3 + 7*round {
			_, _ = lines.ReadString('\n') // what is missing shows in what was saved
		}
		if round == 0 {
			if _, err := Lock(dir); !errors.Is(err, ErrLocked) ||
				!strings.Contains(err.Error(), fmt.Sprint("process ", cmd.Process.Pid)) ||
				!strings.Contains(err.Error(), dir) {
				t.Errorf("lock held by another process: %v", err)
			}
		}
		must(t, cmd.Process.Kill())
		rest, _ := io.ReadAll(lines)
		guard.Stop()
		_ = cmd.Wait() // it was killed
		said := uint64(2 + 7*round + bytes.Count(rest, []byte("\n")))
		s := openStore(t, dir)
		got, err := s.Load("a")
		if err != nil || got.Damage != nil || got.Header.Seq < said {
			t.Fatalf("round %d: seq %d, said %d: %v, %v", round, got.Header.Seq, said, got.Damage, err)
		}
		if meta, _, err := s.LoadMeta("a"); err != nil || len(meta) == 0 {
			t.Errorf("metadata %q, %v", meta, err)
		}
		release, err := Lock(dir)
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	before := openFiles(t)
	release, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrLocked) ||
		!strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Errorf("second lock: %v", err)
	}
	release()
	release()
	again, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	again()
	if after := openFiles(t); after > before {
		t.Errorf("%d files open, %d before", after, before)
	}
	path := filepath.Join(dir, "lock")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	must(t, os.WriteFile(path, []byte("12345678901234567890\n"), 0o600)) // of a process with a longer number
	again, err = Lock(dir)
	must(t, err)
	if b, err := os.ReadFile(path); err != nil || string(b) != fmt.Sprintln(os.Getpid()) {
		t.Errorf("it names %q, %v", b, err)
	}
	again()
	target := filepath.Join(t.TempDir(), "target")
	must(t, os.WriteFile(target, []byte("keep"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "inside"), []byte("keep"), 0o600))
	for _, link := range []string{target, "inside"} {
		must(t, os.Remove(path))
		if err := os.Symlink(link, path); err != nil {
			t.Fatal(err)
		}
		if _, err := Lock(dir); err == nil {
			t.Errorf("locked through a link to %s", link)
		}
	}
	for _, p := range []string{target, filepath.Join(dir, "inside")} {
		if b, _ := os.ReadFile(p); string(b) != "keep" {
			t.Errorf("%s was overwritten through a link", p)
		}
	}
}
