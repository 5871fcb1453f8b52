package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// waits is a server that answers waits as told, and notes what was asked.
type waits struct {
	mu      sync.Mutex
	asked   []string
	answers []string // "drop" breaks the connection, else status and body
}

func (s *waits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"id":"t1","name":"build","seq":100}`)
		return
	}
	b, _ := io.ReadAll(r.Body)
	var body map[string]any
	_ = json.Unmarshal(b, &body)
	s.mu.Lock()
	defer s.mu.Unlock()
	look := ""
	if body["timeout_ms"] == 1.0 {
		look = " look"
	}
	s.asked = append(s.asked, fmt.Sprint(body["for"], " ", body["since"], look))
	answer := s.answers[0]
	s.answers = s.answers[1:]
	if answer == "drop" {
		panic(http.ErrAbortHandler)
	}
	status, text, _ := strings.Cut(answer, " ")
	w.WriteHeader(map[string]int{"200": 200, "408": 408, "404": 404, "503": 503}[status])
	_, _ = io.WriteString(w, text)
}

// TestFollowerWait: what is asked after a connection broke, and which positions.
func TestFollowerWait(t *testing.T) {
	const (
		found   = `200 {"matched":true,"text":"x","seq":150}`
		timeout = `408 {"error":"no","code":"TIMEOUT","details":{"seq":120}}`
		gone    = `404 {"error":"not kept","code":"NOT_KEPT","details":{}}`
		leaving = `503 {"error":"leaving","code":"CLOSING","details":{}}`
	)
	seven := uint64(7)
	for _, tc := range []struct {
		name    string
		r       WaitRequest
		answers []string
		asked   string
		err     error
	}{
		{"at once", WaitRequest{For: "text", Pattern: "x"}, []string{found}, "text <nil>", nil},
		{"still there", WaitRequest{For: "text"}, []string{"drop", found}, "text <nil>|text <nil> look", nil},
		{"came and went", WaitRequest{For: "text"}, []string{"drop", timeout, found},
			"text <nil>|text <nil> look|text 100", nil},
		{"twice", WaitRequest{For: "regex"}, []string{"drop", timeout, "drop", found},
			"regex <nil>|regex <nil> look|regex 100|regex 100", nil},
		{"pieces", WaitRequest{For: "text"}, []string{timeout, "drop", found}, "text <nil>|text 120|text 120", nil},
		{"own position", WaitRequest{For: "text", Since: &seven}, []string{leaving, found}, "text 7|text 7", nil},
		{"kept no more", WaitRequest{For: "text"}, []string{timeout, gone, found}, "text <nil>|text 120|text <nil>",
			nil},
		{"own position kept no more", WaitRequest{For: "text", Since: &seven}, []string{gone}, "text 7", ErrNotFound},
		{"exit", WaitRequest{For: "exit"}, []string{"drop", leaving, timeout, found},
			"exit <nil>|exit <nil>|exit <nil>|exit <nil>", nil},
		{"gone", WaitRequest{For: "exit"}, []string{"drop", `404 {"code":"NOT_FOUND"}`}, "exit <nil>|exit <nil>",
			ErrNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := &waits{answers: tc.answers}
			c := serve(t, s)
			f := Follower{Connect: func() (*Client, error) { return c, nil }}
			reply, err := f.Wait(t.Context(), "build", tc.r)
			if asked := strings.Join(s.asked, "|"); asked != tc.asked || !errors.Is(err, tc.err) || tc.err == nil &&
				reply.Seq != 150 {
				t.Errorf("asked %s, want %s; %+v, %v", asked, tc.asked, reply, err)
			}
		})
	}
}

// TestFollowerPatience: at the first contact none, then as much as was said.
func TestFollowerPatience(t *testing.T) {
	lost := errors.New("nothing there")
	calls, told := 0, 0
	c := serve(t, &waits{answers: []string{"drop", "drop"}})
	f := Follower{Patience: 4 * time.Second, Lost: func(error) { told++ }, Connect: func() (*Client, error) {
		if calls++; calls > 2 {
			return nil, lost
		}
		return c, nil
	}}
	if _, err := f.Wait(t.Context(), "t1", WaitRequest{For: "exit"}); !errors.Is(err, lost) || told != 1 || calls < 5 {
		t.Errorf("%v after %d calls, told %d times", err, calls, told)
	}
	calls = 3
	if _, err := f.Wait(t.Context(), "t1", WaitRequest{For: "exit"}); !errors.Is(err, lost) || calls != 4 {
		t.Errorf("at the first contact: %v after %d calls", err, calls)
	}
	calls = 0
	if _, err := f.Wait(t.Context(), "t1", WaitRequest{For: "exit", Timeout: 300 * time.Millisecond}); !errors.Is(err,
		ErrTimeout) {
		t.Errorf("after its own time: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrClosed)
	if err := f.Do(ctx, func(*Client) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// TestFollowedRecording cuts the same recording anywhere, and its events elsewhere on
// each connection, as a journal that is read again may.
func TestFollowedRecording(t *testing.T) {
	const whole = "héllo wörld\r\nand a \"second\" line\x1b[m\r\n日本語"
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		relative := seed%2 == 0
		recording := func() string {
			b := strings.Builder{}
			b.WriteString("{\"version\":3}\n")
			event := func(last, at float64, code, data string) {
				e := castEvent{code: code, data: data}
				if relative {
					at -= last
				}
				b.Write(e.line(at, relative))
			}
			last := 0.0
			text := []rune(whole)
			for i := 0; i < len(text); {
				n := min(1+r.IntN(8), len(text)-i)
				if i < 10 {
					n = min(n, 10-i) // the marker has its place
				}
				at := float64(i/5) / 100 // five characters have one time
				if i >= 10 {
					at += 0.5 // behind the marker
				}
				if (i+n-1)/5 != i/5 {
					n = 5 - i%5
				}
				event(last, at, "o", string(text[i:i+n]))
				last = at
				if i += n; i == 10 {
					event(last, 0.5, "m", "marker")
					event(0.5, 0.5, "r", "90x30")
					last = 0.5
				}
			}
			event(last, 2, "x", "0")
			return b.String()
		}
		var out strings.Builder
		p := position{w: &out, relative: relative}
		broken := errors.New("broken")
		for range 4 {
			s := recording()
			if err := p.copy(io.MultiReader(strings.NewReader(s[:r.IntN(len(s))]), failing{broken})); !errors.Is(err,
				broken) {
				t.Fatal(err)
			}
		}
		if err := p.copy(strings.NewReader(recording())); err != nil {
			t.Fatal(err)
		}
		text, others, at := "", "", 0.0
		for line := range strings.Lines(out.String()[len("{\"version\":3}\n"):]) {
			var e castEvent
			if err := e.parse([]byte(line)); err != nil {
				t.Fatal(err)
			}
			if relative {
				at += e.time
			} else {
				at = e.time
			}
			if e.code == "o" {
				text += e.data
			} else {
				others += e.code + e.data + " "
			}
		}
		if text != whole || others != "mmarker r90x30 x0 " || at < 1.99 || at > 2.01 ||
			strings.Count(out.String(), "version") != 1 {
			t.Fatalf("seed %d: %q %q ends at %v\n%s", seed, text, others, at, out.String())
		}
	}
}

// failing is a reader that breaks.
type failing struct{ error }

func (f failing) Read([]byte) (int, error) { return 0, f.error }
