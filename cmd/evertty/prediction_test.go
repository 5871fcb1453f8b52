package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// predictorScript is a predictor on a line of 100 ms, at a prompt that came at 0, and what happens to it. A step is a
// time in ms, an event, and behind => what is shown then: the text, and _ for each column that is made blank.
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

// step does one step and returns what is shown.
func (s *predictorScript) step(step string) string {
	when, rest, _ := strings.Cut(step, " ")
	ms, err := strconv.Atoi(when)
	if err != nil {
		panic(step)
	}
	now := s.at.Add(time.Duration(ms) * time.Millisecond)
	event, arg, _ := strings.Cut(rest, " ")
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
		s.p.measured(time.Duration(ms) * time.Millisecond)
	case "blocked":
		s.p.blocked = arg == "on"
	case "tick":
		s.p.recheck(now)
	default:
		panic(step)
	}
	shown := s.p.shown(s.see)
	return shown.text + strings.Repeat("_", shown.blank)
}

func TestPredictor(t *testing.T) {
	for name, steps := range map[string][]string{
		"right once": {"1000 key a =>", "1100 out $ a =>", "1300 key b => b", "1350 key c => bc", "1400 out $ ab => c",
			"1450 out $ abc =>", "9000 key d => d"},
		"not at once": {"150 key a", "250 out $ a", "1000 key b =>", "1100 out $ ab", "1200 key c => c"},
		"at once behind Enter where it was right": {"1000 key a", "1100 out $ a", "2000 key \r =>", "2100 out $ ",
			"2300 key b => b", "2400 out $ b =>"},
		"not behind another key": {"1000 key a", "1100 out $ a", "2000 key \x15 =>", "2100 out $ ", "2300 key b =>"},
		"not at another prompt": {"1000 key a", "1100 out $ a", "2000 key \r =>", "2100 out > ", "2300 key b =>",
			"2400 out > b", "2500 key c => c"},
		"not in another mode": {"1000 key a", "1100 out $ a", "2000 key \r", "2050 mode echo", "2100 out $ ",
			"2300 key b =>"},
		"behind a pause": {"1000 key a", "1100 out $ a", "2000 key \r", "2090 out $ ", "2155 key b =>",
			"2160 key c =>", "2255 out $ bc", "2500 key d =>"},
		"behind the last event": {"1000 key a", "1100 out $ a", "2000 key \r", "2300 out $ ", "2350 key b =>"},
		"not before output": {"1000 key a", "1100 out $ a", "2000 key \x1b[D", "2299 key b", "2400 out $ ab",
			"2450 key c =>"},
		"without output after 3 round trips": {"1000 key a", "1100 out $ a", "1200 key \x1b[D", "1500 key b",
			"1600 out $ ab", "1700 key c => c"},
		"a secret": {"500 mode secret", "1000 out Password: ", "1500 key a =>", "1600 out Password: a",
			"2000 key b =>", "2100 out Password: ab", "2500 key c =>"},
		"a secret at a known prompt": {"1000 key a", "1100 out $ a", "2000 key \r", "2080 mode secret", "2100 out $ ",
			"2500 key b =>"},
		"a mode that changes": {"1000 key a", "1100 out $ a", "1200 key b => b", "1210 mode secret =>",
			"1300 mode editing =>", "1700 key c =>"},
		"a program that reads single keys": {"500 mode raw", "1000 key a", "1100 out $ a", "1200 key b =>"},
		"a cooked line":                    {"500 mode echo", "1500 key a", "1600 out $ a", "1700 key b => b"},
		"a fast line":                      {"500 rtt 40", "1000 key a", "1100 out $ a", "1200 key b =>"},
		"a line that becomes slow": {"500 rtt 10", "500 rtt 170", "1000 key a", "1100 out $ a",
			"1300 key b => b"},
		"the alternate screen": {"1000 key a", "1100 out $ a", "1200 key b => b", "1210 alt on =>", "2000 key c =>",
			"2100 out $ abc", "2300 key d =>"},
		"the alternate screen at a known prompt": {"1000 key a", "1100 out $ a", "2000 key \r", "2050 alt on",
			"2100 out $ ", "2400 key b =>"},
		"before the last column": {"1000 out $ 0123456789012345", "1500 key a", "1600 out $ 0123456789012345a",
			"1700 key b =>"},
		"the middle of a line": {"500 text on", "1000 key a", "1100 out $ a", "1200 key b =>"},
		"a suggestion":         {"1000 key a", "1050 text on", "1100 out $ a", "1200 key b => b"},
		"erasing": {"1000 key a", "1100 out $ a", "1200 key b => b", "1210 key \x7f =>", "1220 key \b => _",
			"1300 out $ ab", "1310 out $ a => _", "1320 out $  =>", "1330 key \x7f =>", "2000 key c =>"},
		"erased and typed again": {"1000 key a", "1100 out $ a", "1200 key b => b", "1205 key \x7f =>",
			"1210 key c => c", "1300 out $ ab => c", "1305 out $ a => c", "1310 out $ ac =>"},
		"the same text twice": {"1000 key a", "1100 out $ a", "1200 key b", "1250 key \x7f", "1260 key b => b",
			"1300 out $ ab =>", "1350 out $ a => b", "1360 out $ ab =>"},
		"Enter behind what is pending": {"1000 key a", "1100 out $ a", "1200 key b => b", "1250 key \r => b",
			"1300 out $ ab =>", "1350 out ", "1360 out $ ", "1500 key c => c"},
		"Enter, and the answer to all at once": {"1000 key a", "1100 out $ a", "1200 key b => b", "1250 key \r => b",
			"1350 out $  =>", "1380 tick", "1600 key c => c"},
		"no prompt": {"500 out ", "1000 key a", "1100 out a", "2000 key \r", "2100 out ", "2300 key b =>"},
		"the same text twice, at once": {"1000 key a", "1100 out $ a", "1200 key b", "1210 key \x7f", "1310 out $ a",
			"1380 out $ a =>", "1390 key c => c"},
		"a paste": {"1000 key a", "1100 out $ a", "1200 key bc =>", "1300 out $ abc", "1350 key d =>", "1900 key e =>"},
		"not ASCII": {"1000 key a", "1100 out $ a", "1200 key é =>", "1300 out $ aé", "1500 key b =>",
			"1600 out $ aéb", "1700 key c => c"},
		"something else": {"1000 key a", "1100 out $ a", "1200 key b => b", "1300 out $ a* =>", "1320 tick =>",
			"1331 tick =>", "1340 key c =>", "2000 key \r", "2100 out $ ", "2500 key d =>"},
		"painted in two pieces": {"1000 key a", "1100 out $ a", "1200 key b => b", "1300 out  =>", "1310 out $ ab =>",
			"1331 tick", "1340 key c => c"},
		"painted to what was": {"1000 key a", "1100 out $ a", "1200 key b => b", "1300 out  =>", "1310 out $ a => b"},
		"no answer": {"1000 key a", "1100 out $ a", "1200 key b => b", "1499 tick => b", "1500 tick =>",
			"1510 key \r", "1600 out $ ", "2000 key c =>"},
		"other text where the cursor was": {"1000 key a", "1100 out $ a", "1500 out $ other ", "1700 key b =>",
			"1800 out $ other b", "2500 key c => c"},
		"another prompt behind something else": {"1000 key a", "1100 out $ a", "2000 key \r", "2100 out > ",
			"2300 key b", "2400 out > *", "2431 tick", "2500 out $ ", "3000 key c =>"},
		"no answer on a line that is hardly slow": {"500 rtt 45", "1000 key a", "1045 out $ a", "1200 key b => b",
			"1349 tick => b", "1350 tick =>"},
		"erased before anything came": {"1000 key a", "1100 out $ a", "1200 key b => b", "1210 key \x7f =>",
			"1220 out $ a =>", "1230 key c => c", "1300 out $ ab => c"},
		"drawn too late": {"1000 key a", "1100 out $ a", "1200 late b =>", "1300 out $ ab",
			"1310 key c =>"},
		"another holds the keyboard":            {"1000 key a", "1100 out $ a", "1150 blocked on", "1200 key b =>"},
		"a line that is faster than it was":     {"500 rtt 2000", "3000 key a", "3060 out $ a", "3070 key b => b"},
		"nothing came of a key, then all of it": {"1000 key a", "1050 key b", "1130 out $ ab", "1200 key c => c"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPredictorScript()
			for _, step := range steps {
				do, want, judged := strings.Cut(step, " =>")
				if got := s.step(do); judged && got != strings.TrimPrefix(want, " ") {
					t.Fatalf("%q shows %q", step, got)
				}
			}
		})
	}
}

// TestPredictorIsBounded: in prompts that it knows, and in keys whose echo it awaits.
func TestPredictorIsBounded(t *testing.T) {
	s := newPredictorScript()
	for i := range 3 * maxKnown {
		ms := 1000 * (i + 1)
		s.step(fmt.Sprintf("%d key \r", ms))
		s.step(fmt.Sprintf("%d out %d> ", ms+100, i))
		s.step(fmt.Sprintf("%d key a", ms+300))
		s.step(fmt.Sprintf("%d out %d> a", ms+400, i))
	}
	if n := len(s.p.known); n != maxKnown || s.p.known[n-1].prompt != "23> " {
		t.Errorf("known are %+v", s.p.known)
	}
	for range maxPending {
		s.step("25000 key b")
		s.step("25000 key \x7f")
	}
	if n := len(s.p.pending); n > maxPending {
		t.Errorf("%d keys wait", n)
	}
}
