package datadir

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	helpers["hold"] = hold
	helpers["hold for ever"] = func(dir string) error {
		signal.Ignore(syscall.SIGTERM)
		return hold(dir)
	}
}

// hold holds the lock of dir until a signal ends the process.
func hold(dir string) error {
	release, err := Lock(dir)
	if err != nil {
		return err
	}
	defer release()
	fmt.Println("held")
	time.Sleep(time.Hour)
	return nil
}

// holding is a child that has the lock of dir. It is reaped at the end of the test, not when it dies.
func holding(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	cmd := helper(t, name, dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd
}

// TestTakeLock: the holder is asked to leave, and killed only when it has not left by the end of ctx.
func TestTakeLock(t *testing.T) {
	for _, tc := range []struct {
		name    string
		patient time.Duration
		stopped bool
		kills   bool
	}{{"hold", time.Minute, false, false}, {"hold", time.Minute, true, false},
		{"hold for ever", 200 * time.Millisecond, false, true}} {
		dir := t.TempDir()
		cmd := holding(t, tc.name, dir)
		if tc.stopped {
			must(t, cmd.Process.Signal(syscall.SIGSTOP))
		}
		ctx, cancel := context.WithTimeout(t.Context(), tc.patient)
		release, killed, err := TakeLock(ctx, dir)
		cancel()
		if err != nil || (killed == cmd.Process.Pid) != tc.kills || !tc.kills && killed != 0 {
			t.Fatalf("%+v: killed %d of %d, %v", tc, killed, cmd.Process.Pid, err)
		}
		if _, err := Lock(dir); !errors.Is(err, ErrLocked) {
			t.Errorf("%+v: the lock is not held: %v", tc, err)
		}
		release()
	}
}

// TestTakeLockOfAnotherProcess: only a process that has the lock gets a signal, not one whose number the file has.
func TestTakeLockOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	release, err := Lock(dir)
	must(t, err)
	defer release()
	other := exec.Command("sleep", "60")
	must(t, other.Start())
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	for _, content := range []string{fmt.Sprintln(other.Process.Pid), "", "1\n", "0\n", "x\n",
		fmt.Sprintln(os.Getpid())} {
		must(t, os.WriteFile(filepath.Join(dir, "lock"), []byte(content), 0o600))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		_, killed, err := TakeLock(ctx, dir)
		cancel()
		if !errors.Is(err, ErrLocked) || killed != 0 || !strings.Contains(err.Error(), "cannot be asked to leave") {
			t.Errorf("%q: %d, %v", content, killed, err)
		}
	}
	if err := other.Process.Signal(syscall.Signal(0)); err != nil || dying(other.Process.Pid) {
		t.Error("the other process was signalled")
	}
}

// TestLockAfterReturnsAtOnce: a holder that lives is reported before dyingTime is over, and one that is a zombie
// or gone is dying.
func TestLockAfterReturnsAtOnce(t *testing.T) {
	dir := t.TempDir()
	cmd := holding(t, "hold", dir)
	began := time.Now()
	if _, err := LockAfter(dir); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if took := time.Since(began); took < (aliveLooks-1)*lockRetry || took >= dyingTime {
		t.Errorf("took %v", took)
	}
	must(t, cmd.Process.Kill())
	release, err := LockAfter(dir)
	must(t, err)
	release()
	for end := time.Now().Add(time.Minute); !dying(cmd.Process.Pid); { // a zombie
		if time.Now().After(end) {
			t.Fatal("a killed process is not dying")
		}
	}
	if _ = cmd.Wait(); !dying(cmd.Process.Pid) {
		t.Error("a process that is gone is not dying")
	}
	if dying(os.Getpid()) {
		t.Error("this process is dying")
	}
}

// TestTakeLockWithoutADirectory: what keeps a lock from being taken is said, and nobody is signalled for it.
func TestTakeLockWithoutADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	release, killed, err := TakeLock(t.Context(), file)
	if release != nil || killed != 0 || err == nil || errors.Is(err, ErrLocked) {
		t.Errorf("%d, %v", killed, err)
	}
}

// TestLockAfterWaitsForTheDying: a lock whose holder is gone is waited for, for dyingTime and not longer.
func TestLockAfterWaitsForTheDying(t *testing.T) {
	dir := t.TempDir()
	release, err := Lock(dir)
	must(t, err)
	gone := exec.Command("true")
	must(t, gone.Run())
	must(t, os.WriteFile(filepath.Join(dir, "lock"), fmt.Appendln(nil, gone.Process.Pid), 0o600))
	began := time.Now()
	if _, err := LockAfter(dir); !errors.Is(err, ErrLocked) || time.Since(began) < dyingTime {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	time.AfterFunc(10*lockRetry, release)
	again, err := LockAfter(dir)
	must(t, err)
	again()
}
