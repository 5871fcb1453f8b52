package pty_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
)

// forkExec runs a mode with these descriptors, without os/exec, which would make them blocking.
func forkExec(fds []uintptr, mode string) (int, error) {
	env := append(os.Environ(), modeVar+"="+mode, "GORACE=atexit_sleep_ms=0")
	return syscall.ForkExec(os.Args[0], []string{os.Args[0]}, &syscall.ProcAttr{Env: env, Files: fds})
}

// put writes into a pipe as a terminal's output would get there.
func put(pipe *pty.Pipe, b []byte) error {
	return pipe.Control(func(_, w int) error {
		n, err := unix.Write(w, b)
		if n != len(b) {
			return fmt.Errorf("%d of %d bytes: %w", n, len(b), err)
		}
		return err
	})
}

func TestPipe(t *testing.T) {
	fds := openFDs()
	pipe, err := pty.NewPipe()
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if n, err := pipe.Read(buf); n != 0 || err != nil {
		t.Errorf("empty: %d, %v", n, err)
	}
	var other *pty.Pipe
	if err := pipe.Control(func(r, w int) error {
		for _, fd := range []int{r, w} {
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err != nil || flags&unix.O_NONBLOCK == 0 {
				t.Errorf("blocking: %#x, %v", flags, err)
			}
			if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
				t.Errorf("inherited: %#x, %v", flags, err)
			}
		}
		other, err = pty.PipeOf(dup(t, r), dup(t, w))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := put(pipe, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if n, err := other.Buffered(); n != 5 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for range 2 {
		pipe.Close()
	}
	if _, err := pipe.Read(buf); !errors.Is(err, pty.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if n, err := other.Read(buf); string(buf[:n]) != "hello" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
	// Close during a use waits for nobody, and the descriptors stay until the use ends.
	if err := other.Control(func(r, _ int) error {
		other.Close()
		_, err := unix.FcntlInt(uintptr(r), unix.F_GETFD, 0)
		return err
	}); err != nil {
		t.Error(err)
	}
	if n := openFDs(); n > fds {
		t.Errorf("%d descriptors instead of %d: %v", n, fds, fdList())
	}
}

func dup(t *testing.T, fd int) int {
	t.Helper()
	copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		t.Fatal(err)
	}
	return copied
}

func TestPipeOfRefuses(t *testing.T) {
	fds := openFDs()
	one, two := newPipe(t), newPipe(t)
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.Close(ends[0]), unix.Close(ends[1]) }()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	_ = one.Control(func(r1, w1 int) error {
		return two.Control(func(r2, w2 int) error {
			for name, pair := range map[string][2]int{
				"two pipes": {r1, w2}, "turned round": {ends[1], ends[0]},
				"twice the same": {ends[0], ends[0]}, "a file": {r1, int(null.Fd())},
			} {
				if p, err := pty.PipeOf(dup(t, pair[0]), dup(t, pair[1])); p != nil || !errors.Is(err, pty.ErrNotPipe) {
					t.Errorf("%s: %v", name, err)
				}
			}
			return nil
		})
	})
	if n := openFDs(); n > fds+5 { // two pipes, a pipe's ends, a file
		t.Errorf("%d descriptors instead of %d: %v", n, fds+5, fdList())
	}
}

// TestPipeIsOneDescriptor: a pipe takes one descriptor, made here or received, by whichever release it was made.
func TestPipeIsOneDescriptor(t *testing.T) {
	fds := openFDs()
	made := newPipe(t)
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	old, err := pty.PipeOf(ends[0], ends[1])
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	_ = made.Control(func(r, w int) error {
		received, err := pty.PipeOf(dup(t, r), dup(t, w))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = received.Close() })
		return nil
	})
	if n := openFDs(); n > fds+3 {
		t.Errorf("three pipes take %d descriptors: %v", n-fds, fdList())
	}
}

func TestMoveToShort(t *testing.T) {
	for _, plain := range []bool{false, true} {
		pipe := newPipe(t)
		if plain {
			pipe.Plain()
		}
		if err := put(pipe, []byte("hello")); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(t.TempDir(), "f"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if n, err := pipe.MoveTo(f, 3, 6); n != 5 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("plain=%v: %d, %v", plain, n, err)
		}
		if got, _ := os.ReadFile(f.Name()); string(got) != "\x00\x00\x00hello" {
			t.Errorf("plain=%v: %q", plain, got)
		}
	}
}

// interrupted moves 30000 bytes into a file that takes fewer at first, makes room, and goes on.
func interrupted(path string, plain bool, want error, makeRoom func() error) error {
	data := noise(30_000)
	pipe, err := pty.NewPipe()
	if err != nil {
		return err
	}
	defer pipe.Close()
	if plain {
		pipe.Plain()
	}
	if err := put(pipe, data); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	moved, err := pipe.MoveTo(f, 0, len(data))
	if !errors.Is(err, want) || moved <= 0 || moved >= len(data) {
		return fmt.Errorf("moved %d: got %w", moved, err)
	}
	left, err := pipe.Buffered()
	if err != nil || left != len(data)-moved {
		return fmt.Errorf("%d in the file, %d in the pipe, %w", moved, left, err)
	}
	if again, err := pipe.MoveTo(f, int64(moved), left); again != 0 || !errors.Is(err, want) {
		return fmt.Errorf("still full: moved %d, %w", again, err)
	}
	if err := makeRoom(); err != nil {
		return err
	}
	if again, err := pipe.MoveTo(f, int64(moved), left); again != left || err != nil {
		return fmt.Errorf("with room: moved %d, %w", again, err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
		return fmt.Errorf("the file differs: %d bytes, %w", len(got), err)
	}
	return nil
}

// limitMode runs into the largest size of a file, which is in the middle of a page.
func limitMode() error {
	signal.Ignore(unix.SIGXFSZ)
	for _, plain := range []bool{false, true} {
		limit := unix.Rlimit{Cur: 10_000, Max: unix.RLIM_INFINITY}
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
			return err
		}
		if err := interrupted("file", plain, unix.EFBIG, func() error {
			limit.Cur = limit.Max
			return unix.Setrlimit(unix.RLIMIT_FSIZE, &limit)
		}); err != nil {
			return fmt.Errorf("plain=%v: %w", plain, err)
		}
	}
	return nil
}

// tmpfsMode runs into a full file system of its own.
func tmpfsMode() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", ".", "tmpfs", 0, "size=32k"); err != nil {
		return err
	}
	dir, err := filepath.Abs(".") // the name leads to what is mounted, the working directory is below it
	if err != nil {
		return err
	}
	ballast := filepath.Join(dir, "ballast")
	for _, plain := range []bool{false, true} {
		if err := os.WriteFile(ballast, make([]byte, 16<<10), 0o600); err != nil {
			return err
		}
		path := filepath.Join(dir, "file")
		if err := interrupted(path, plain, unix.ENOSPC, func() error { return os.Remove(ballast) }); err != nil {
			return fmt.Errorf("plain=%v: %w", plain, err)
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

func TestMoveToFullDisk(t *testing.T) {
	t.Run("limit", func(t *testing.T) {
		reexec(t, "limit", func(cmd *exec.Cmd) { cmd.Dir = t.TempDir() })
	})
	t.Run("tmpfs", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("mounting takes root")
		}
		reexec(t, "tmpfs", func(cmd *exec.Cmd) {
			cmd.Dir = t.TempDir()
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		})
	})
}
