package main

import (
	"io"
	"os"
	"regexp"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"
)

// usualCols and usualRows are the size of a terminal that does not say its own.
const usualCols, usualRows = 80, 24

// sieve writes what a program printed to the user's terminal: what viewers get, see
// vt.Config.Guest, and nothing else. It takes the memory and time of an engine without history. It
// has one caller at a time.
type sieve struct {
	out    *os.File
	engine vt.Engine
}

// sieved is w for the output of programs: as it is, unless it is a terminal.
func sieved(w io.Writer) io.Writer {
	f, ok := w.(*os.File)
	if !ok || !isTTY(f, f) {
		return w
	}
	cols, rows, known := sizeOf(f)
	if !known {
		cols, rows = usualCols, usualRows
	}
	s := sieve{f, engines[defaultEngine](vt.Config{Cols: cols, Rows: rows, Guest: true})}
	s.engine.Write([]byte("\x1b[20h")) // LNM: the terminal's driver returns the cursor at LF (POSIX XBD 11.2.3, ONLCR)
	return s
}

// sievedBoth is sieved for two outputs of one caller. On the same terminal one engine reads both:
// one could end what the other one began.
func sievedBoth(stdout, stderr io.Writer) (out, err io.Writer) {
	out, err = sieved(stdout), sieved(stderr)
	o, both := out.(sieve)
	e, ok := err.(sieve)
	if !both || !ok {
		return out, err
	}
	first, _ := o.out.Stat()
	if second, _ := e.out.Stat(); os.SameFile(first, second) {
		e.engine = o.engine
	}
	return o, e
}

func (s sieve) Write(p []byte) (int, error) {
	if _, err := s.out.Write(s.engine.Write(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// terminalJSON is w for JSON: on a terminal DEL and C1 controls are escaped, which encoding/json
// leaves.
func terminalJSON(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); !ok || !isTTY(f, f) {
		return w
	}
	return &jsonWriter{out: w}
}

type jsonWriter struct {
	out  io.Writer
	head bool // the first byte of a C1 control was not written yet
}

var rawControl = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\x7f-\x{9f}]`) })

const headC1 = byte(0xc2) // of U+0080 to U+00BF in UTF-8

func (j *jsonWriter) Write(p []byte) (int, error) {
	n := len(p)
	if j.head {
		p = append([]byte{headC1}, p...)
	}
	if j.head = n > 0 && p[len(p)-1] == headC1; j.head {
		p = p[:len(p)-1]
	}
	_, err := j.out.Write(rawControl().ReplaceAllFunc(p, func(c []byte) []byte {
		r, _ := utf8.DecodeRune(c)
		return append([]byte(`\u00`), strconv.FormatInt(int64(r), 16)...)
	}))
	if err != nil {
		return 0, err
	}
	return n, nil
}
