package tests

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

// TestEventsFromNow: with since=latest a stream begins with what happens next, and a browser that reconnects to it
// says in a header what it has. A number from before the thread was made anew is none.
func TestEventsFromNow(t *testing.T) {
	t.Parallel()
	s := startForExec(t, launch{})
	s.execs("test", "cd /tmp")
	told := func(last string) (<-chan string, func()) {
		r, err := http.NewRequestWithContext(s.ctx(), http.MethodGet, s.url+"/api/threads/test/events?since=latest",
			nil)
		s.must(err)
		if last != "" {
			r.Header.Set("Last-Event-ID", last)
		}
		a, err := http.DefaultClient.Do(r)
		s.must(err)
		if a.StatusCode != http.StatusOK {
			t.Fatalf("status %d", a.StatusCode)
		}
		types := make(chan string, 100)
		go func() {
			defer close(types)
			for lines := bufio.NewScanner(a.Body); lines.Scan(); {
				if kind, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
					types <- kind
				}
			}
		}()
		return types, func() { _ = a.Body.Close() }
	}
	now, leave := told("")
	defer leave()
	_, err := s.PauseThread(s.ctx(), "test")
	s.must(err)
	for kind := range now {
		if kind == "thread.created" || kind == "session.created" {
			t.Fatalf("the stream tells of %s, which was before", kind)
		}
		if kind == "session.paused" {
			break
		}
	}
	back, leave := told("1")
	defer leave()
	for kind := range back {
		if kind == "session.created" {
			break
		}
		if kind == "session.paused" {
			t.Fatal("a client that has event 1 is not told of the events after it")
		}
	}
	list, err := s.ThreadEvents(s.ctx(), "test", 1<<40, 1)
	s.must(err)
	if len(list) != 1 || list[0].Seq != 1 {
		t.Errorf("to a client that has events of another thread of that name comes %v", list)
	}
	_, err = s.ResumeThread(s.ctx(), "test")
	s.must(err)
}
