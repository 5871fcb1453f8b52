package stream_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
	"github.com/evertty/evertty/wire"
)

// liar is an engine whose frozen screen begins with another character than the
// one that was printed: the next one. What it paints again is thus one further.
type liar struct{ vt.Engine }

func (l liar) Freeze() *vt.Frame {
	f := l.Engine.Freeze()
	if text := f.Main.Lines[0].Text(); text != "" {
		var p vt.Packer
		p.ASCII([]byte{text[0] + 1}, vt.Style{})
		p.ASCII([]byte(text[1:]), vt.Style{})
		f.Main.Lines[0] = p.Line(false)
	}
	return f
}

// verified is a hub whose snapshots are checked, and what was reported of them.
type verified struct {
	*stream.Hub
	mu      sync.Mutex
	reports []string
}

func newVerified(engine vt.EngineFunc) *verified {
	v := &verified{}
	v.Hub = stream.New(stream.Options{ID: "term1", Engine: engine, Config: vt.Config{Cols: 20, Rows: 4, Scrollback: 30},
		Hooks: stream.Hooks{Differs: func(seq uint64, differences []string) {
			v.mu.Lock()
			defer v.mu.Unlock()
			v.reports = append(v.reports, fmt.Sprintf("%d %s", seq, strings.Join(differences, "; ")))
		}}})
	return v
}

// TestVerifyExact: snapshots of a hub that is exact are not reported, whatever
// their form, and the program may have ended.
func TestVerifyExact(t *testing.T) {
	v := newVerified(vt10x.New)
	v.Write([]byte("\x1b[1;31mred\x1b[m\r\n" + strings.Repeat("line\r\n",
		40) + "\x1b[?2004h\x1b[2;3r\x1b[5;5Hend\x1b[3"))
	encodeAll(t, v.Hub)
	v.Resize(30, 6)
	v.Write([]byte("1mx\x1b[?1049h\x1b[4;30Hy"))
	encodeAll(t, v.Hub)
	v.Finish(stream.Exit{Reason: "exit"})
	encodeAll(t, v.Hub)
	if len(v.reports) > 0 {
		t.Errorf("%q", v.reports)
	}
}

// encodeAll asks for a snapshot in every form.
func encodeAll(t *testing.T, h *stream.Hub) {
	t.Helper()
	h.Snapshot().ANSI()
	if err := h.WriteSnapshot(t.Context(), io.Discard, wire.FormatANSI, 3); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{-1, 0, 3} {
		sub := h.Subscribe(stream.SubscribeOptions{Scrollback: n})
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		batch, err := sub.Next(ctx)
		cancel()
		if err != nil || batch[0].Kind != stream.KindSnapshot {
			t.Fatal(batch, err)
		}
		batch[0].SSE()
		sub.Close()
	}
}

// TestVerifyReportsALie: a snapshot that does not make the screen again is
// reported once, by position and part, however many viewers share it.
func TestVerifyReportsALie(t *testing.T) {
	v := newVerified(func(c vt.Config) vt.Engine { return liar{vt10x.New(c)} })
	v.Write([]byte("abc"))
	s := v.Snapshot()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { s.ANSI(); _ = v.WriteSnapshot(t.Context(), io.Discard, wire.FormatANSI, -1) })
	}
	all.Wait()
	want := []string{`3 row 0: 1 cells differ, first column 0: want "b" (1 wide), got "c" (1 wide)`}
	if !slices.Equal(v.reports, want) {
		t.Errorf("got %q\nwant %q", v.reports, want)
	}
	v.Write([]byte("\r\n"))
	_ = v.WriteSnapshot(t.Context(), io.Discard, wire.FormatANSI, 0)
	if len(v.reports) != 2 || !strings.HasPrefix(v.reports[1], "5 row 0: ") {
		t.Errorf("%q", v.reports)
	}
}

// TestVerifyOff: nobody asked, so there is no second engine.
func TestVerifyOff(t *testing.T) {
	made := 0
	h := stream.New(stream.Options{ID: "term1", Config: vt.Config{Cols: 20, Rows: 4},
		Engine: func(c vt.Config) vt.Engine { made++; return vt10x.New(c) }})
	h.Write([]byte("abc"))
	encodeAll(t, h)
	if made != 1 {
		t.Errorf("%d engines were made", made)
	}
}
