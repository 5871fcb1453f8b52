package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// predictorScript is a predictor on a line of 100 ms, at a prompt that came at 0, and what happens to it.
type predictorScript struct {
	p  predictor
	w  place
	at time.Time
}

func newPredictorScript() *predictorScript {
	s := &predictorScript{at: time.Unix(1e9, 0)}
	s.p.measured(100 * time.Millisecond)
	s.p.mode = wire.InputMode{Editing: true}
	s.p.disturb(s.at)
	s.w = place{left: "$ ", x: 2, cols: 20}
	s.p.output(s.at, s.see)
	return s
}

func (s *predictorScript) see() place { return s.w }

// step does one step and returns what is shown. Texts are as they are.
func (s *predictorScript) step(ms int, event, arg string) string {
	now := s.at.Add(time.Duration(ms) * time.Millisecond)
	switch event {
	case "key":
		s.p.key([]byte(arg), now, now, s.see)
	case "late": // a key that was sent 60 ms before
		s.p.key([]byte(arg), now.Add(-60*time.Millisecond), now, s.see)
	case "out":
		s.w.left, s.w.x = arg, len(arg)
		s.p.output(now, s.see)
	case "alt":
		s.w.alternate = arg == "on"
		s.p.output(now, s.see)
	case "text":
		s.w.pushes = arg == "on"
	case "mode":
		s.p.heard = now
		s.p.change(map[string]wire.InputMode{"echo": {Echo: true, Canonical: true}, "secret": {Canonical: true},
			"raw": {}, "editing": {Editing: true}}[arg], now)
	case "rtt":
		ms, _ := strconv.Atoi(arg)
		s.p.rtt = time.Duration(ms) * time.Millisecond
	case "blocked":
		s.p.blocked = arg == "on"
	case "tick":
		s.p.recheck(now)
	default:
		panic(event)
	}
	shown := s.p.shown(s.see)
	return shown.text + strings.Repeat("_", shown.blank)
}

var predictionStep = regexp.MustCompile(`^(\d+) (\w+)(?: (".*?"|\w+))?(?: => (".*"))?$`)

// TestPredictor: what testdata/predictions.txt says, as the page's does.
func TestPredictor(t *testing.T) {
	file, err := os.ReadFile("testdata/predictions.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range strings.Split(strings.TrimSpace(string(file)), "\n\n")[1:] {
		name, steps, _ := strings.Cut(script, "\n")
		t.Run(strings.TrimPrefix(name, "# "), func(t *testing.T) {
			s := newPredictorScript()
			for step := range strings.Lines(steps) {
				part := predictionStep.FindStringSubmatch(strings.TrimSpace(step))
				if part == nil {
					t.Fatalf("no step: %q", step)
				}
				ms, _ := strconv.Atoi(part[1])
				arg := part[3]
				if text, err := strconv.Unquote(arg); err == nil {
					arg = text
				}
				got := s.step(ms, part[2], arg)
				if want, err := strconv.Unquote(part[4]); err == nil && got != want {
					t.Fatalf("%q shows %q", step, got)
				}
			}
		})
	}
}

// TestPredictorDrawnLate: a key that is handed on late is not predicted, its echo may be there.
func TestPredictorDrawnLate(t *testing.T) {
	s := newPredictorScript()
	s.step(1000, "key", "a")
	s.step(1100, "out", "$ a")
	if shown := s.step(1200, "late", "b"); shown != "" {
		t.Errorf("it shows %q", shown)
	}
}

// TestPredictorMeasures: a shorter round trip counts at once, a longer one by a quarter.
func TestPredictorMeasures(t *testing.T) {
	p := predictor{}
	for _, took := range []time.Duration{100, 60, 100} {
		p.measured(took)
	}
	if p.rtt != 70 {
		t.Errorf("%d", p.rtt)
	}
}

// TestPredictorIsBounded: in prompts that it knows, and in keys whose echo it awaits.
func TestPredictorIsBounded(t *testing.T) {
	s := newPredictorScript()
	for i := range 3 * maxKnown {
		ms := 1000 * (i + 1)
		s.step(ms, "key", "\r")
		s.step(ms+100, "out", fmt.Sprintf("%d> ", i))
		s.step(ms+300, "key", "a")
		s.step(ms+400, "out", fmt.Sprintf("%d> a", i))
	}
	if n := len(s.p.known); n != maxKnown || s.p.known[n-1].prompt != "23> " {
		t.Errorf("known are %+v", s.p.known)
	}
	for range maxPending {
		s.step(25000, "key", "b")
		s.step(25000, "key", "\x7f")
	}
	if n := len(s.p.pending); n > maxPending {
		t.Errorf("%d keys wait", n)
	}
}
