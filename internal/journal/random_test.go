package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

// modelled is a journal and what it should tell, piece by piece.
type modelled struct {
	t     *testing.T
	s     *datadir.Store
	j     *Journal
	o     Options
	rnd   *rand.Rand
	said  []said
	short []string // what was done, for a failure
}

// said is one thing that happened and the position after it.
type said struct {
	seq  uint64
	text string
}

// TestJournalEqualsItsModel: random output, resizes, gaps, restarts of the server with
// and without a kill, trimming and compressing, against a list of what
// happened.
func TestJournalEqualsItsModel(t *testing.T) {
	for seed := range uint64(60) {
		s := openStore(t, memoryDir(t))
		m := &modelled{t: t, s: s, rnd: rand.New(rand.NewPCG(seed, 0)),
			o: Options{Sync: SyncNone, Segment: int64(20 + seed*7), Cols: 80, Rows: 24, Input: true}}
		m.j = openJournal(t, s, "a", m.o)
		for range 60 {
			m.step()
			m.check()
			if t.Failed() {
				t.Fatalf("seed %d: %s", seed, strings.Join(m.short, " "))
			}
		}
		must(t, m.j.Close())
	}
}

func (m *modelled) note(text string) { m.said = append(m.said, said{m.j.End(), text}) }

func (m *modelled) step() {
	r := m.rnd.IntN(100)
	switch {
	case r < 50:
		p := strings.Repeat(string(rune('a'+r%26)), 1+m.rnd.IntN(30))
		appendText(m.t, m.j, p)
		m.note(p)
	case r < 60:
		cols := 2 + m.rnd.IntN(200)
		m.j.Resized(m.j.End(), cols, 24)
		m.note(fmt.Sprintf("[%dx24]", cols))
		if m.rnd.IntN(2) == 0 {
			must(m.t, m.j.Flush())
		}
	case r < 64:
		must(m.t, m.j.Input([]byte("in")))
		m.note("[in in]")
	case r < 68:
		must(m.t, m.j.Restart(r, 80, 24))
		m.note(fmt.Sprintf("[restart %d 80x24]", r))
	case r < 78:
		must(m.t, m.j.Close())
		m.open()
	case r < 84: // killed: what was not flushed is lost, but no output
		must(m.t, m.j.Flush())
		p := "killed"
		appendText(m.t, m.j, p)
		m.note(p)
		m.j.mu.Lock()
		must(m.t, m.j.writer.open.close())
		m.j.writer.open = nil
		m.j.mu.Unlock()
		m.open()
	case r < 88:
		m.gap()
	case r < 92:
		_, err := m.j.Trim(m.j.End()-min(m.j.End(), 100), 200)
		must(m.t, err)
	case r < 96:
		_, err := m.j.Compress(0)
		must(m.t, err)
	case r < 98:
		must(m.t, m.j.Sync())
		m.j.CloseQuiet()
	default:
		m.j.writer.mark.last = time.Now().Add(-time.Hour)
	}
	m.short = append(m.short, fmt.Sprint(r))
}

func (m *modelled) open() {
	end := m.j.End()
	m.j = openJournal(m.t, m.s, "a", m.o)
	if m.j.End() != end {
		m.t.Errorf("ended at %d, goes on at %d", end, m.j.End())
	}
}

// gap loses some bytes.
func (m *modelled) gap() {
	must(m.t, m.j.Flush())
	got, err := m.j.Append(&brokenDisk{BytesSource([]byte("partly lost")), 3, errors.New("broken")}, 11,
		make([]byte, 11))
	if string(got) != "partly lost" || err == nil {
		m.t.Errorf("%q, %v", got, err)
	}
	m.j.writer.retry = time.Now()
	must(m.t, m.j.Flush())
	m.said = append(m.said, said{m.j.End() - 8, "par"}, said{m.j.End(), "[gap 8]"})
}

// check reads from the start, which is where a segment begins.
func (m *modelled) check() {
	var want strings.Builder
	start := m.j.Start()
	for _, s := range m.said {
		output := !strings.HasPrefix(s.text, "[")
		switch {
		case s.seq > start && output:
			want.WriteString(s.text[max(0, len(s.text)-int(s.seq-start)):])
		case s.seq > start:
			want.WriteString(s.text)
		}
	}
	list := readAll(m.t, m.j, start)
	checkOrder(m.t, start, list)
	// Events at the start itself may be in the segment that was dropped.
	for len(list) > 0 && list[0].Seq == start {
		list = list[1:]
	}
	got, full := told(list), want.String()
	if got != full {
		m.t.Errorf("from %d\ngot  %s\nwant %s", start, got, full)
	}
}
