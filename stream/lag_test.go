package stream

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// behind is a viewer whose queue overflowed, and the hub.
func behind(t *testing.T) (*Hub, *Subscription) {
	h := plainHub(Hooks{})
	s := h.Subscribe(SubscribeOptions{Scrollback: -1})
	t.Cleanup(s.Close)
	events(t, s)
	for range 2 {
		h.Write(bytes.Repeat([]byte("a line of a flood\r\n"), MaxQueue/19))
	}
	return h, s
}

// isScreen reports whether a batch has the screen alone, and no output.
func isScreen(t *testing.T, batch []*Message) bool {
	t.Helper()
	shots, partial := 0, false
	for _, m := range batch {
		if m.Kind == KindData {
			t.Errorf("output of %d bytes for a viewer that is behind", len(m.text))
		}
		if m.Kind == KindSnapshot {
			shots++
			partial = strings.Contains(string(m.AppendJSON(nil, "")), `"partial":true`)
		}
	}
	if shots > 1 {
		t.Errorf("%d snapshots", shots)
	}
	return shots == 1 && partial
}

// next waits for what the viewer gets next besides who is there.
func next(t *testing.T, s *Subscription) []*Message {
	t.Helper()
	for {
		batch, err := s.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(batch) > 1 || batch[0].Kind != KindMeta {
			return batch
		}
	}
}

// TestBehind: a viewer that is behind gets screens while output comes, never output, and the whole once it keeps up.
func TestBehind(t *testing.T) {
	h, s := behind(t)
	began := time.Now()
	if !isScreen(t, next(t, s)) {
		t.Error("the first thing is no screen")
	}
	s.Sent()
	const more = 3
	for range more {
		h.Write(bytes.Repeat([]byte("more\r\n"), keepsUpWith))
		if !isScreen(t, next(t, s)) {
			t.Error("no screen while output comes")
		}
		s.Sent()
	}
	if took := time.Since(began); took < more*screenPace {
		t.Errorf("%d screens more after %v", more, took)
	}
	h.Write([]byte("last"))
	batch := next(t, s)
	if len(batch) == 0 || batch[0].Kind != KindSnapshot || isScreen(t, batch) || batch[0].lines >= 0 {
		t.Errorf("not all of the terminal: %v", batch)
	}
	h.Write([]byte("!"))
	if batch = next(t, s); len(batch) != 1 || batch[0].Kind != KindData {
		t.Errorf("no output for a viewer that keeps up: %v", batch)
	}
}

// TestBehindWhole: a viewer that cannot be told of screens gets all of the terminal, and output behind it.
func TestBehindWhole(t *testing.T) {
	h := plainHub(Hooks{})
	s := h.Subscribe(SubscribeOptions{Scrollback: -1, Whole: true})
	defer s.Close()
	events(t, s)
	for range 2 {
		h.Write(bytes.Repeat([]byte("a line of a flood\r\n"), MaxQueue/19))
	}
	if batch := next(t, s); batch[0].Kind != KindSnapshot || isScreen(t, batch) {
		t.Errorf("not all of the terminal: %v", batch)
	}
	h.Write([]byte("!"))
	if batch := next(t, s); len(batch) != 1 || batch[0].Kind != KindData {
		t.Errorf("no output: %v", batch)
	}
}

// TestBehindUntilSent: a viewer that has not taken its screen does not get the whole, however long it is quiet.
func TestBehindUntilSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := behind(t)
		next(t, s)
		time.Sleep(time.Hour) // of the clock of this test
		if got := events(t, s); len(got) > 1 || len(got) == 1 && got[0] != KindMeta {
			t.Errorf("got %v before the screen was sent", got)
		}
		s.Sent()
		if batch := next(t, s); batch[0].lines >= 0 || batch[0].Seq != h.seq {
			t.Errorf("not all of the terminal: %v", batch)
		}
	})
}

// TestBehindIsTriedAgain: in an endless flood a viewer that takes each screen gets all of the terminal and output
// behind it again, after firstTrial, and later each time that it does not keep up.
func TestBehindIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := behind(t)
		for trial := firstTrial; trial <= 2*lastTrial; trial *= 2 {
			began := time.Now()
			for isScreen(t, next(t, s)) {
				s.Sent()
				h.Write(bytes.Repeat([]byte("more\r\n"), keepsUpWith))
			}
			if took, want := time.Since(began), min(trial, lastTrial); took < want || took > want+2*screenPace {
				t.Errorf("all of the terminal came after %v, want %v", took, want)
			}
			h.Write([]byte("!"))
			if batch := next(t, s); len(batch) != 1 || batch[0].Kind != KindData {
				t.Errorf("no output behind it: %v", batch)
			}
			for range 2 {
				h.Write(bytes.Repeat([]byte("a line of a flood\r\n"), MaxQueue/19))
			}
		}
	})
}

// TestKeptUpSince: a viewer that was behind may have less waiting, until it has kept up for as long as a trial lasts.
func TestKeptUpSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := behind(t)
		for isScreen(t, next(t, s)) {
			s.Sent()
			h.Write(bytes.Repeat([]byte("more\r\n"), keepsUpWith))
		}
		if s.mayWait() != trialQueue {
			t.Errorf("%d may wait behind a trial", s.mayWait())
		}
		time.Sleep(lastTrial + time.Second)
		if s.mayWait() != MaxQueue {
			t.Errorf("%d may wait after it has kept up", s.mayWait())
		}
		for range 2 {
			h.Write(bytes.Repeat([]byte("a line of a flood\r\n"), MaxQueue/19))
		}
		if s.lag.trial != firstTrial {
			t.Errorf("the next trial comes after %v", s.lag.trial)
		}
	})
}

// TestBehindAtTheEnd: the end of the program gives a viewer that is behind everything, and the exit.
func TestBehindAtTheEnd(t *testing.T) {
	h, s := behind(t)
	next(t, s)
	h.Write(bytes.Repeat([]byte("more\r\n"), keepsUpWith))
	h.Finish(Exit{Reason: "exit"})
	batch := next(t, s)
	if n := len(batch); n < 2 || batch[0].lines >= 0 || batch[n-1].Kind != KindExit {
		t.Errorf("%v", batch)
	}
}

// TestBehindAndResized: a size comes with a screen, and several changes with one.
func TestBehindAndResized(t *testing.T) {
	h, s := behind(t)
	next(t, s)
	h.Resize(70, 20)
	h.Resize(60, 20)
	s.Sent()
	batch := next(t, s)
	if batch[0].Kind != KindSnapshot || !strings.Contains(string(batch[0].AppendJSON(nil, "")), `"cols":60`) {
		t.Errorf("%v", batch)
	}
}
