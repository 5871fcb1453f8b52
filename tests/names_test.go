package tests

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// TestNamesBeginWithALetterOrDigit: security row D31. What a command would read as an option, or hides, names
// nothing new. The refusal says the name, and nothing came into being.
func TestNamesBeginWithALetterOrDigit(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	named := s.createWith(wire.CreateTerminal{Cmd: []string{"cat"}}).ID
	for _, r := range []struct{ method, path, body string }{
		{"PATCH", "/pty/" + named, `{"name":"--help"}`},
		{"POST", "/session/dev/pty", `{"name":"--help","cmd":["true"]}`},
		{"POST", "/session/--help/pty", `{"cmd":["true"]}`},
		{"POST", "/session/dev/shell", `{"id":"--help"}`},
		{"POST", "/session/--help/shell", `{"id":"a"}`},
		{"POST", "/session/--help/exec", `{"command":"true"}`},
		{"POST", "/session/--help/env", `{"env":{"A":"1"}}`},
		{"POST", "/api/threads", `{"id":"--help"}`},
		{"POST", "/api/leases", `{"id":"--help","provider_name":"local"}`},
		{"PUT", "/api/threads/--help/permissions", `{"mode":"allow"}`},
		{"POST", "/api/session/create", `{"id":"--help"}`},
		{"POST", "/api/execute", `{"command":"true","sessionId":"--help"}`},
		{"POST", "/api/file/write", `{"path":"x","content":"","sessionId":"--help"}`},
	} {
		for _, name := range []string{"--help", "-", ".hidden", "_x", "é"} {
			s.call(r.method, strings.ReplaceAll(r.path, "--help", name), strings.ReplaceAll(r.body, "--help",
				name)).refused(400, "VALIDATION", name)
		}
	}
	var threads struct {
		Threads []wire.Thread
	}
	if s.get("/api/threads").wants(200).into(&threads); len(threads.Threads) != 1 ||
		threads.Threads[0].ThreadID != "test" {
		t.Errorf("threads %+v", threads.Threads)
	}
}
