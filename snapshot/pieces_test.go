package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// manyLines are coloured lines, some with links, erased cells and wraps, and pens that stay.
func manyLines(r *rand.Rand, n int) []byte {
	var b bytes.Buffer
	for i := range n {
		switch r.IntN(9) {
		case 0:
			b.WriteString("\x1b[44mblue\x1b[K\x1b[m")
		case 1:
			fmt.Fprintf(&b, "\x1b]8;;http://x/%d\x1b\\link\x1b]8;;\x1b\\", r.IntN(9))
		case 2:
			b.WriteString("\x1b[7;4mpen stays ")
		case 3:
			b.WriteString(strings.Repeat("wraps 日本 ", 30))
		case 4:
			b.WriteString("\x1b[20C\x1b[1;35mright\x1b[9m")
		}
		fmt.Fprintf(&b, "\x1b[3%dm%d\x1b[39m \"quoted\\\" e\u0301\r\n", r.IntN(8), i)
	}
	return b.Bytes()
}

// blocks is the number of full blocks in the history of f.
func blocks(f *vt.Frame) (n int) {
	for _, block := range f.History.Parts() {
		if block != nil {
			n++
		}
	}
	return n
}

// TestPiecesAreExact: the text in pieces is that of ANSI, also when blocks were encoded for another
// text, are compressed, and when lines have been dropped since.
func TestPiecesAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, unicode := range []vt.Unicode{vt.Unicode11, vt.Unicode15Graphemes} {
		e := vt.New(vt.Config{Cols: 80, Rows: 24, Scrollback: 2500, Unicode: unicode})
		var kept []*Pieces
		for step := range 30 {
			e.Write(manyLines(r, r.IntN(400)))
			switch step % 10 {
			case 3:
				e.Resize(60+r.IntN(40), 24)
			case 5:
				e.Write([]byte("\x1b[H\x1b7\x1b[24H\n\n\n\n")) // saved in the history
			case 7:
				e.Write([]byte("\x1b[?1049hother\x1b[1"))
			case 8:
				e.Write([]byte("m\x1b[?1049l"))
			}
			f := e.Freeze()
			for _, lines := range []int{-1, 1000, 0} {
				o := Options{Scrollback: lines, Ended: step%6 == 5}
				p, err := o.Pieces(f, 16<<20)
				if err != nil {
					t.Fatal(err)
				}
				kept = append(kept, p)
				want := ANSI(f, o)
				if got := p.Append(nil); !bytes.Equal(got, want) || p.Size() != len(want) {
					t.Fatalf("step %d, %d lines: %d bytes differ from %d", step, lines, len(got), len(want))
				}
				var text string
				err = json.Unmarshal(append(p.AppendQuoted([]byte{'"'}, 1), '"'), &text)
				if err != nil || text != string(want) {
					t.Fatalf("step %d, %d lines: the quoted text differs: %v", step, lines, err)
				}
				if _, err := o.Pieces(f, len(want)-1); !errors.Is(err, ErrLarge) {
					t.Errorf("a text larger than allowed: %v", err)
				}
			}
			if step%3 == 0 {
				f.History.Compact()
			}
			if step%5 == 4 {
				kept = nil
				runtime.GC()
			}
		}
		runtime.KeepAlive(kept)
	}
}

// TestBlocksAreEncodedOnce: texts of a terminal that prints on have the same pieces for the same
// blocks, encoded and quoted once; unused ones are forgotten.
func TestBlocksAreEncodedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	e := vt.New(vt.Config{Cols: 80, Rows: 24, Scrollback: 5000})
	e.Write(manyLines(r, 4000))
	first := e.Freeze()
	full := blocks(first)
	if full < 5 {
		t.Fatalf("only %d full blocks", full)
	}
	made := map[*piece]bool{}
	var viewers []*Pieces
	for range 50 {
		e.Write([]byte("one more line\r\n"))
		p, err := Options{Scrollback: -1}.Pieces(e.Freeze(), 16<<20)
		if err != nil {
			t.Fatal(err)
		}
		p.AppendQuoted(nil, 0)
		viewers = append(viewers, p)
		for _, one := range p.list {
			if one.memo != nil {
				made[one] = true
			}
		}
	}
	if len(made) > full+1 { // one may have got full
		t.Errorf("%d blocks were encoded %d times for %d viewers", full, len(made), len(viewers))
	}
	runtime.KeepAlive(viewers)
	clear(made)
	viewers = nil
	runtime.GC()
	for _, block := range first.History.Parts() {
		if block != nil && block.Memo() != nil {
			t.Fatal("what nobody uses is kept")
		}
	}
}
