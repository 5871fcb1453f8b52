package pty_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/evertty/evertty/pty"
)

// floodSize is the output of one run, in bytes.
const floodSize = 64 << 20

// BenchmarkFlood measures how fast output is read that a program writes as fast as it can.
func BenchmarkFlood(b *testing.B) {
	path := filepath.Join(b.TempDir(), "flood")
	if err := os.WriteFile(path, bytes.Repeat([]byte("0123456789abcde\n"), floodSize/16), 0o600); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 64<<10)
	b.SetBytes(floodSize)
	reads := 0
	for b.Loop() {
		p, err := pty.Start(pty.Spec{Argv: []string{"sh", "-c", "stty raw -echo; exec cat " + path}, Cols: 80,
			Rows: 24})
		if err != nil {
			b.Fatal(err)
		}
		total := 0
		for {
			n, err := p.Read(buf)
			total += n
			reads++
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		p.Close()
		if <-p.Done(); total != floodSize {
			b.Fatalf("%d bytes", total)
		}
	}
	b.ReportMetric(float64(floodSize)*float64(b.N)/float64(reads)/1024, "KiB/read")
}

// BenchmarkJournaledFlood measures output on its way into a file and into memory: read and written, or spliced and read
// back.
func BenchmarkJournaledFlood(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "flood"), bytes.Repeat([]byte("0123456789abcde\n"), floodSize/16),
		0o600); err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 64<<10)
	b.Run("plain", func(b *testing.B) {
		benchmarkJournal(b, dir, func(p *pty.Process, f *os.File, at int64) (int, error) {
			n, err := p.Read(buf)
			if err == nil {
				_, err = f.WriteAt(buf[:n], at)
			}
			return n, err
		})
	})
	b.Run("spliced", func(b *testing.B) {
		pipe := newPipe(b)
		benchmarkJournal(b, dir, func(p *pty.Process, f *os.File, at int64) (int, error) {
			n, err := p.Fill(pipe, len(buf))
			if err == nil {
				_, err = pipe.MoveTo(f, at, n)
			}
			if err == nil {
				_, err = f.ReadAt(buf[:n], at)
			}
			return n, err
		})
	})
}

// benchmarkJournal floods a terminal whose output move takes piece by piece, over a segment of 8 MiB again and again.
func benchmarkJournal(b *testing.B, dir string, move func(p *pty.Process, f *os.File, at int64) (int, error)) {
	const segment = 8 << 20
	f, err := os.Create(filepath.Join(dir, "journal"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	b.SetBytes(floodSize)
	moves := 0
	for b.Loop() {
		p, err := pty.Start(pty.Spec{Argv: []string{"sh", "-c", "stty raw -echo; exec cat flood"}, Dir: dir, Cols: 80,
			Rows: 24})
		if err != nil {
			b.Fatal(err)
		}
		total := 0
		for err == nil {
			var n int
			n, err = move(p, f, int64(total%segment))
			total += n
			moves++
		}
		p.Close()
		if <-p.Done(); err != io.EOF || total != floodSize {
			b.Fatalf("%d bytes, %v", total, err)
		}
	}
	b.ReportMetric(float64(floodSize)*float64(b.N)/float64(moves)/1024, "KiB/move")
}

// BenchmarkStart measures starting a small program, reading its output and learning its exit.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, err := pty.Start(pty.Spec{Argv: []string{"true"}, Cols: 80, Rows: 24})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, p); err != nil {
			b.Fatal(err)
		}
		<-p.Done()
		p.Close()
	}
}
