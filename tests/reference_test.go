package tests

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// named makes a terminal that prints what is typed.
func (s *server) named(session, name string, labels wire.Labels) client.Terminal {
	s.t.Helper()
	i, err := s.Create(s.ctx(), session, wire.CreateTerminal{Cmd: []string{"cat"}, Name: name, Labels: labels})
	s.must(err)
	return i
}

// TestWhatAPersonCallsATerminal: an id, the beginning of one, a name, SESSION/NAME; what several terminals may be is
// refused with all of them, and nothing happens.
func TestWhatAPersonCallsATerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	web, other := s.named("one", "web", nil), s.named("two", "web", nil)
	id := s.named("one", "only", nil).ID
	s.named("two", id[:5], nil) // a name that is also the beginning of an id
	for ref, want := range map[string]string{id: id, id[:6]: id, id[:19]: id, "only": id, "one/only": id,
		"one/web": web.ID, "two/web": other.ID, "one/" + web.ID[:6]: web.ID} {
		list, err := s.Resolve(s.ctx(), ref)
		if err != nil || len(list) != 1 || list[0].ID != want {
			t.Errorf("%s: %v, %v, want %s", ref, list, err, want)
		}
		if e := run(t, s.cli("wait", ref, "--for", "text", "--pattern", "x", "--timeout", "1ms")); e.code != 124 {
			t.Errorf("wait %s: %+v", ref, e)
		}
	}
	if list, err := s.Resolve(s.ctx(), id[:5]); err != nil || list[0].Name != id[:5] {
		t.Errorf("a name does not win: %v, %v", list, err)
	}
	for _, verb := range []string{"logs", "snapshot", "wait", "kill", "restart", "rename", "resize", "labels"} {
		args := map[string][]string{"rename": {"x"}, "resize": {"80x24"}}[verb]
		run(t, s.cli(append([]string{verb, "web"}, args...)...)).refuses(t, 2, "one/web", "two/web")
		run(t, s.cli(append([]string{verb, id[:3]}, args...)...)).refuses(t, 4, "no such terminal")
		run(t, s.cli(append([]string{verb, "two/only"}, args...)...)).refuses(t, 4, `no such terminal: "two/only"`)
	}
	run(t, s.cli("send", "web", "x")).refuses(t, 2, "one/web", "two/web")
	s.get("/pty?id="+id[:6]+"&id=nobody").refused(404, "NOT_FOUND", "nobody")
	if several := s.get("/pty?id=web"); several.status != 409 ||
		fmt.Sprint(detail(several, "choices")) != "[one/web two/web]" {
		t.Errorf("%d %s", several.status, several.body)
	}
	if e := run(t, s.cli("kill", "one/web", "nobody", "two/web")); e.code != 4 {
		t.Errorf("%+v", e)
	}
	s.get("/pty?name=web").wants(200)
	if list, err := s.Filter(s.ctx(), wire.ListAllTerminals{TerminalFilter: wire.TerminalFilter{Name: "web"}}); err != nil ||
		len(list) != 0 {
		t.Errorf("left: %v, %v", list, err)
	}
}

// TestLabels: set at creation, changed, listed and filtered, by the API and the command line.
func TestLabels(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	if out := s.says("ls"); strings.Contains(out, "LABELS") {
		t.Errorf("a column for nothing:\n%s", out)
	}
	a := s.named("one", "a", wire.Labels{"team": "web", "n": "a=b"}).ID
	b := strings.TrimSpace(s.says("new", "-d", "-s", "two", "--label", "team=web", "--label", "n=2", "--", "cat"))
	c := s.named("two", "c", nil).ID
	for query, want := range map[string][]string{"label=team=web": {a, b}, "label=n=a%3Db": {a}, "label=n=a=b": {a},
		"label=team=web&label=n=2": {b}, "label=team=": nil, "session=two": {b, c}, "session=two&label=team=web": {b},
		"name=c": {c}, "state=running&limit=2": {a, b}, "state=exited": nil, "label=team=web&after=" + a: {b},
		"id=c&id=" + a: {c, a}} {
		if got, _ := s.listPart("/pty?" + query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if _, next := s.listPart("/pty?label=team=web&limit=1"); next != a {
		t.Errorf("next %q", next)
	}
	for query, field := range map[string]string{"label=team": "label", "label=a%20b=c": "label", "colour=red": "colour",
		"state=odd": "state", "session=a%20b": "session", "limit=0": "limit", "label=k=1&label=k=2": "label"} {
		r := s.get("/pty?" + query)
		if r.refused(400, "VALIDATION"); detail(r, "field") != field {
			t.Errorf("%s: %s", query, r.body)
		}
	}
	s.get("/session/one/pty?session=one").refused(400, "VALIDATION", "session")
	if out := s.says("labels", "a", "team-", "zone=eu west", "n=1"); out != "n=1\nzone=eu west\n" ||
		s.says("labels", "a") != out {
		t.Errorf("labels says %q", out)
	}
	run(t, s.cli("labels", "a", "what")).refuses(t, 2, "KEY=VALUE or KEY-")
	run(t, s.cli("labels", "a", "b=1", "a b=2")).refuses(t, 2, "a b")
	if out := s.says("ls", "--label", "zone=eu west"); !strings.Contains(out, "LABELS") ||
		!strings.Contains(out, "n=1,zone=eu west") || strings.Count(out, "\n") != 2 {
		t.Errorf("ls:\n%s", out)
	}
	var list []client.Terminal
	s.must(json.Unmarshal([]byte(s.says("ls", "--json", "--label", "n=2")), &list))
	if len(list) != 1 || list[0].Labels["team"] != "web" {
		t.Errorf("ls --json: %v", list)
	}
	if e := run(t, s.cli("__complete", "ls", "--label", "")); !strings.Contains(e.stdout, "n=1\n") {
		t.Errorf("completion: %+v", e)
	}
}

// TestSendToSeveral: all are found before anything is typed; one that fails does not keep the others.
func TestSendToSeveral(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	a, b := s.named("one", "a", wire.Labels{"k": "v"}).ID, s.named("one", "b", wire.Labels{"k": "v"}).ID
	run(t, s.cli("send", "a,b,nobody", "never", "--enter")).refuses(t, 4, "nobody")
	run(t, s.cli("send", "a,,b", "never")).refuses(t, 2, "empty")
	run(t, s.cli("send", "--filter", "k=v", "never")).refuses(t, 2, "label=KEY=VALUE")
	run(t, s.cli("send", "--filter", "label=k=w", "never")).refuses(t, 4, "label=k=w")
	s.says("send", "a,"+b+",a", "first", "--enter")
	s.says("send", "--filter", "label=k=v", "--filter", "session=one", "second", "--enter")
	for _, id := range []string{a, b} {
		if text := s.await(id, `second\n(.*\n)*second$`); strings.Count(text, "first") != 2 ||
			strings.Contains(text, "never") {
			t.Errorf("%s shows %q", id, text)
		}
	}
	gone := s.named("one", "gone", wire.Labels{"k": "v"}).ID
	s.post("/pty/"+gone+"/signal", `{"signal":"KILL"}`).wants(200)
	s.exit(gone)
	e := run(t, s.cli("send", "gone,a,b", "third", "--enter", "--json"))
	if e.code != 1 || strings.Count(e.stderr, "\n") != 1 ||
		!strings.Contains(e.stderr, "one/gone: the program has ended") {
		t.Errorf("%d %q", e.code, e.stderr)
	}
	var sent []struct {
		ID, Error string
		Bytes     int
	}
	s.must(json.Unmarshal([]byte(e.stdout), &sent))
	if len(sent) != 3 || sent[0].ID != gone || sent[0].Error == "" || sent[1].Bytes != 6 || sent[2].Error != "" {
		t.Errorf("%s", e.stdout)
	}
	s.await(a, "^third$")
	s.await(b, "^third$")
	s.says("send", "--filter", "label=k=v", "fourth", "--enter") // those that run
	s.await(b, "^fourth$")
}

// TestRenameAndResize by the command line.
func TestRenameAndResize(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	a := s.named("one", "a", nil).ID
	s.named("one", "b", nil)
	if out := s.says("rename", a[:8], "new"); out != "" {
		t.Errorf("rename says %q", out)
	}
	s.says("resize", "new", "100x30")
	if i := s.info(a); i.Name != "new" || i.Cols != 100 || i.Rows != 30 {
		t.Errorf("%+v", i)
	}
	run(t, s.cli("rename", "new", "b")).refuses(t, 1, "taken")
	run(t, s.cli("rename", "new", "-x")).refuses(t, 2)
	run(t, s.cli("rename", "new", "a b")).refuses(t, 2, "a b")
	for _, size := range []string{"80", "80x", "x24", "80,24", "0x24", "80x1001", "-1x2", "80x24x1", "axb"} {
		run(t, s.cli("resize", "new", "--", size)).refuses(t, 2, size)
	}
	if i := s.info(a); i.Name != "new" || i.Cols != 100 {
		t.Errorf("%+v", i)
	}
}

// TestNotify: what is said inside a terminal reaches its viewers, without control characters; elsewhere it is refused.
// A verb inside talks to the server of the terminal.
func TestNotify(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Cols: new(100), Rows: new(30),
		Env: map[string]string{"PS1": "> ", "E": binary}}).ID
	s.await(id, "^> $")
	v := s.watch(transports[0], id)
	var got []wire.Notification
	see := func() bool {
		e, err := v.next()
		s.must(err)
		if e.Kind == client.KindMeta && e.Meta.Notify != nil {
			got = append(got, *e.Meta.Notify)
		}
		return len(got) == 3
	}
	s.input(id, "$E notify $'done\\a\\e[31m now'; $E notify --title 'a;b' text; $E notify '9;9'\r")
	for !see() {
	}
	want := []wire.Notification{{Body: "done[31m now"}, {Title: "a,b", Body: "text"}, {Body: "9;9"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.input(id, "clear; $E ls --no-start --json | grep -c '\"id\"'; $E notify ''; echo code $?\r")
	s.await(id, "^1\n(.*\n)*code 2$")
	run(t, s.cli("notify", "text")).refuses(t, 2, "inside a terminal")
}
