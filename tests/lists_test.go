package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestListsHaveParts: each list in parts is the list as a whole, in its order, also when what a part ended with was
// deleted meanwhile.
func TestListsHaveParts(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	var ids []string
	for i := range 5 {
		t := s.create("sleep", "1000")
		ids = append(ids, t.ID)
		s.post("/session/"+t.Session+"/shell", fmt.Sprintf(`{"id":"shell%d"}`, i))
	}
	session := s.info(ids[0]).Session
	defer s.call(http.MethodDelete, "/session/"+session+"/shell", "")
	for i := range 5 {
		s.post("/session/"+session+"/shell/shell0/exec", fmt.Sprintf(`{"command":"echo %d"}`, i))
	}
	for _, path := range []string{"/pty", "/session/" + session + "/pty", "/api/threads/" + session + "/terminals",
		"/session/" + session + "/shell", "/shell",
		"/session/" + session + "/commands", "/session/" + session + "/shell/shell0/commands"} {
		whole, next := s.listPart(path)
		if next != "" || len(whole) < 5 {
			t.Errorf("%s has %v, next %q", path, whole, next)
		}
		var parts []string
		for after := ""; ; after = next {
			var part []string
			part, next = s.listPart(path + "?limit=2&after=" + after)
			parts = append(parts, part...)
			if len(part) > 2 || next != "" && len(part) < 2 || len(parts) > len(whole) {
				t.Fatalf("%s after %q: %v, next %q", path, after, part, next)
			}
			if next == "" {
				break
			}
		}
		if !slices.Equal(parts, whole) {
			t.Errorf("%s in parts is %v, as a whole %v", path, parts, whole)
		}
		if part, next := s.listPart(path + "?limit=1000"); next != "" || !slices.Equal(part, whole) {
			t.Errorf("%s?limit=1000 has %v, next %q", path, part, next)
		}
		if r := s.get(path + "?after=nobody"); r.status != 404 || strings.Count(r.body, "nobody") != 1 {
			t.Errorf("%s after nobody: %d %s", path, r.status, r.body)
		}
		for _, limit := range []string{"0", "1001", "-1", "x"} {
			if r := s.get(path + "?limit=" + limit); r.status != 400 || !strings.Contains(r.body, "1 to 1000") {
				t.Errorf("%s?limit=%s: %d %s", path, limit, r.status, r.body)
			}
		}
	}
	if r := s.call(http.MethodDelete, "/pty/"+ids[1], "{}"); r.status != 200 {
		t.Fatal(r.body)
	}
	if part, next := s.listPart("/pty?limit=2&after=" + ids[1]); next != ids[3] || !slices.Equal(part, ids[2:4]) {
		t.Errorf("after a deleted terminal: %v, next %q", part, next)
	}
}

// listPart is the ids of a list, and its next.
func (s *server) listPart(path string) (ids []string, next string) {
	s.t.Helper()
	r := s.get(path)
	var list struct {
		Items, Terminals, Shells, Commands []struct {
			ID       string `json:"id"`
			Command  string `json:"command_id"`
			Terminal string `json:"terminal_id"`
			Session  string `json:"session"`
		}
		Next string
	}
	if err := json.Unmarshal([]byte(r.body), &list); err != nil || r.status != 200 {
		s.t.Fatalf("%s: %d %s", path, r.status, r.body)
	}
	for _, i := range slices.Concat(list.Items, list.Terminals, list.Shells, list.Commands) {
		ids = append(ids, i.Session+i.Terminal+i.ID)
		if list.Items != nil || list.Commands != nil {
			ids[len(ids)-1] = i.ID + i.Command
		}
	}
	return ids, list.Next
}
