package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// deletionRounds is how often a thread is deleted beside what begins in it.
const deletionRounds = 24

// TestWhatBeginsBesideADeletion: whatever begins in a thread while it is deleted is refused, goes with
// it, or is part of a new thread. Lists, threads, processes and directories agree.
func TestWhatBeginsBesideADeletion(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for round := range deletionRounds {
		session := fmt.Sprint("round", round)
		var made struct{ ID string }
		s.post("/session/"+session+"/pty", `{"cmd":["true"]}`).wants(201).into(&made)
		s.exit(made.ID)
		s.post("/session/"+session+"/exec", `{"command":"true"}`).wants(200)
		var work sync.WaitGroup
		for _, r := range []struct{ method, path, body string }{
			{"DELETE", "/api/threads/" + session, ""}, {"DELETE", "/api/threads/" + session, ""},
			{"POST", "/session/" + session + "/pty", `{"cmd":["cat"]}`},
			{"POST", "/session/" + session + "/pty", `{"cmd":["cat"]}`},
			{"POST", "/session/" + session + "/exec", `{"command":"true"}`},
			{"POST", "/session/" + session + "/shell", `{"id":"other"}`},
			{"POST", "/pty/" + made.ID + "/restart", `{}`},
		} {
			work.Go(func() {
				if got := s.call(r.method, r.path, r.body); got.status >= 500 {
					t.Errorf("%s %s: %d %s", r.method, r.path, got.status, got.body)
				}
			})
		}
		work.Wait()
		var terminals struct{ PTYs []string }
		var shells struct{ Shells []struct{ ID string } }
		s.get("/session/" + session + "/pty").wants(200).into(&terminals)
		s.get("/session/" + session + "/shell").wants(200).into(&shells)
		parts := len(terminals.PTYs) + len(shells.Shells)
		if thread := s.get("/api/threads/" + session).status; thread == 404 && parts > 0 {
			t.Errorf("round %d: the thread is gone, %v and %v are there", round, terminals.PTYs, shells.Shells)
		} else if thread == 200 {
			s.call("DELETE", "/api/threads/"+session, "").wants(200)
		}
	}
	for _, part := range []string{"terminals", "shells"} {
		list, err := os.ReadDir(filepath.Join(s.how.dir, part))
		s.must(err)
		for _, f := range list {
			t.Errorf("%s/%s is left", part, f.Name())
		}
	}
	s.endShells()
}
