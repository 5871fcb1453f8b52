package tests

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/wire"
)

func (s *server) change(id, body string) reply {
	s.t.Helper()
	return s.call(http.MethodPatch, "/pty/"+id, body)
}

// TestChangeATerminal: what a PATCH says is in the reply, found under the new name, and there after kill -9 and after
// another program; what it leaves out stays.
func TestChangeATerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Name: "before", Cols: new(80), Rows: new(24),
		Env: map[string]string{"PS1": "> "}, Labels: wire.Labels{"old": "1", "team": "web"}}).ID
	s.await(id, "^>$")
	check := func(when, path string) {
		t.Helper()
		var i wire.Terminal
		s.get(path).wants(200).into(&i)
		if i.ID != id || i.Name != "after" || i.SizePolicy != "fixed" || i.Cols != 100 || i.Rows != 24 ||
			!maps.Equal(i.Labels, wire.Labels{"team": "a b=ü"}) || i.Title != "mine" {
			t.Errorf("%s: %+v", when, i)
		}
	}
	s.change("before", `{"name":"after","size_policy":"fixed","cols":100,"labels":{"team":"a b=ü"},"title":"mine"}`).
		wants(200)
	check("at once", "/session/test/pty/after")
	s.input(id, "printf '\\e]2;program\\a'; tput cols\r")
	s.await(id, "^100$")
	s.get("/pty/before").refused(404, "NOT_FOUND")
	s.change("after", `{}`).wants(200)
	s.kill()
	s.again()
	check("after a kill", "/pty/after")
	s.input(id, "exit\r")
	s.exit(id)
	s.post("/pty/after/restart", "{}").wants(200)
	check("after a restart", "/pty/after")
	s.call(http.MethodPatch, "/session/test/pty/after", `{"labels":{},"title":"","name":""}`).wants(200)
	if i := s.info(id); len(i.Labels) != 0 || i.Title != "program" || i.Name != "" || i.SizePolicy != "fixed" {
		t.Errorf("cleared: %+v", i)
	}
}

// TestAChangeIsAllOrNothing: one wrong field and nothing is changed; the reply names the field.
func TestAChangeIsAllOrNothing(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	other := s.createWith(wire.CreateTerminal{Cmd: []string{"cat"}, Name: "other"}).ID
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"cat"}, Name: "it", Labels: wire.Labels{"a": "b"}}).ID
	many := strings.Repeat(`"k%d":"",`, 33)
	many = strings.TrimSuffix(fmt.Sprintf(many, seq(33)...), ",")
	before := s.info(id)
	for _, r := range []struct{ field, body string }{
		{"name", `{"labels":{},"cols":90,"name":"-x"}`},
		{"name", `{"labels":{},"cols":90,"name":"a b"}`},
		{"name", `{"labels":{},"name":7}`},
		{"cols", `{"name":"new","cols":0}`},
		{"rows", `{"name":"new","cols":90,"rows":1001}`},
		{"size_policy", `{"name":"new","cols":90,"size_policy":"biggest"}`},
		{"labels", `{"name":"new","labels":{"a b":""}}`},
		{"labels", `{"name":"new","labels":{"":""}}`},
		{"labels", `{"name":"new","labels":{"-a":""}}`},
		{"labels", `{"name":"new","labels":{"a-":""}}`},
		{"labels", `{"name":"new","labels":{"a":"\u001b"}}`},
		{"labels", `{"name":"new","labels":{"` + strings.Repeat("k", 64) + `":""}}`},
		{"labels", `{"name":"new","labels":{"a":"` + strings.Repeat("v", 256) + `"}}`},
		{"labels", `{"name":"new","labels":{` + many + `}}`},
		{"title", `{"name":"new","title":"` + strings.Repeat("v", 1025) + `"}`},
		{"title", `{"name":"new","title":"a\nb"}`},
		{"colour", `{"name":"new","colour":"red"}`},
	} {
		reply := s.change(id, r.body)
		reply.refused(400, "VALIDATION")
		if got := detail(reply, "field"); got != r.field {
			t.Errorf("%s: field %q, want %q", clip(r.body), got, r.field)
		}
	}
	taken := s.change(id, `{"name":"other","cols":90,"labels":{}}`)
	taken.refused(409, "NAME_TAKEN", other)
	if got := detail(taken, "id"); got != other {
		t.Errorf("id %q, want %q", got, other)
	}
	s.change("nobody", `{"name":"new"}`).refused(404, "NOT_FOUND")
	after := s.info(id)
	after.LastActivityAt, after.MemoryBytes, after.JournalBytes = before.LastActivityAt, before.MemoryBytes,
		before.JournalBytes
	if fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("changed to %+v\nfrom %+v", after, before)
	}
	s.change(id, `{"labels":{"`+strings.Repeat("k", 63)+`":"`+strings.Repeat("v", 255)+`"},"name":"it"}`).wants(200)
	s.post("/pty/"+id+"/signal", `{"signal":"KILL"}`).wants(200)
	s.exit(id)
	s.change(id, `{"name":"new","cols":90}`).refused(409, "EXITED")
	s.change(id, `{"name":"new"}`).wants(200)
	s.call(http.MethodDelete, "/pty/"+id, "").wants(200)
	s.change(id, `{"name":"newer"}`).refused(404, "NOT_FOUND")
}

// TestOneOfManyGetsTheName: of terminals that want one name at once, one gets it.
func TestOneOfManyGetsTheName(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const wanting = 8
	var all sync.WaitGroup
	status := make([]int, 2*wanting)
	for i := range wanting {
		id := s.create("sleep", "1000").ID
		all.Go(func() { status[i] = s.change(id, `{"name":"one"}`).status })
		all.Go(func() {
			status[wanting+i] = s.post("/session/test/pty", `{"cmd":["sleep","1000"],"name":"one"}`).status
		})
	}
	all.Wait()
	ok := slices.DeleteFunc(status, func(n int) bool { return n == http.StatusConflict })
	if len(ok) != 1 || ok[0] >= 300 {
		t.Errorf("statuses but 409: %v", ok)
	}
}

// detail is a member of the details of a refusal.
func detail(r reply, name string) any {
	r.t.Helper()
	var e struct{ Details map[string]any }
	if err := json.Unmarshal([]byte(r.body), &e); err != nil {
		r.t.Fatal(err)
	}
	return e.Details[name]
}

func seq(n int) (all []any) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
