package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// cutEvery is the distance of the cuts in a damaged stream, in bytes.
const cutEvery = 10

// resumption is a job of resume.cjs.
type resumption struct {
	Cols       int           `json:"cols"`
	Rows       int           `json:"rows"`
	Scrollback int           `json:"scrollback"`
	Unicode    string        `json:"unicode"`
	Text       []byte        `json:"text"`
	Resizes    []resumedSize `json:"resizes"`
	Cuts       []resumedCut  `json:"cuts"`
	Probes     [][]byte      `json:"probes"`
	heads      []int         // of each cut: the number of bytes written
}

type resumedSize struct {
	At   int    `json:"at"`
	Cols int    `json:"cols"`
	Rows int    `json:"rows"`
	ANSI []byte `json:"ansi,omitempty"` // unless the engine followed it exactly
}

type resumedCut struct {
	At      int    `json:"at"`
	Resized int    `json:"resized"`
	Forgets bool   `json:"forgets"`
	ANSI    []byte `json:"ansi"`
}

// resumptionMiss is a cut after which a viewer differs.
type resumptionMiss struct {
	Cut  int
	When string
	What []string
}

// resumed runs an engine through tokens and takes a snapshot at every cut. The
// text is what the engine gives viewers.
func resumed(newEngine vt.EngineFunc, tr trial, every int) resumption {
	jb := resumption{
		Cols: tr.cols, Rows: tr.rows, Scrollback: tr.scrollback, Unicode: string(tr.unicode), Cuts: []resumedCut{},
	}
	e := newEngine(vt.Config{Cols: tr.cols, Rows: tr.rows, Scrollback: tr.scrollback, Unicode: tr.unicode})
	in := 0
	for _, tok := range tr.tokens {
		if tok.cols > 0 {
			r := resumedSize{At: len(jb.Text), Cols: tok.cols, Rows: tok.rows}
			if !e.Resize(tok.cols, tok.rows) {
				r.ANSI = ANSI(e.Freeze(), Options{Scrollback: -1})
			}
			jb.Resizes = append(jb.Resizes, r)
			continue
		}
		for i := range len(tok.text) {
			jb.Text = append(jb.Text, e.Write([]byte{tok.text[i]})...)
			if in++; in%every > 0 {
				continue
			}
			f := e.Freeze()
			jb.heads = append(jb.heads, in)
			jb.Cuts = append(jb.Cuts, resumedCut{len(jb.Text), len(jb.Resizes), f.LastChar == 0,
				ANSI(f, Options{Scrollback: -1})})
		}
	}
	for _, p := range []string{probe, "\x1b[1G\x1bHx\x1b[20GY\tZ\x1b[m\x1b[2JQ\x1b(BR"} {
		jb.Probes = append(jb.Probes, bytes.Clone(e.Write([]byte(p))))
	}
	return jb
}

// resume asks the judge.
func (j *judge) resume(t testing.TB, jb resumption) []resumptionMiss {
	t.Helper()
	var answer struct {
		Misses []resumptionMiss
		Crash  string
	}
	j.exchange(t, jb, &answer)
	if answer.Crash != "" {
		j.crashes++
		return nil
	}
	j.cuts += len(jb.Cuts)
	j.missed += len(answer.Misses)
	return answer.Misses
}

// checkDamage checks that a viewer may come anywhere in a trial, whatever bytes
// it is made of. everywhere: cut at every byte.
func checkDamage(t testing.TB, j *judge, newEngine vt.EngineFunc, tr trial, everywhere bool) *complaint {
	every := cutEvery
	if everywhere {
		every = 1
	}
	jb := resumed(newEngine, tr, every)
	misses := j.resume(t, jb)
	if len(misses) == 0 {
		return nil
	}
	m := misses[0]
	what := append([]string{}, m.What...)
	what = append(what, fmt.Sprintf("cut at byte %d, seen at the %s; got is after the snapshot\nsnapshot %.1500q",
		jb.heads[m.Cut], m.When, jb.Cuts[m.Cut].ANSI))
	return &complaint{kindOfMiss(m), fmt.Sprintf("%d of %d cuts", len(misses), len(jb.Cuts)), what}
}

// kindOfMiss is a miss without its numbers.
func kindOfMiss(m resumptionMiss) string {
	first, rest, _ := strings.Cut(m.What[0], ":")
	kind := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, first)
	var got, want []any
	if g, w, ok := strings.Cut(strings.TrimPrefix(rest, " got "), ", want "); ok &&
		json.Unmarshal([]byte(g), &got) == nil && json.Unmarshal([]byte(w), &want) == nil && len(got) == len(want) {
		for i, name := range []string{"text", "width", "fg", "bg", "attributes", "underline", "underline colour",
			"link"} {
			if got[i] != want[i] {
				return kind + " " + name
			}
		}
	}
	return kind
}

// TestDamagedStreamsGoOn: a viewer may come anywhere in any bytes. In full:
//
//	go test ./snapshot -run TestDamagedStreamsGoOn -cases 20000 -timeout 4h -v
func TestDamagedStreamsGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("compares thousands of screens with xterm.js")
	}
	t.Parallel()
	j := startJudge(t)
	randomTrialsOf(t, j, few(400, 60), damagedTrial, checkDamage)
	t.Logf("%d cuts, %d missed; left out: %d streams in which xterm.js itself crashed", j.cuts, j.missed, j.crashes)
}
