package pty_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/tests/polling"
)

// noise is n bytes of all values in an order without pattern.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// journaled moves the output of p into f until its end, and returns how much that was.
func journaled(t testing.TB, p *pty.Process, pipe *pty.Pipe, f *os.File) int64 {
	t.Helper()
	var at int64
	for {
		n, err := p.Fill(pipe, 64<<10)
		if err == io.EOF {
			return at
		}
		if err != nil {
			t.Fatal(err)
		}
		if moved, err := pipe.MoveTo(f, at, n); moved != n || err != nil {
			t.Fatalf("%d of %d bytes: %v", moved, n, err)
		}
		at += int64(n)
	}
}

func TestFillExactBytes(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run("plain="+strconv.FormatBool(plain), func(t *testing.T) {
			dir := t.TempDir()
			want := noise(3<<20 + 17)
			file(t, filepath.Join(dir, "noise"), string(want), 0o600)
			journal, err := os.Create(filepath.Join(dir, "journal"))
			if err != nil {
				t.Fatal(err)
			}
			defer journal.Close()
			pipe := newPipe(t)
			if plain {
				pipe.Plain()
			}
			p, err := pty.Start(pty.Spec{Argv: []string{"sh", "-c", "stty raw -echo; exec cat noise"}, Dir: dir,
				Cols: 80, Rows: 24})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if n := journaled(t, p, pipe, journal); n != int64(len(want)) {
				t.Errorf("%d of %d bytes", n, len(want))
			}
			if got, err := os.ReadFile(journal.Name()); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the journal differs: %d bytes, %v", len(got), err)
			}
			<-p.Done()
		})
	}
}

// The end of the output is that of Read.
func TestFillEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script, want string
		code               int
	}{
		{"silent holder", "trap '' HUP; sleep 1000 & (sleep 0.2; echo late) & exit 3", "late\r\n", 3},
		{"flooding holder", "trap '' HUP; echo first; yes & exit 5", "first\r\n", 5},
		{"last words", "echo last; exit 6", "last\r\n", 6},
		{"killed", "echo last; kill -KILL $$", "last\r\n", 137},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := piped(t, "sh", "-c", c.script)
			if got := s.exit(); got.Code != c.code || !strings.Contains(s.text(), c.want) {
				t.Errorf("got %+v, %.100q", got, s.text())
			}
			if n, err := s.Fill(s.pipe, 10); n != 0 || err != io.EOF {
				t.Errorf("after the end: %d, %v", n, err)
			}
		})
	}
}

func TestFillGoesOnAfterReopen(t *testing.T) {
	gate, open := fifo(t)
	s := piped(t, "bash", "-c", "echo first; exec 0<&- 1>&- 2>&-; read x <"+gate+"; echo second >/dev/tty; exit 5")
	s.expect("first")
	if !polling.Until(patience, func() bool { return !holdsTerminal(s.PID()) }) {
		t.Fatal("the child keeps its terminal")
	}
	began, before := time.Now(), cpuTime(t)
	open()
	s.expect("second")
	if used := cpuTime(t) - before; used > 100*time.Millisecond && used > time.Since(began)/4 {
		t.Errorf("%v of processor time", used)
	}
	if got := s.exit(); got.Code != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestCloseReleasesFill(t *testing.T) {
	p, err := pty.Start(pty.Spec{Argv: []string{"sh", "-c", "echo ready; exec sleep 1000"}, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	pipe := newPipe(t)
	if n, err := p.Fill(pipe, 0); n != 0 || err != nil {
		t.Errorf("nothing asked for: %d, %v", n, err)
	}
	if n, err := p.Fill(pipe, 1000); n != len("ready\r\n") || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		close(started)
		_, err := p.Fill(pipe, 100)
		ended <- err
	}()
	<-started
	p.Close()
	select {
	case err := <-ended:
		if !errors.Is(err, pty.ErrClosed) {
			t.Errorf("Fill: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Fill hangs after Close")
	}
	if err := p.Kill(now()); err != nil {
		t.Error(err)
	}
	<-p.Done()
}

// A pipe that nobody empties takes what fits; nothing is lost of the rest.
func TestFillFullPipe(t *testing.T) {
	want := noise(512 << 10)
	for _, plain := range []bool{false, true} {
		dir := t.TempDir()
		file(t, filepath.Join(dir, "noise"), string(want), 0o600)
		pipe := newPipe(t)
		if plain {
			pipe.Plain()
		}
		p, err := pty.Start(pty.Spec{Argv: []string{"sh", "-c", "stty raw -echo; exec cat noise"}, Dir: dir, Cols: 80,
			Rows: 24})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		var got []byte
		full, buf := 0, make([]byte, 1<<20)
		for {
			n, err := p.Fill(pipe, 1<<20)
			if err == io.EOF {
				break
			}
			if err == nil {
				continue
			}
			if n != 0 || !errors.Is(err, pty.ErrPipeFull) {
				t.Fatalf("%d, %v", n, err)
			}
			full++
			if n, err = pipe.Read(buf); err != nil {
				t.Fatal(err)
			}
			got = append(got, buf[:n]...)
		}
		n, err := pipe.Read(buf)
		if got = append(got, buf[:n]...); err != nil || !bytes.Equal(got, want) || !plain && full < 4 {
			t.Errorf("plain=%v: %d bytes, full %d times, %v", plain, len(got), full, err)
		}
		<-p.Done()
	}
}

// A pipe may become plain at any time: the order stays.
func TestPlainAfterSplice(t *testing.T) {
	s, err := pty.Start(pty.Spec{Argv: []string{"sh", "-c",
		"stty raw -echo; echo one; read x; echo two; read x; exit 0"},
		Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	pipe := newPipe(t)
	fill := func() {
		t.Helper()
		if n, err := s.Fill(pipe, 100); n != 4 || err != nil {
			t.Fatal(n, err)
		}
	}
	fill()
	pipe.Plain()
	if _, err := s.Write(limited(t, patience), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	fill()
	buf := make([]byte, 100)
	if n, err := pipe.Buffered(); n != 8 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := pipe.Read(buf); string(buf[:n]) != "one\ntwo\n" || err != nil {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if err := s.Kill(now()); err != nil {
		t.Error(err)
	}
}

func TestProbeSplice(t *testing.T) {
	fds := openFDs()
	dir := t.TempDir()
	if err := pty.ProbeSplice(dir); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if err := pty.ProbeSplice(dir + "/none"); !errors.Is(err, unix.ENOENT) {
		t.Errorf("got %v", err)
	}
	if n := openFDs(); n > fds {
		t.Errorf("%d descriptors instead of %d: %v", n, fds, fdList())
	}
}

// splicerMode moves output until it is killed. Descriptors: 3 the terminal, 4 and 5 the pipe, 6 the journal.
func splicerMode() error {
	m, err := pty.NewMaster(3)
	if err != nil {
		return err
	}
	pipe, err := pty.PipeOf(4, 5)
	if err != nil {
		return err
	}
	journal := os.NewFile(6, "journal")
	for {
		if err := catchUp(pipe, journal); err != nil {
			return err
		}
		if _, err := m.Fill(pipe, 64<<10); err != nil {
			return err
		}
	}
}

// catchUp moves all that waits in a pipe to the end of a file.
func catchUp(pipe *pty.Pipe, journal *os.File) error {
	info, err := journal.Stat()
	if err != nil {
		return err
	}
	n, err := pipe.Buffered()
	if err != nil {
		return err
	}
	_, err = pipe.MoveTo(journal, info.Size(), n)
	return err
}

// The heart: a process that moves output is killed at any time, and no byte is lost or doubled as long as somebody else
// holds terminal and pipe.
func TestKilledSplicerLosesNothing(t *testing.T) {
	const kills = 50
	dir := t.TempDir()
	want := noise(1 << 20)
	file(t, filepath.Join(dir, "noise"), string(want), 0o600)
	journal, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	pipe := newPipe(t)
	p, err := pty.Start(pty.Spec{Argv: []string{"sh", "-c", "stty raw -echo; while [ ! -e stop ]; do cat noise; done"},
		Dir: dir, Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	inside := 0
	for range kills {
		splicer := startSplicer(t, p.Master(), pipe, journal)
		target := fileSize(t, journal) + 1 + rand.Int64N(512<<10)
		if !polling.Until(patience, func() bool { return fileSize(t, journal) >= target }) {
			t.Fatal("nothing moves")
		}
		_ = splicer.Kill()
		if _, err := splicer.Wait(); err != nil {
			t.Fatal(err)
		}
		if n, err := pipe.Buffered(); err != nil {
			t.Fatal(err)
		} else if n > 0 {
			inside++
		}
	}
	file(t, filepath.Join(dir, "stop"), "", 0o600)
	for err == nil {
		if err = catchUp(pipe, journal); err == nil {
			_, err = p.Fill(pipe, 64<<10)
		}
	}
	if err != io.EOF {
		t.Fatal(err)
	}
	t.Logf("%d bytes; %d of %d kills left some in the pipe", fileSize(t, journal), inside, kills)
	expectRepeated(t, journal.Name(), want)
}

func expectRepeated(t *testing.T, path string, want []byte) {
	t.Helper()
	all, err := os.ReadFile(path)
	if err != nil || len(all) == 0 || len(all)%len(want) != 0 {
		t.Fatalf("%d bytes, not a multiple of %d: %v", len(all), len(want), err)
	}
	for part := range slices.Chunk(all, len(want)) {
		if !bytes.Equal(part, want) {
			t.Fatal("the journal differs")
		}
	}
}

func fileSize(t *testing.T, f *os.File) int64 {
	t.Helper()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// startSplicer runs splicerMode.
func startSplicer(t *testing.T, m *pty.Master, pipe *pty.Pipe, journal *os.File) *os.Process {
	t.Helper()
	var files []*os.File
	lend := func(fd int) { // the child gets the duplicate, which is non-blocking as all of them
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, os.NewFile(uintptr(dup), "lent"))
	}
	if err := m.SyscallConn().Control(func(fd uintptr) { lend(int(fd)) }); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Control(func(r, w int) error { lend(r); lend(w); return nil }); err != nil {
		t.Fatal(err)
	}
	lend(int(journal.Fd()))
	fds := []uintptr{0, 1, 2}
	for _, f := range files {
		conn, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.Control(func(fd uintptr) { fds = append(fds, fd) })
		defer f.Close()
	}
	pid, err := forkExec(fds, "splicer")
	if err != nil {
		t.Fatal(err)
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	return process
}
