package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

func init() {
	helpers["journal file size limit"] = journalFileSizeLimit
	helpers["append for ever"] = appendForEver
}

// journalFileSizeLimit runs in a process of its own: files may not get longer
// than 3000 bytes.
func journalFileSizeLimit(dir string) error {
	limit := syscall.Rlimit{Cur: 3000, Max: 3000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	s, err := datadir.Open(dir)
	if err != nil {
		return err
	}
	j, err := Open(s, "a", Options{})
	if err != nil {
		return err
	}
	p, buf := bytes.Repeat([]byte("0123456789"), 180), make([]byte, 1800)
	if _, err := j.Append(BytesSource(p), len(p), buf); err != nil {
		return fmt.Errorf("1800 bytes: %w", err)
	}
	got, err := j.Append(BytesSource(p), len(p), buf)
	if !bytes.Equal(got, p) || j.End() != 3600 {
		return fmt.Errorf("%d bytes came back: %w", len(got), err)
	}
	return errors.Join(err, j.Close())
}

func TestJournalWhenFilesMayNotGrow(t *testing.T) {
	dir := t.TempDir()
	out, err := helper(t, "journal file size limit", dir).CombinedOutput()
	if err == nil || !bytes.Contains(out, []byte("no space: true")) || bytes.Contains(out, []byte("bytes")) {
		t.Fatalf("%v: %s", err, out)
	}
	j := openJournal(t, openStore(t, dir), "a", Options{})
	if got := told(readAll(t, j, 0)); !strings.HasPrefix(got, strings.Repeat("0123456789", 180)) || j.End() != 3600 {
		t.Errorf("%d bytes: %.80s, end %d", len(got), got, j.End())
	}
}

// mountSmall mounts a file system of 256 KiB, which takes root.
func mountSmall(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k,mode=0700"); err != nil {
		t.Skipf("cannot mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// fill takes all space that is left, with a file.
func fill(t *testing.T, dir string) (filler string) {
	t.Helper()
	filler = filepath.Join(dir, "filler")
	f, err := os.Create(filler)
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 512))
	}
	must(t, f.Close())
	return filler
}

// TestJournalWhenTheDiskIsFull fills a real file system and makes room again.
// Mounting one takes root; TestJournalGap covers the rest.
func TestJournalWhenTheDiskIsFull(t *testing.T) {
	dir := t.TempDir()
	mountSmall(t, dir)
	s := openStore(t, dir)
	j := openJournal(t, s, "a", Options{Cols: 80, Rows: 24})
	appendText(t, j, "first ")
	must(t, j.Sync())
	filler := fill(t, dir)
	big := strings.Repeat("x", 10_000) // the page that is there has room for some
	got, err := j.Append(BytesSource([]byte(big)), len(big), make([]byte, len(big)))
	if string(got) != big || !errors.Is(err, datadir.ErrNoSpace) || j.End() != 10_006 {
		t.Errorf("%d bytes, end %d, %v", len(got), j.End(), err)
	}
	j.Resized(j.End(), 100, 30)
	j.writer.retry = time.Time{}
	if got, err := j.Append(BytesSource([]byte("lost")), 4, make([]byte, 4)); string(got) != "lost" ||
		!errors.Is(err, datadir.ErrNoSpace) {
		t.Errorf("tried again on a full disk: %q, %v", got, err)
	}
	if err := j.Exit(End{Signal: "KILL"}); !errors.Is(err, datadir.ErrNoSpace) {
		t.Errorf("exit on a full disk: %v", err)
	}
	if k, err := Open(s, "b", Options{}); err == nil {
		if k.Damage() == nil {
			t.Error("a new journal on a full disk says nothing")
		}
		if err := k.Close(); !errors.Is(err, datadir.ErrNoSpace) {
			t.Errorf("closing what was never begun: %v", err)
		}
	}
	must(t, os.Remove(filler))
	j.writer.retry = time.Time{}
	appendText(t, j, "last")
	must(t, j.Flush())
	list := readAll(t, j, 0)
	checkOrder(t, 0, list)
	lost := uint64(0)
	for _, e := range list {
		lost += e.Bytes
	}
	text := told(list)
	if !strings.HasPrefix(text, "first ") || !strings.HasSuffix(text, "][100x30]last") || lost < 4 ||
		j.End() != 10_014 {
		t.Errorf("lost %d, end %d: %.40s…%s", lost, j.End(), text, text[max(0, len(text)-60):])
	}
	must(t, j.Close())
	k := openJournal(t, s, "a", Options{})
	if k.End() != 10_014 || told(readAll(t, k, 0)) != text {
		t.Errorf("opened again: end %d", k.End())
	}
}

// TestJournalFollowsNoLink plants links and other things where files of a journal
// belong.
func TestJournalFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	at := func(name string) string { return filepath.Join(dir, "terminals", "a", name) }
	must(t, os.Mkdir(filepath.Join(dir, "terminals", "a"), 0o700))
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	for _, name := range []string{"data.0", "index.0", "data.6", "index.12"} {
		must(t, os.Symlink(outside, at(name)))
	}
	must(t, syscall.Mkfifo(at("data.20"), 0o600))
	for _, name := range []string{"data.007", "data.-1", "data.99999999999999999999", "data.", "data.1.gz"} {
		must(t, os.WriteFile(at(name), []byte("not ours"), 0o600))
	}
	j := openJournal(t, s, "a", Options{})
	if j.Damage() == nil || j.End() != 0 {
		t.Errorf("end %d, damage %v", j.End(), j.Damage())
	}
	appendText(t, j, "written")
	must(t, j.Close())
	k := openJournal(t, s, "a", Options{})
	if got := told(readAll(t, k, 0)); got != "written" {
		t.Error(got)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "secret" {
		t.Errorf("wrote through a link: %q, %v", b, err)
	}
}

// TestJournalKeepsTwoFilesOpen: a server has thousands of journals.
func TestJournalKeepsTwoFilesOpen(t *testing.T) {
	s := openStore(t, t.TempDir())
	before := openFiles(t)
	j := openJournal(t, s, "a", Options{Segment: 10})
	for range 10 {
		appendText(t, j, "0123456789")
	}
	must(t, j.Sync())
	if n := openFiles(t) - before; n != 2 {
		t.Errorf("%d files open", n)
	}
	if _, err := Read(s, "a"); err != nil || openFiles(t)-before != 2 {
		t.Errorf("reading keeps files open, %v", err)
	}
	must(t, j.Close())
	if n := openFiles(t) - before; n != 0 {
		t.Errorf("%d files open after Close", n)
	}
}

// TestAppendMakesNoGarbage: the path of an echo.
func TestAppendMakesNoGarbage(t *testing.T) {
	s := openStore(t, t.TempDir())
	j := openJournal(t, s, "a", Options{Sync: SyncNone})
	p, buf := make([]byte, 64), make([]byte, 64)
	src := BytesSource(nil)
	if n := testing.AllocsPerRun(2000, func() {
		src.rest = p
		if _, err := j.Append(src, len(p), buf); err != nil {
			t.Fatal(err)
		}
		j.writer.mark.last = j.writer.mark.last.Add(-time.Second) // each has a mark of its own
	}); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{64, 64 << 10} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := openStore(b, b.TempDir())
			j := openJournal(b, s, "a", Options{Sync: SyncNone})
			p, buf := make([]byte, n), make([]byte, n)
			src := BytesSource(nil)
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				src.rest = p
				if _, err := j.Append(src, n, buf); err != nil {
					b.Fatal(err)
				}
				if j.Bytes() > 256<<20 {
					if _, err := j.Trim(j.End(), 64<<20); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkRead reads a journal of many small pieces from its start to its end.
func BenchmarkRead(b *testing.B) {
	s := openStore(b, b.TempDir())
	j := openJournal(b, s, "a", Options{Sync: SyncNone, Segment: 1 << 20})
	p := bytes.Repeat([]byte("a line of output of a terminal\r\n"), 32)
	const pieces = 8 << 10
	for range pieces {
		must(b, j.Write(p))
	}
	b.SetBytes(int64(pieces * len(p)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := j.Read(0)
		must(b, err)
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF || r.Seq() != j.End() {
			b.Fatal(err)
		}
		must(b, r.Close())
	}
}

// appendForEver begins segments all the time and says when it has appended.
func appendForEver(dir string) error {
	s, err := datadir.Open(dir)
	if err != nil {
		return err
	}
	j, err := Open(s, "a", Options{Segment: 64})
	for err == nil {
		err = j.Write([]byte("a line of output of a terminal\n"))
		_, _ = fmt.Fprintln(os.Stdout, "written")
	}
	return err
}

// TestJournalSurvivesKill kills a process that begins segments all the time. Whatever it was doing, positions go on
// where the output ends: a jump would be told as a loss, and nothing is lost.
func TestJournalSurvivesKill(t *testing.T) {
	dir := t.TempDir()
	for round := range 30 {
		cmd := helper(t, "append for ever", dir)
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		guard := time.AfterFunc(deadline, func() { _ = cmd.Process.Kill() })
		lines := bufio.NewReader(out)
		for range 20 + round {
			_, err = lines.ReadString('\n')
			must(t, err)
		}
		must(t, cmd.Process.Kill())
		guard.Stop()
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait() // it was killed
		entries, err := os.ReadDir(filepath.Join(dir, "terminals", "a"))
		must(t, err)
		var end uint64
		for _, e := range entries {
			if offset, _, ok := datadir.SegmentOffset(datadir.DataFile, e.Name()); ok {
				info, err := e.Info()
				must(t, err)
				end = max(end, offset+uint64(info.Size()))
			}
		}
		j, err := Read(openStore(t, dir), "a")
		must(t, err)
		if j.End() != end || j.Damage() != nil || j.Losses() != nil {
			t.Fatalf("round %d: the journal ends at %d, its data at %d: %v, %v", round, j.End(), end, j.Damage(),
				j.Losses())
		}
		must(t, j.Close())
	}
}

// TestPositionsOfAJournalMadeOnAFullDisk: whatever space comes back, no position is given out twice. The
// space is never enough for the data: what a journal may make first is the file that tells where it was.
func TestPositionsOfAJournalMadeOnAFullDisk(t *testing.T) {
	const page, unknown = 4096, 1 << 20
	for pages := range int64(4) {
		t.Run(fmt.Sprint(pages), func(t *testing.T) {
			dir := t.TempDir()
			mountSmall(t, dir)
			s := openStore(t, dir)
			_, err := s.Make("a")
			must(t, err)
			filler := fill(t, dir)
			shown := uint64(0)
			show := func(j *Journal) {
				t.Helper()
				j.writer.retry = time.Time{}
				p := bytes.Repeat([]byte("x"), 4*page)
				if got, err := j.Append(BytesSource(p), len(p), make([]byte, len(p))); len(got) != len(p) ||
					err == nil {
					t.Fatalf("%d bytes, %v", len(got), err)
				}
				shown = j.End()
			}
			for round := range 3 {
				j, err := Open(s, "a", Options{Unknown: unknown << round})
				must(t, err) // it is never closed, as after a kill
				if j.End() < shown || round > 0 && j.Losses() == nil && j.Damage() == nil {
					t.Fatalf("round %d begins at %d behind %d; %v, %v", round, j.End(), shown, j.Losses(), j.Damage())
				}
				if _, known := Issued(s, "a"); known { // killed before anything was done with it
					end := j.End()
					if j, err = Open(s, "a", Options{}); err != nil || j.End() < end {
						t.Fatalf("round %d begins again at %d behind %d, %v", round, j.End(), end, err)
					}
				}
				show(j)
				if round == 0 {
					must(t, os.Truncate(filler, size(t, filler)-pages*page))
				}
				show(j)
			}
		})
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}
