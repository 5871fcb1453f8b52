package tests

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/term"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// programMark as first argument makes the test binary one of the programs below
// instead of a test.
const programMark = "evertty-test-program"

func init() {
	if len(os.Args) < 3 || os.Args[1] != programMark {
		return
	}
	switch os.Args[2] {
	case "lines":
		linesProgram(kinds[os.Args[3]], os.Args[4], os.Args[5])
	case "asker":
		askerProgram(os.Args[3])
	case "sweeper":
		sweeperProgram(os.Args[3])
	case "intruder":
		intruderProgram(os.Args[3])
	case "impostor":
		impostorProgram(os.Args[3])
	}
	os.Exit(2)
}

// program is the command of a terminal that runs one of them.
func program(t testing.TB, args ...string) []string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, programMark}, args...)
}

// lineKind is a kind of numbered line. All of a kind have one length.
type lineKind struct {
	name string
	line func(b []byte, n uint64) []byte // appends line n, counted from 1, with LF
}

var kinds = map[string]lineKind{
	"plain": {"plain", func(b []byte, n uint64) []byte { return append(tenDigits(b, n), '\n') }},
	// Characters of several bytes and sequences: a cut can be inside of each.
	"styled": {"styled", func(b []byte, n uint64) []byte {
		b = strconv.AppendUint(append(b, "\x1b[1;38;5;"...), 100+n%150, 10)
		return append(tenDigits(append(b, ";48;2;9;8;7m"...), n),
			"\x1b[m \xe6\xbc\xa2 e\xcc\x81 \xf0\x9f\x98\x80 \x1b[4:3mu\x1b[m\n"...)
	}},
}

func tenDigits(b []byte, n uint64) []byte {
	const zeros = "0000000000"
	digits := strconv.AppendUint(make([]byte, 0, len(zeros)), n, 10)
	return append(append(b, zeros[len(digits):]...), digits...)
}

// size is the length of a line as the terminal's output, with CR LF.
func (k lineKind) size() uint64 { return uint64(len(k.line(nil, 1))) + 1 }

// output is the output from byte from up to byte to.
func (k lineKind) output(from, to uint64) []byte {
	size := k.size()
	first := from / size
	b := make([]byte, 0, to-first*size+size)
	for n := first; n*size < to; n++ {
		b = k.line(b, n+1)
		b = append(b[:len(b)-1], "\r\n"...)
	}
	return b[from-first*size : to-first*size]
}

// screen is what a terminal of 80x24 with so much history shows after seq bytes,
// as text without blank rows at the end.
func (k lineKind) screen(seq uint64, history int) string {
	e := vt.NewEngine(vt.Config{Cols: 80, Rows: 24, Scrollback: history})
	e.Write(k.tail(seq, history))
	f := e.Freeze()
	return strings.TrimRight(lines(f.History.Slice())+lines(f.Main.Lines), "\n")
}

// tail is the end of the output up to seq, from the start of a line, that fills a
// terminal of 24 rows and its history.
func (k lineKind) tail(seq uint64, history int) []byte {
	first := max(seq/k.size(), uint64(history)+24) - uint64(history) - 24
	return k.output(first*k.size(), seq)
}

// floodPause is how long a flood pauses after each piece in the short form: what it
// writes while a slow machine does everything else has to fit on a disk.
const floodPause = 4 * time.Millisecond

// linesProgram writes numbered lines in pieces, with a pause after each, until the
// file stop exists. Then it says so by the file stop.seen, waits for a line of input and ends with code 5.
func linesProgram(k lineKind, stop, pause string) {
	const piece = 32 << 10 // bytes of one write
	between, err := time.ParseDuration(pause)
	if err != nil {
		os.Exit(2)
	}
	b := make([]byte, 0, piece+256)
	for n := uint64(1); ; {
		for b = b[:0]; len(b) < piece; n++ {
			b = k.line(b, n)
		}
		if _, err := os.Stdout.Write(b); err != nil {
			os.Exit(1)
		}
		if _, err := os.Stat(stop); err == nil {
			break
		}
		time.Sleep(between)
	}
	if err := os.WriteFile(stop+".seen", nil, 0o600); err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdin.Read(b[:1])
	os.Exit(5)
}

// askerProgram asks the terminal for the cursor's position, again and again, from
// another column each time, until the file stop exists. An answer that was given
// twice or belongs to another question is wrong; one that does not come for
// askPatience, or for lastPatience after the stop, is lost. It ends with a line that
// tells how many.
func askerProgram(stop string) {
	old, err := term.MakeRaw(0)
	if err != nil {
		os.Exit(1)
	}
	answers := make(chan string)
	go readAnswers(answers)
	asked, lost, wrong := 0, 0, 0
	for {
		asked++
		column := asked%70 + 1
		fmt.Printf("\r\x1b[%dG\x1b[6n", column)
		a, came := answerTo(answers, stop)
		if !came {
			lost++
		} else if !strings.HasSuffix(a, fmt.Sprintf(";%dR", column)) {
			wrong++
		}
		if _, err := os.Stat(stop); err == nil {
			break
		}
	}
	_ = term.Restore(0, old)
	fmt.Printf("\r\nasked %d lost %d wrong %d\r\n", asked, lost, wrong)
	os.Exit(0)
}

const (
	// askPatience is far longer than a server's start takes.
	askPatience = patience / 3
	// lastPatience is far longer than an answer of a server that is there takes.
	lastPatience = 10 * time.Second
)

// answerTo waits for an answer.
func answerTo(answers <-chan string, stop string) (a string, came bool) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(askPatience); time.Now().Before(end); {
		select {
		case a := <-answers:
			return a, true
		case <-tick.C:
		}
		if i, err := os.Stat(stop); err == nil && time.Since(i.ModTime()) > lastPatience {
			break
		}
	}
	return "", false
}

func readAnswers(to chan<- string) {
	var b []byte
	one := make([]byte, 1)
	for {
		if _, err := os.Stdin.Read(one); err != nil {
			return
		}
		b = append(b, one[0])
		if one[0] == 'R' {
			to <- string(b)
			b = b[:0]
		}
	}
}

// numbered is a terminal that runs linesProgram.
type numbered struct {
	s       *server
	kind    lineKind
	id      string
	pid     int
	stop    string
	history int
	checked uint64 // so far the recording was compared
}

// numbered starts one.
func (s *server) numbered(kind string) *numbered {
	s.t.Helper()
	f := &numbered{s: s, kind: kinds[kind], stop: s.t.TempDir() + "/stop", history: floodHistory}
	pause := floodPause
	if full() {
		pause = 0
	}
	i := s.createWith(wire.CreateTerminal{Cols: new(80), Rows: new(24), Scrollback: &f.history,
		Cmd: program(s.t, "lines", kind, f.stop, pause.String())})
	f.id, f.pid = i.ID, i.PID
	return f
}

func (f *numbered) end() { f.s.must(os.WriteFile(f.stop, nil, 0o600)) }

// quiet waits until the program has written its last line and all of it is there.
func (f *numbered) quiet() (seq uint64) {
	f.s.t.Helper()
	f.end()
	eventually(f.s.t, "the flood is over", func() bool {
		if _, err := os.Stat(f.stop + ".seen"); err != nil {
			return false
		}
		n := written(f.s.t, f.pid) / (f.kind.size() - 1) // lines
		seq = f.s.info(f.id).Seq
		return seq == n*f.kind.size()
	})
	return seq
}

// checkScreen compares the screen with what it must be at its position, which is
// at least seen.
func (f *numbered) checkScreen(seen uint64) {
	f.s.t.Helper()
	shot, err := f.s.Snapshot(f.s.ctx(), f.id, client.Text, client.AllHistory)
	f.s.must(err)
	if err := f.checkText(shot.Text, shot.Seq); err != nil {
		f.s.t.Error(err)
	}
	if shot.Seq < seen {
		f.s.t.Errorf("%s: the screen is at %d, seen was %d", f.id, shot.Seq, seen)
	}
}

func (f *numbered) checkText(got string, seq uint64) error {
	if got, want := strings.TrimRight(got, "\n"), f.kind.screen(seq, f.history); got != want {
		return fmt.Errorf("%s: at %d it shows\n…%s\nwant\n…%s", f.id, seq, got[max(0, len(got)-200):],
			want[max(0, len(want)-200):])
	}
	return nil
}

// checkRecording compares the part of the raw recording that was not compared yet
// and returns its end.
func (f *numbered) checkRecording() uint64 {
	f.s.t.Helper()
	body := f.s.rawGet(fmt.Sprintf("/pty/%s/recording?format=raw&from=%d", f.id, f.checked), 0)
	r := okBody(f.s.t, body)
	b := make([]byte, 256<<10)
	for {
		n, err := io.ReadFull(r, b)
		if want := f.kind.output(f.checked, f.checked+uint64(n)); !bytes.Equal(b[:n], want) {
			at := firstDifference(b[:n], want)
			f.s.t.Fatalf("%s: the recording differs at %d: %.40q, want %.40q", f.id, f.checked+uint64(at), b[at:n],
				want[at:])
		}
		f.checked += uint64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			_ = body.Close()
			return f.checked
		}
		f.s.must(err)
	}
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}
