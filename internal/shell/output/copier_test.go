package output

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a test waits for what has to happen.
const patience = 20 * time.Second

// newFIFO makes a FIFO and opens its reading end as the server does.
func newFIFO(t testing.TB) (path string, reader *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "out")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, openEnd(t, path, os.O_RDONLY|unix.O_NONBLOCK)
}

// openEnd opens an end of a FIFO.
func openEnd(t testing.TB, path string, flags int) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, flags, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// newLog opens a log of its own.
func newLog(t testing.TB, limit int64) *Log {
	t.Helper()
	l, err := OpenLog(filepath.Join(t.TempDir(), "stdout"), limit, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// copyInto starts a copier that ends with the test.
func copyInto(t testing.TB, reader *os.File, l *Log, unspliced bool) *Copier {
	t.Helper()
	p, err := Start(reader, l, unspliced)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return p
}

// wait waits for a channel.
func wait(t testing.TB, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s never came", what)
	}
}

// content is all of a log.
func content(t testing.TB, l *Log) []byte {
	t.Helper()
	got, err := io.ReadAll(io.NewSectionReader(l, 0, l.Size()+1))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// noise is random bytes.
func noise(n int) []byte {
	p := make([]byte, n)
	source := rand.NewChaCha8([32]byte{1})
	_, _ = source.Read(p)
	return p
}

func TestCopierMovesEverything(t *testing.T) {
	for name, unspliced := range map[string]bool{"splice": false, "copy": true} {
		t.Run(name, func(t *testing.T) {
			path, reader := newFIFO(t)
			l := newLog(t, 1<<30)
			p := copyInto(t, reader, l, unspliced)
			want := noise(3<<20 + 17)
			go func() {
				w, _ := os.OpenFile(path, os.O_WRONLY, 0)
				_, _ = w.Write(want)
				_ = w.Close()
			}()
			wait(t, p.Done(), "the end")
			if !p.ended() || !l.Finished() || truncated(l) || writeError(l) != nil {
				t.Errorf("ended %v, finished %v, truncated %v, refused %v", p.ended(), l.Finished(), truncated(l),
					writeError(l))
			}
			if got := content(t, l); !bytes.Equal(got, want) {
				t.Errorf("%d bytes of %d arrived, or other ones", len(got), len(want))
			}
			if eof := p.CopyWaiting(); !eof {
				t.Error("settled after the end says that more may come")
			}
		})
	}
}

func TestCopierWaitsForTheFirstWriter(t *testing.T) {
	path, reader := newFIFO(t)
	l := newLog(t, 100)
	p := copyInto(t, reader, l, false)
	if p.CopyWaiting() {
		t.Fatal("a FIFO that nobody has opened is at its end")
	}
	w := openEnd(t, path, os.O_WRONLY)
	if p.CopyWaiting() {
		t.Fatal("a FIFO with a writer is at its end")
	}
	if _, err := os.Stat(l.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log without output has a file: %v", err)
	}
	_ = w.Close()
	wait(t, p.Done(), "the end of a writer that wrote nothing")
	if len(content(t, l)) != 0 {
		t.Error("output from nowhere")
	}
}

func TestCopierSettlesWhatIsThere(t *testing.T) {
	path, reader := newFIFO(t)
	l := newLog(t, 1<<20)
	p := copyInto(t, reader, l, false)
	w := openEnd(t, path, os.O_WRONLY)
	for i := range 500 {
		_, _ = w.Write([]byte{byte(i)})
		if p.CopyWaiting() {
			t.Fatal("an end while a writer is there")
		}
		if l.Size() != int64(i+1) {
			t.Fatalf("settled with %d of %d bytes", l.Size(), i+1)
		}
	}
	_, _ = w.Write([]byte("last"))
	_ = w.Close()
	if !p.CopyWaiting() {
		t.Fatal("no end after the last writer")
	}
	if got := content(t, l); len(got) != 504 || string(got[500:]) != "last" {
		t.Errorf("%d bytes", len(got))
	}
}

// A writer that never stops must not keep settled from returning.
func TestCopierSettlesBesideAFlood(t *testing.T) {
	path, reader := newFIFO(t)
	l := newLog(t, 1<<10)
	p := copyInto(t, reader, l, false)
	w := openEnd(t, path, os.O_WRONLY)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		piece := make([]byte, 4096)
		for {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}()
	for n := 0; n < 50 || !truncated(l); n++ {
		at := time.Now()
		if p.CopyWaiting() {
			t.Fatal("an end in a flood")
		}
		if took := time.Since(at); took > patience {
			t.Fatalf("settled took %v", took)
		}
	}
	p.Stop()
	_ = w.Close()
	wait(t, stopped, "the writer's end")
	if got := l.Size(); got != 1<<10 || !truncated(l) {
		t.Errorf("size %d, truncated %v", got, truncated(l))
	}
}

func TestLogKeepsMax(t *testing.T) {
	for _, one := range []struct {
		name      string
		n         int
		unspliced bool
		cut       bool
	}{{"less", 999, false, false}, {"exactly", 1000, false, false}, {"more", 200_000, false, true}, {"more, copied",
		200_000, true, true}} {
		t.Run(one.name, func(t *testing.T) {
			path, reader := newFIFO(t)
			l := newLog(t, 1000)
			p := copyInto(t, reader, l, one.unspliced)
			want := noise(one.n)
			w := openEnd(t, path, os.O_WRONLY)
			if _, err := w.Write(want); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			wait(t, p.Done(), "the end")
			if got := content(t, l); !bytes.Equal(got, want[:min(1000, one.n)]) {
				t.Errorf("%d bytes", len(got))
			}
			again, err := OpenLog(l.path, 1000, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if truncated(l) != one.cut || truncated(again) != one.cut || again.Size() != l.Size() {
				t.Errorf("truncated %v, after opening again %v with %d bytes", truncated(l), truncated(again),
					again.Size())
			}
		})
	}
}

// A disk that refuses must not hold up the command. /dev/full stands for it: every write to it is ENOSPC.
func TestLogOnAFullDisk(t *testing.T) {
	for name, unspliced := range map[string]bool{"splice": false, "copy": true} {
		t.Run(name, func(t *testing.T) {
			path, reader := newFIFO(t)
			full := filepath.Join(t.TempDir(), "stdout")
			if err := os.Symlink("/dev/full", full); err != nil {
				t.Fatal(err)
			}
			before, err := os.Stat(full)
			if err != nil {
				t.Fatal(err)
			}
			l, err := OpenLog(full, 1<<20, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := copyInto(t, reader, l, unspliced)
			w := openEnd(t, path, os.O_WRONLY)
			if _, err := w.Write(noise(300_000)); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			wait(t, p.Done(), "the end")
			if !truncated(l) || writeError(l) == nil {
				t.Errorf("truncated %v, refused %v", truncated(l), writeError(l))
			}
			if after, err := os.Stat(full); err != nil || after.Mode() != before.Mode() {
				t.Errorf("the device was marked: %v, %v", after.Mode(), err)
			}
		})
	}
}

// What a copier left in the FIFO, the next one moves: nothing is lost or doubled.
func TestCopierLeavesTheRestToTheNext(t *testing.T) {
	path, reader := newFIFO(t)
	l := newLog(t, 1<<30)
	want := noise(8 << 20)
	writer := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.Write(want)
			err = errors.Join(err, w.Close())
		}
		writer <- err
	}()
	kept, err := unix.FcntlInt(reader.Fd(), unix.F_DUPFD_CLOEXEC, 0) // what the keeper holds
	if err != nil {
		t.Fatal(err)
	}
	held := os.NewFile(uintptr(kept), "held")
	defer held.Close()
	for range 20 {
		fd, err := unix.FcntlInt(held.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if l, err = OpenLog(l.path, 1<<30, nil, nil); err != nil {
			t.Fatal(err)
		}
		p, err := Start(os.NewFile(uintptr(fd), "again"), l, false)
		if err != nil {
			t.Fatal(err)
		}
		at := l.Size()
		_, _ = Follow(t.Context(), l, nil, at, 0)
		p.Stop()
	}
	if l, err = OpenLog(l.path, 1<<30, nil, nil); err != nil {
		t.Fatal(err)
	}
	p := copyInto(t, reader, l, false)
	wait(t, p.Done(), "the end")
	if err := <-writer; err != nil {
		t.Fatal(err)
	}
	if got := content(t, l); !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, or other ones", len(got), len(want))
	}
}

// copierChild says to the test binary that it is the server of TestCopierSurvivesSIGKILL, and where the log is.
const copierChild = "TEST_COPIER_LOG"

// TestCopierChild is that server: descriptor 3 is the FIFO.
func TestCopierChild(t *testing.T) {
	path := os.Getenv(copierChild)
	if path == "" {
		t.Skip("only as a child of TestCopierSurvivesSIGKILL")
	}
	l, err := OpenLog(path, 1<<30, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(os.NewFile(3, "fifo"), l, false)
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
}

// Servers that are killed in the middle of moving neither lose nor double a byte.
func TestCopierSurvivesSIGKILL(t *testing.T) {
	path, reader := newFIFO(t)
	logPath := filepath.Join(t.TempDir(), "stdout")
	want := noise(48 << 20)
	writer := make(chan error, 1)
	go func() {
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = w.Write(want)
			err = errors.Join(err, w.Close())
		}
		writer <- err
	}()
	serve := func() *exec.Cmd {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCopierChild$")
		cmd.Env = append(os.Environ(), copierChild+"="+logPath)
		cmd.ExtraFiles = []*os.File{reader}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	size := func() int64 {
		if info, err := os.Stat(logPath); err == nil {
			return info.Size()
		}
		return 0
	}
	killed := 0
	for int(size()) < len(want) {
		cmd, from := serve(), size()
		// Killed as soon as it has moved something, while it moves more.
		tick := time.NewTicker(50 * time.Microsecond)
		for until := time.Now().Add(patience); size() == from && time.Now().Before(until); <-tick.C {
		}
		tick.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if int(size()) < len(want) {
			killed++
		}
		if killed == 20 {
			break
		}
	}
	last := serve()
	if err := last.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := <-writer; err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(logPath)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d after %d killed servers, or other ones", len(got), len(want), killed)
	}
	if killed == 0 {
		t.Error("no server was killed in the middle")
	}
	t.Logf("%d servers were killed", killed)
}

func TestFollow(t *testing.T) {
	path, reader := newFIFO(t)
	a, b := newLog(t, 100), newLog(t, 100)
	p := copyInto(t, reader, a, false)
	w := openEnd(t, path, os.O_WRONLY)
	late, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := Follow(late, a, b, 0, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("err = %v", err)
	}
	type answer struct {
		more bool
		err  error
	}
	got := make(chan answer, 10)
	for range cap(got) {
		go func() {
			more, err := Follow(t.Context(), a, b, 0, 0)
			got <- answer{more, err}
		}()
	}
	_, _ = w.Write([]byte("x"))
	for range cap(got) {
		if g := <-got; !g.more || g.err != nil {
			t.Errorf("%+v", g)
		}
	}
	_ = w.Close()
	wait(t, p.Done(), "the end")
	go func() { b.Finish() }()
	if more, err := Follow(t.Context(), a, b, 1, 0); more || err != nil {
		t.Errorf("more %v, err %v after both are finished", more, err)
	}
	if more, err := Follow(t.Context(), nil, a, 0, 0); !more || err != nil {
		t.Errorf("more %v, err %v for what is there already", more, err)
	}
}

func TestCopierClosesItsDescriptors(t *testing.T) {
	open := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before, routines := open(), runtime.NumGoroutine()
	for i := range 50 {
		path, reader := newFIFO(t)
		l := newLog(t, 100)
		p, err := Start(reader, l, false)
		if err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte("x"))
		if i%2 == 0 {
			p.Stop()
		}
		_ = w.Close()
		wait(t, p.Done(), "the end")
	}
	if after := open(); after > before+3 {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	if after := runtime.NumGoroutine(); after > routines+3 {
		t.Errorf("%d goroutines before, %d after", routines, after)
	}
}

func BenchmarkCopier(b *testing.B) {
	for name, unspliced := range map[string]bool{"splice": false, "copy": true} {
		b.Run(name, func(b *testing.B) {
			path, reader := newFIFO(b)
			l := newLog(b, 1<<40)
			p := copyInto(b, reader, l, unspliced)
			w := openEnd(b, path, os.O_WRONLY)
			piece := noise(64 << 10)
			b.SetBytes(int64(len(piece)))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, err := w.Write(piece); err != nil {
					b.Fatal(err)
				}
			}
			_ = w.Close()
			wait(b, p.Done(), "the end")
		})
	}
}

// truncated reports whether a log misses output.
func truncated(l *Log) bool { return l.CutReason() != "" }

// writeError is why the disk did not take all.
func writeError(l *Log) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}
