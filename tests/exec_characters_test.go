package tests

import (
	"strings"
	"testing"
)

// TestExecNeverHalfACharacter: max_output_bytes ends a text before a character that does not fit, in replies and
// streams; what is no text is exact.
func TestExecNeverHalfACharacter(t *testing.T) {
	t.Parallel()
	w := start(t, launch{}).in("characters")
	const text = "aé€😀xyz"
	for limit := 1; limit <= len(text)+1; limit++ {
		want := text[:min(limit, len(text))]
		want = strings.ToValidUTF8(want, "")
		for _, command := range []string{"printf " + text, "printf " + text + " >&2",
			"printf aé€; sleep 0.05; printf 😀xyz",
			`printf 'a\303'; sleep 0.05; printf '\251€\360\237'; sleep 0.05; printf '\230\200xyz'`} {
			b := body{"command": command, "max_output_bytes": limit}
			r := w.with(b)
			if got := r.Stdout + r.Stderr; got != want || r.StdoutB64+r.StderrB64 != "" ||
				r.Truncated != (limit < len(text)) {
				t.Errorf("%q at %d: %q, b64 %q, truncated %v, want %q", command, limit, got, r.StdoutB64, r.Truncated,
					want)
			}
			var out, err strings.Builder
			last := w.stream(b).all(&out, &err)
			if got := out.String() + err.String(); got != want || last.kind != "complete" {
				t.Errorf("the stream of %q at %d: %q, want %q", command, limit, got, want)
			}
			var compat struct {
				Stdout, Stderr  string
				StdoutB64       string `json:"stdout_b64"`
				Truncated       bool
				SessionIDOfThis string `json:"sessionId"`
			}
			w.post("/api/execute", asJSON(body{"command": command, "sessionId": w.session})).wants(200).into(&compat)
			if got := compat.Stdout + compat.Stderr; got != text || compat.StdoutB64 != "" {
				t.Errorf("the compatible reply to %q: %q, want %q", command, got, text)
			}
		}
	}
	for text, raw := range map[string]string{`a\377\376b`: "a\xff\xfeb", `ab\303`: "ab\xc3",
		`\303\303\303\303`: "\xc3\xc3\xc3\xc3",
		`ab\360\237x`:      "ab\xf0\x9fx"} {
		for limit := 1; limit <= len(raw); limit++ {
			b := body{"command": "printf '" + text + "'", "max_output_bytes": limit}
			if got := w.with(b).out(); got != raw[:limit] {
				t.Errorf("%q at %d: %q", raw, limit, got)
			}
			var out, err strings.Builder
			w.stream(b).all(&out, &err)
			if got := out.String(); got != raw[:limit] {
				t.Errorf("the stream of %q at %d: %q", raw, limit, got)
			}
		}
	}
}

// TestExecTerminalStaysReadable: the terminal of a tty command is on no list after its end, and readable by its id.
func TestExecTerminalStaysReadable(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	w := s.in("tty")
	r := w.run("echo on a terminal; exit 3", body{"tty": true})
	id := w.command(r.CommandID).PTY
	if id == "" {
		t.Fatal("the command has no terminal")
	}
	for round := range 2 {
		s.gone(s.info(id))
		if i := s.info(id); i.Exit == nil || i.Exit.Code == nil || *i.Exit.Code != 3 {
			t.Errorf("round %d: %+v", round, i)
		}
		s.await(id, "^on a terminal$")
		if round == 0 {
			s.kill()
			s.again()
		}
	}
	w.run("true", body{"tty": true})
	s.kill() // perhaps before the terminal is deleted
	s.again()
	eventually(t, "no terminal is listed", func() bool {
		var list struct{ PTYs []string }
		s.get("/session/tty/pty").wants(200).into(&list)
		return len(list.PTYs) == 0
	})
}
