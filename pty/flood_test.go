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
		p, err := pty.Start(pty.Spec{Argv: []string{"sh", "-c", "stty raw -echo; exec cat " + path}, Cols: 80, Rows: 24})
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
