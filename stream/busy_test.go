package stream_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/vt"
)

// costly is an engine whose output takes long: each call of WriteSome is told before
// it begins.
type costly struct {
	vt.Engine
	begin func()
	most  int // bytes for each call
}

func (c *costly) WriteSome(p []byte, work int) (text []byte, n int) {
	c.begin()
	return c.Engine.WriteSome(p[:min(len(p), c.most)], work)
}

func costlyHub(c *costly) *stream.Hub {
	return stream.New(stream.Options{ID: "a", Config: vt.Config{Cols: 80, Rows: 24},
		Engine: func(cfg vt.Config) vt.Engine {
			e := *c
			e.Engine = vt.NewEngine(cfg)
			return &e
		}})
}

// TestWhoLooksWaitsForNoStep: what a hub knows besides the screen is there while its
// emulator is at work, as it was before that.
func TestWhoLooksWaitsForNoStep(t *testing.T) {
	began, hold := make(chan struct{}, 2), make(chan struct{}, 2)
	h := costlyHub(&costly{most: 1 << 20, begin: func() { began <- struct{}{}; <-hold }})
	hold <- struct{}{}
	h.Write([]byte("\x1b[?2004h\x1b]2;here\x07abc"))
	<-began
	before := h.Stats()
	if before.Title != "here" || before.Seq == 0 || before.Work <= 0 {
		t.Fatalf("after a step: %+v", before)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		h.Write([]byte("\x1b[?2004l\x1b]2;there\x07"))
	}()
	<-began
	looked := make(chan stream.Stats)
	go func() {
		if seq, ok := h.AtRest(); !ok || seq != before.Seq || !h.Modes().BracketedPaste {
			t.Errorf("at rest %v at %d, modes %+v", ok, seq, h.Modes())
		}
		looked <- h.Stats()
	}()
	select {
	case f := <-looked:
		if f != before {
			t.Errorf("during a step: %+v, want %+v", f, before)
		}
	case <-time.After(patience):
		t.Fatal("facts wait for a step")
	}
	hold <- struct{}{}
	<-written
	if f := h.Stats(); f.Title != "there" || h.Modes().BracketedPaste {
		t.Errorf("after the next step: %+v, %+v", f, h.Modes())
	}
}

// TestAStepLetsOthersIn: whoever needs the emulator of a terminal whose output is dear
// has it between two steps.
func TestAStepLetsOthersIn(t *testing.T) {
	const total = 1 << 20 // far more than is applied before all have had their turn
	over, stop := make(chan struct{}), make(chan struct{})
	h := costlyHub(&costly{most: 1, begin: func() {
		select {
		case <-stop:
		default:
			for began := time.Now(); time.Since(began) < 2*time.Millisecond; {
			}
		}
	}})
	go func() {
		defer close(over)
		for range total / 1024 {
			select {
			case <-stop:
				return
			default:
				h.Write(make([]byte, 1024))
			}
		}
	}()
	for what, do := range map[string]func(){
		"a snapshot": func() { h.Snapshot() },
		"a resize":   func() { h.Resize(100, 30) },
		"a viewer": func() {
			s := h.Subscribe(stream.SubscribeOptions{Scrollback: -1})
			defer s.Close()
			if b, err := s.Poll(); err != nil || len(b) == 0 || b[0].Kind != stream.KindSnapshot {
				t.Errorf("%v, %v", b, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := s.Next(ctx); err != nil {
				t.Error(err)
			}
		},
	} {
		before := h.Stats().Seq
		do()
		// A Write of 1024 such bytes takes two seconds; a turn comes within some steps.
		if n := h.Stats().Seq - before; n > 200 {
			t.Errorf("%s waited for %d steps", what, n)
		}
	}
	close(stop)
	if !polling.Until(patience, func() bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	}) {
		t.Fatal("the writer does not end")
	}
}

// TestARealStepIsBounded: output that the emulator works on for long is applied in
// several steps.
func TestARealStepIsBounded(t *testing.T) {
	steps := 0
	h := costlyHub(&costly{most: 1 << 20, begin: func() { steps++ }})
	h.Resize(1000, 60)
	h.Write(bytes.Repeat([]byte("\x1b[?2J"), 32<<10)) // each erases the whole screen
	if steps < 8 {
		t.Errorf("%d steps", steps)
	}
}
