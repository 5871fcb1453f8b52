package tests

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/client"
)

// TestALineIsNotCut: whoever types a line that the program would get only a part of is told so, and
// nothing of it is typed.
func TestALineIsNotCut(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `stty -echo; echo ready; while IFS= read -r x; do echo "got ${#x}."; done`).ID
	s.await(id, "^ready$")
	long := strings.Repeat("a", 6000)
	for path, body := range map[string]any{
		"/input": map[string]any{"data": long + "\n"},
		"/keys":  map[string]any{"keys": []string{"text:" + long, "Enter"}},
		"/paste": map[string]any{"data": long + "\n"},
	} {
		b, err := json.Marshal(body)
		s.must(err)
		r := s.post("/pty/"+id+path, string(b))
		if r.status != 400 || !strings.Contains(r.body, `"code":"LINE_TOO_LONG"`) || !strings.Contains(r.body,
			`"limit":4095`) {
			t.Errorf("%s: %d %.300s", path, r.status, r.body)
		}
	}
	b64 := base64.StdEncoding.EncodeToString([]byte(long + "\n"))
	if r := s.post("/pty/"+id+"/input", `{"data_b64":"`+b64+`"}`); r.status != 400 {
		t.Errorf("data_b64: %d %.300s", r.status, r.body)
	}
	if e := run(t, s.cli("send", id, long, "--enter")); e.code != 2 || strings.Count(e.stderr, "\n") != 1 ||
		!strings.Contains(e.stderr, "6000 bytes") {
		t.Errorf("send: exit code %d, %q", e.code, e.stderr)
	}
	if r := s.post("/session/s/exec", `{"command":"cat","tty":true,"stdin":"`+long+`\n"}`); r.status != 400 ||
		!strings.Contains(r.body, `"code":"LINE_TOO_LONG"`) {
		t.Errorf("exec: %d %.300s", r.status, r.body)
	}
	s.input(id, strings.Repeat("b", 4095)+"\nshort\n")
	if text := s.await(id, `^got 5\.$`); !strings.Contains(text, "got 4095.") || strings.Count(text, "got ") != 2 {
		t.Errorf("the program got %q", text)
	}
}

// refusedOn attaches, types, and returns what the server refused of it.
func refusedOn(s *server, id string, typed []byte) *client.Error {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	a, err := s.Attach(ctx, id, client.AttachOptions{})
	s.must(err)
	defer a.Close()
	s.must(a.Input(typed))
	for {
		e, err := a.Next()
		s.must(err)
		if e.Kind == client.KindError {
			return e.Err
		}
	}
}

// TestARefusedLineSaysHowMuch: on a WebSocket and in the Go client a line that is too long is refused
// whole, also where the input goes in pieces.
func TestARefusedLineSaysHowMuch(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `stty -echo eol x eol2 y; echo ready; while IFS= read -r x; do n=$((n+${#x})); `+
		`[ "$x" = end ] && { echo "got $((n-3)) in $((++r))."; n=0; }; done`).ID
	s.await(id, "^ready$")
	long, short := strings.Repeat("a", 6000), strings.Repeat("b", 999)+"\n"
	rounds := 0
	got := func(want int) {
		t.Helper()
		rounds++
		s.input(id, "end\n")
		s.await(id, fmt.Sprintf(`^got %d in %d\.$`, want, rounds))
	}
	for name, typed := range map[string]string{
		"alone":               long + "\n",
		"behind a short line": "short\n" + long[:5000],
		"one byte":            long[:4096],
		"beyond a frame":      strings.Repeat("c", 70<<10),
		"behind VEOL":         long[:3000] + "x" + long[:4096],
		"behind VEOL2":        long[:3000] + "y" + long[:4096],
	} {
		e := refusedOn(s, id, []byte(typed))
		if e.Code != "LINE_TOO_LONG" || !strings.Contains(string(e.Details), `"limit":4095`) {
			t.Errorf("%s: %+v, %s", name, e, e.Details)
		}
		got(0)
	}
	// The line lies where a frame of 64 KiB, and where a request of 512 KiB, would end.
	before := strings.Repeat(short, 65)
	if e := refusedOn(s, id, []byte(before+long)); e.Code != "LINE_TOO_LONG" {
		t.Errorf("between two frames: %+v", e)
	}
	got(65 * 999)
	before = strings.Repeat(short, 524)
	sent, err := s.Input(t.Context(), id, []byte(before+long+"\n"))
	if e, ok := errors.AsType[*client.Error](err); !ok || e.Code != "LINE_TOO_LONG" || sent.Bytes != len(before) ||
		!strings.Contains(err.Error(), fmt.Sprintf("%d bytes were typed", len(before))) {
		t.Errorf("between two requests: %+v, %v", sent, err)
	}
	got(524 * 999)
	s.input(id, long[:4095]+"x"+long[:4095]+"y"+long[:4095]+"\n")
	got(3*4095 + 2)
}

// TestBlockedInputSaysHowMuch: a program that does not read is 503, because clients repeat a 409 by
// themselves, with what it has taken; on a WebSocket, in the Go client and on the command line too.
func TestBlockedInputSaysHowMuch(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	many := strings.Repeat("a", 100_000)
	blocked := func() string {
		id := s.create("bash", "-c", `stty raw -echo; printf ready; sleep 1000`).ID
		s.await(id, "^ready$")
		return id
	}
	tells := func(details json.RawMessage) bool {
		var d struct{ Bytes, Seq int }
		return json.Unmarshal(details, &d) == nil && 0 < d.Bytes && d.Bytes < 65536 && d.Seq == len("ready")
	}
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		r := s.post("/pty/"+blocked()+"/input", `{"data":"`+many+`"}`)
		var e struct {
			Code    string
			Details json.RawMessage
		}
		if r.into(&e); r.status != 503 || e.Code != "INPUT_BLOCKED" || !tells(e.Details) {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
	all.Go(func() {
		if e := refusedOn(s, blocked(), []byte(many)); e.Code != "INPUT_BLOCKED" || !tells(e.Details) {
			t.Errorf("on a WebSocket: %+v, %s", e, e.Details)
		}
	})
	all.Go(func() {
		sent, err := s.Input(t.Context(), blocked(), []byte(many))
		if err == nil || sent.Bytes <= 0 || sent.Bytes >= len(many) || sent.Seq != uint64(len("ready")) {
			t.Errorf("in the client: %+v, %v", sent, err)
		}
	})
	all.Go(func() {
		e := run(t, s.cli("send", blocked(), many))
		if e.code == 0 || !regexp.MustCompile(
			`\b[1-9][0-9]* of 100000 bytes were taken: program does not read its input\n$`).MatchString(e.stderr) {
			t.Errorf("on the command line: %d, %q", e.code, e.stderr)
		}
	})
}
