package tests

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
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

// TestBlockedInputIsNoConflict: clients repeat a 409 by themselves; a program that does not read is
// 503, with what it has taken.
func TestBlockedInputIsNoConflict(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `stty raw -echo; printf ready; sleep 1000`).ID
	s.await(id, "^ready$")
	r := s.post("/pty/"+id+"/input", `{"data":"`+strings.Repeat("a", 500_000)+`"}`)
	var e struct {
		Code    string
		Details struct{ Bytes, Seq int }
	}
	s.must(json.Unmarshal([]byte(r.body), &e))
	if r.status != 503 || e.Code != "INPUT_BLOCKED" || e.Details.Bytes <= 0 || e.Details.Bytes >= 500_000 ||
		e.Details.Seq != len("ready") {
		t.Errorf("%d %s", r.status, r.body)
	}
}
