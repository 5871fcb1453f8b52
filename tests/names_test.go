package tests

import "testing"

// TestNamesDoNotBeginWithADash: what a command would read as an option names nothing new. The
// refusal says the name, and nothing came into being.
func TestNamesDoNotBeginWithADash(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for _, r := range []struct{ method, path, body string }{
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
		s.call(r.method, r.path, r.body).refused(400, "VALIDATION", "--help")
	}
	var threads struct{ Threads []struct{ ID string } }
	if s.get("/api/threads").wants(200).into(&threads); len(threads.Threads) > 0 &&
		(len(threads.Threads) > 1 || threads.Threads[0].ID == "--help") {
		t.Errorf("threads %+v", threads.Threads)
	}
}
