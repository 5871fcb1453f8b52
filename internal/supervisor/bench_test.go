package supervisor_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/pty"
)

// path is a way of output from a terminal to the disk and to a buffer.
type path interface {
	// next waits for output, has it on disk and returns it.
	next(buf []byte) ([]byte, error)
}

// plain reads and writes: what is simplest, and loses at a kill what it holds.
type plain struct {
	process *pty.Process
	file    *os.File
}

func (p *plain) next(buf []byte) ([]byte, error) {
	n, err := p.process.Read(buf)
	if n > 0 {
		if _, err := p.file.Write(buf[:n]); err != nil {
			return nil, err
		}
	}
	return buf[:n], err
}

// journaled is what run does.
type journaled struct {
	process *pty.Process
	pipe    *pty.Pipe
	journal *journal.Journal
}

func (j *journaled) next(buf []byte) ([]byte, error) {
	n, err := j.process.Fill(j.pipe, len(buf))
	if n == 0 {
		return nil, err
	}
	p, e := j.journal.Append(j.pipe, n, buf)
	if e != nil {
		return nil, e
	}
	return p, err
}

// ways starts one program for each way.
func ways(b *testing.B, cmd ...string) map[string]func() (*pty.Process, path) {
	spec := pty.Spec{Argv: cmd, Cols: 80, Rows: 24}
	begin := func(b *testing.B) *pty.Process {
		p, err := pty.Start(spec)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			_ = p.Kill(context.Background())
			_ = p.Close()
		})
		return p
	}
	dir := b.TempDir()
	return map[string]func() (*pty.Process, path){
		"plain": func() (*pty.Process, path) {
			f, err := os.Create(filepath.Join(dir, "plain"))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = f.Close() })
			p := begin(b)
			return p, &plain{p, f}
		},
		"journaled": func() (*pty.Process, path) {
			store, err := datadir.Open(filepath.Join(dir, "data"))
			if err != nil {
				b.Fatal(err)
			}
			if err := store.Remove("a"); err != nil {
				b.Fatal(err)
			}
			journal, err := journal.Open(store, "a", journal.Options{Cols: 80, Rows: 24})
			if err != nil {
				b.Fatal(err)
			}
			pipe, err := pty.NewPipe()
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() {
				_ = journal.Close()
				_ = pipe.Close()
				_ = store.Close()
			})
			p := begin(b)
			return p, &journaled{p, pipe, journal}
		},
	}
}

// BenchmarkFlood is the speed of a program that prints without end. The two ways
// take turns, so that a noisy machine is noisy for both.
func BenchmarkFlood(b *testing.B) {
	const piece = 16 << 20 // bytes of one turn
	sources := ways(b, "sh", "-c", "stty raw -echo; exec cat /dev/zero")
	paths := map[string]path{}
	for name, begin := range sources {
		_, paths[name] = begin()
	}
	took := map[string][]time.Duration{}
	buf := make([]byte, 64<<10)
	for b.Loop() {
		for name, p := range paths {
			start := time.Now()
			for n := 0; n < piece; {
				got, err := p.next(buf)
				if err != nil {
					b.Fatal(err)
				}
				n += len(got)
			}
			took[name] = append(took[name], time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op")
	for name, all := range took {
		b.ReportMetric(piece/median(all).Seconds()/1e6, name+"-MB/s")
	}
	b.ReportMetric(float64(median(took["plain"]))/float64(median(took["journaled"])), "ratio")
}

// BenchmarkEcho is the time from a key to its echo, on disk and in memory.
func BenchmarkEcho(b *testing.B) {
	took := map[string][]time.Duration{}
	type pair struct {
		process *pty.Process
		path    path
	}
	pairs := map[string]pair{}
	for name, begin := range ways(b, "sh", "-c", "stty raw -echo; exec cat") {
		process, p := begin()
		pairs[name] = pair{process, p}
	}
	buf := make([]byte, 4<<10)
	for b.Loop() {
		for name, p := range pairs {
			start := time.Now()
			if _, err := p.process.Write(context.Background(), []byte{'x'}); err != nil {
				b.Fatal(err)
			}
			if _, err := p.path.next(buf); err != nil {
				b.Fatal(err)
			}
			took[name] = append(took[name], time.Since(start))
		}
	}
	b.ReportMetric(0, "ns/op")
	for name, all := range took {
		b.ReportMetric(float64(median(all).Microseconds()), name+"-p50-us")
	}
	b.ReportMetric(float64((median(took["journaled"]) - median(took["plain"])).Microseconds()), "added-us")
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
