package tests

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// person is one who watches a terminal by WebSocket, and what was said to them.
type person struct {
	t    *testing.T
	conn *jsonSocket
	id   string // among the viewers
	told wire.EventMeta
	last frame
}

// visits connects a viewer; more is the rest of the query.
func (s *server) visits(t *testing.T, id, more string) *person {
	t.Helper()
	conn, err := s.dialJSON(s.ctx(), "/pty/"+id+"/ws?"+more)
	s.must(err)
	t.Cleanup(func() { _ = conn.Close() })
	p := &person{t: t, conn: conn}
	p.until("its id", func() bool { return p.id != "" })
	return p
}

// until reads until f is true.
func (p *person) until(what string, f func() bool) {
	p.t.Helper()
	for !f() {
		got, b, err := p.conn.read()
		if err != nil {
			p.t.Fatalf("before %s: %v", what, err)
		}
		p.last = got
		var first struct{ Viewer string }
		if err := json.Unmarshal(b, &first); err == nil && first.Viewer != "" {
			p.id = first.Viewer
		}
		if err := json.Unmarshal(b, &p.told); err != nil {
			p.t.Fatal(err)
		}
	}
}

// control is what was told last of who types.
func (p *person) control() wire.Control {
	if p.told.Control == nil {
		return wire.Control{}
	}
	return *p.told.Control
}

func (p *person) says(command string) {
	p.t.Helper()
	if err := p.conn.conn.WriteMessage(websocket.TextMessage, []byte(command)); err != nil {
		p.t.Fatal(err)
	}
}

// types sends text, which the program shows.
func (p *person) types(text string) {
	p.t.Helper()
	p.says(`{"type":"input","data":` + strconv.Quote(text) + `}`)
}

// refused waits for an error with a code.
func (p *person) refused(code string) {
	p.t.Helper()
	p.until("the refusal "+code, func() bool { return p.last.Event == "error" && p.last.Code == code })
	p.last = frame{}
}

// closes waits for the end of the connection with a code.
func (p *person) closes(code int) {
	p.t.Helper()
	for {
		if _, _, err := p.conn.read(); err != nil {
			if !websocket.IsCloseError(err, code) {
				p.t.Errorf("the connection ended with %v, want %d", err, code)
			}
			return
		}
	}
}

// ticket makes a ticket for a terminal.
func (s *server) ticket(id, role string) string {
	s.t.Helper()
	return s.ticketFor(id, role, 600)
}

// polls waits until f is true.
func (s *server) polls(what string, f func() bool) {
	s.t.Helper()
	if !polling.Until(patience, f) {
		s.t.Fatalf("never came: %s", what)
	}
}

func (s *server) viewersOf(id string) (list wire.ViewerList) {
	s.t.Helper()
	s.get("/pty/" + id + "/viewers").wants(200).into(&list)
	return list
}

func (s *server) controls(id, as, body string) reply {
	s.t.Helper()
	path := "/pty/" + id + "/control"
	if as != "" {
		path += "?as=" + as
	}
	return s.call(http.MethodPost, path, body)
}

// TestViewersAreListed: every kind of viewer, with name, role, size and who decides the size; and who has left is gone.
func TestViewersAreListed(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	one := s.visits(t, id, "name=Ann&cols=90&rows=30")
	ticket := s.ticket(id, "read")
	two := s.visits(t, id, "name=B%C3%B6b&ticket="+ticket)
	three := s.watch(sse, id)
	a, err := s.Attach(s.ctx(), id, client.AttachOptions{Name: "term"})
	s.must(err)
	list := s.viewersOf(id).Viewers
	if len(list) != 4 {
		t.Fatalf("%d viewers: %+v", len(list), list)
	}
	for i, want := range []wire.Viewer{
		{ID: one.id, Name: "Ann", Role: "admin", Client: "api", Cols: 90, Rows: 30, Owner: true},
		{ID: two.id, Name: "Böb", Role: "read", Client: "api"},
		{ID: list[2].ID, Role: "admin", Client: "api"},
		{ID: list[3].ID, Name: "term", Role: "admin", Client: "attach"},
	} {
		got := list[i]
		if got.ConnectedAt.IsZero() || got.TypingAt != nil {
			t.Errorf("%+v", got)
		}
		got.ConnectedAt, got.LagBytes = time.Time{}, 0
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	one.types("x")
	s.polls("the typing is listed", func() bool { return s.viewersOf(id).Viewers[0].TypingAt != nil })
	two.until("who is there", func() bool {
		list := two.told.Presence.List()
		return len(list) == 4 && list[0].ID == one.id && list[0].Typing && list[0].Name == "Ann" && !list[1].Typing
	})
	two.until("the end of the typing", func() bool { return !two.told.Presence.List()[0].Typing })
	three.close()
	s.must(a.Close())
	two.until("who has left", func() bool { return len(two.told.Presence.List()) == 2 })
}

// TestLockedTerminal: the holder alone types, over WebSocket and HTTP; others ask, get it, and are denied.
func TestLockedTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	one, two := s.visits(t, id, "name=one"), s.visits(t, id, "name=two")
	reader := s.visits(t, id, "ticket="+s.ticket(id, "read"))
	one.says(`{"type":"control","action":"lock"}`)
	two.until("the lock", func() bool { return two.control().Mode == "locked" })
	if holder := two.control().Holder; holder == nil || *holder != one.id {
		t.Errorf("the holder is %v, want %s", holder, one.id)
	}
	for _, command := range []string{`{"type":"input","data":"no"}`, `{"type":"keys","keys":["n"]}`,
		`{"type":"paste","data":"no"}`, `{"type":"control","action":"unlock","viewer":""}`} {
		if strings.Contains(command, "unlock") {
			continue // an administrator may
		}
		two.says(command)
		two.refused("LOCKED")
	}
	for path, body := range map[string]string{"input": `{"data":"no"}`, "keys": `{"keys":["n"]}`,
		"paste": `{"data":"no"}`} {
		s.call(http.MethodPost, "/pty/"+id+"/"+path, body).refused(423, "LOCKED")
		s.call(http.MethodPost, "/pty/"+id+"/"+path+"?as="+two.id, body).refused(423, "LOCKED")
		s.call(http.MethodPost, "/pty/"+id+"/"+path+"?as=nobody", body).refused(404, "NOT_FOUND")
		s.call(http.MethodPost, "/pty/"+id+"/"+path+"?as="+reader.id, body).refused(403, "READ_ONLY")
	}
	reader.says(`{"type":"control","action":"request"}`)
	reader.refused("READ_ONLY")
	s.controls(id, reader.id, `{"action":"request"}`).refused(403, "READ_ONLY")
	one.types("first ")
	s.await(id, "^first")
	s.call(http.MethodPost, "/pty/"+id+"/input?as="+one.id, `{"data":"second"}`).wants(200)
	s.await(id, "first second")

	two.says(`{"type":"control","action":"request"}`)
	one.until("the request", func() bool { return slices.Contains(one.control().Requests, two.id) })
	one.says(`{"type":"control","action":"deny"}`)
	two.until("the denial", func() bool { return len(two.control().Requests) == 0 })
	s.controls(id, two.id, `{"action":"request"}`).wants(200)
	s.controls(id, one.id, `{"action":"grant","viewer":"`+two.id+`"}`).wants(200)
	two.types(" third")
	s.await(id, "first second third")
	one.types("no")
	one.refused("LOCKED")
	s.controls(id, "", `{"action":"unlock"}`).wants(200)
	one.until("the unlock", func() bool { return one.control().Mode == "open" && one.control().Holder == nil })
	one.types(" fourth")
	s.await(id, "third fourth")
	if strings.Contains(s.text(id), "no") {
		t.Errorf("a refused viewer has typed: %s", s.text(id))
	}
}

// TestWriterOfALockedTerminal: a viewer whose ticket lets it type cannot unlock what another one holds; it can ask.
func TestWriterOfALockedTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	one := s.visits(t, id, "")
	writer := s.visits(t, id, "ticket="+s.ticket(id, "write"))
	if list := s.viewersOf(id).Viewers; list[1].Role != "write" {
		t.Errorf("the role is %q", list[1].Role)
	}
	one.says(`{"type":"control","action":"lock"}`)
	writer.until("the lock", func() bool { return writer.told.Control != nil })
	for _, action := range []string{"unlock", "grant", "deny", "lock"} {
		writer.says(`{"type":"control","action":"` + action + `"}`)
		writer.refused("LOCKED")
		s.controls(id, writer.id, `{"action":"`+action+`"}`).refused(423, "LOCKED")
	}
	writer.says(`{"type":"control","action":"request"}`)
	one.until("the request", func() bool { return slices.Contains(one.control().Requests, writer.id) })
	writer.says(`{"type":"control","action":"dance"}`)
	writer.refused("VALIDATION")
}

// TestHolderComesBack: a holder whose connection breaks is the holder still, also of the next server after kill -9; one
// that is kicked is not.
func TestHolderComesBack(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	one, two := s.visits(t, id, "key=secret-of-one"), s.visits(t, id, "key=secret-of-two")
	one.says(`{"type":"control","action":"lock"}`)
	two.until("the lock", func() bool { return two.told.Control != nil })
	s.must(one.conn.Close())
	two.types("no")
	two.refused("LOCKED")
	one = s.visits(t, id, "key=secret-of-one")
	one.until("the lock", func() bool { return one.told.Control != nil })
	if holder := s.viewersOf(id).Control.Holder; holder == nil || *holder != one.id {
		t.Errorf("the holder is %v, want %s", holder, one.id)
	}
	s.polls("the lock is on disk", func() bool {
		b, err := os.ReadFile(s.file(filepath.Join("terminals", id, "holder")))
		return err == nil && len(b) > 0
	})
	s.kill()
	s.again()
	two = s.visits(t, id, "key=secret-of-two")
	two.until("the lock", func() bool { return two.control().Mode == "locked" })
	two.types("no")
	two.refused("LOCKED")
	one = s.visits(t, id, "key=secret-of-one")
	one.types("yes")
	s.await(id, "yes")
	s.call(http.MethodPost, "/pty/"+id+"/viewers/"+one.id+"/kick", `{}`).wants(200)
	one.closes(wire.CloseKicked)
	two.until("the unlock", func() bool { return two.control().Mode == "open" })
}

// TestKick: who is removed is told so on every kind of connection, and its ticket opens nothing more.
func TestKick(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	ticket := s.ticket(id, "write")
	kick := func(viewer string) { s.call(http.MethodPost, "/pty/"+id+"/viewers/"+viewer+"/kick", "").wants(200) }
	one := s.visits(t, id, "ticket="+ticket)
	kick(one.id)
	one.closes(wire.CloseKicked)
	s.call(http.MethodGet, "/pty/"+id+"/snapshot?ticket="+ticket, "").wants(401)
	for _, kind := range []transport{sse, wsBinary} {
		v := s.watch(kind, id)
		list := s.viewersOf(id).Viewers
		kick(list[len(list)-1].ID)
		for {
			if _, err := v.next(); err != nil {
				if !errors.Is(err, client.ErrKicked) {
					t.Errorf("%s: it ends with %v", kind, err)
				}
				break
			}
		}
	}
	s.call(http.MethodPost, "/pty/"+id+"/viewers/"+one.id+"/kick", "").refused(404, "NOT_FOUND")
	kicked := func(e auditEntry) bool { return e.What == "viewer.kick" }
	if got := s.audited("audit.log"); !slices.ContainsFunc(got, kicked) {
		t.Errorf("no line of the audit log has the kick: %+v", got)
	}
}

// TestLazyHistory: a viewer gets the screen alone until it asks for all.
func TestLazyHistory(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"sh", "-c", "seq 10000 14000; cat"}}).ID
	s.await(id, "^14000$")
	conn, err := s.dialJSON(s.ctx(), "/pty/"+id+"/ws?history=lazy")
	s.must(err)
	t.Cleanup(func() { _ = conn.Close() })
	snapshot := func() (e wire.EventSnapshot) {
		for e.Data == "" {
			_, b, err := conn.read()
			s.must(err)
			e = wire.EventSnapshot{}
			s.must(json.Unmarshal(b, &e))
		}
		return e
	}
	e := snapshot()
	if !e.Partial || e.Reason != "connect" || len(e.Data) > 1<<10 || !strings.Contains(e.Data, "14000") {
		t.Errorf("the first snapshot is partial=%t reason=%s of %d bytes", e.Partial, e.Reason, len(e.Data))
	}
	s.must(conn.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"history"}`)))
	if e := snapshot(); e.Partial || !strings.Contains(e.Data, "10001\r\n") {
		t.Errorf("the second snapshot is partial=%t of %d bytes", e.Partial, len(e.Data))
	}
}

// TestSizeOfItsCreation: behind the last viewer the terminal has the size of its creation again, or the one that was
// set through the API.
func TestSizeOfItsCreation(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"cat"}, Cols: new(70), Rows: new(20)}).ID
	size := func(cols, rows int) {
		t.Helper()
		s.polls("the size", func() bool { i := s.info(id); return i.Cols == cols && i.Rows == rows })
	}
	one, two := s.visits(t, id, "cols=100&rows=30"), s.visits(t, id, "cols=110&rows=33")
	size(110, 33)
	s.must(two.conn.Close())
	size(100, 30)
	s.must(one.conn.Close())
	size(70, 20)
	s.call(http.MethodPost, "/pty/"+id+"/resize", `{"cols":60,"rows":15}`).wants(200)
	one = s.visits(t, id, "cols=100&rows=30")
	size(100, 30)
	s.must(one.conn.Close())
	size(60, 15)
}

// TestRawIsExact: all bytes both ways, whatever they are, from now on and from a position; a position that is no more
// kept is 410; the connection closes with 1000 behind the exit.
func TestRawIsExact(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"sh", "-c", "stty raw -echo; printf ready; exec cat"}}).ID
	s.await(id, "ready")
	all := make([]byte, 0, 600)
	for i := range 512 {
		all = append(all, byte(i))
	}
	all = append(all, "\x1b[c\x1b[6n\x1b]52;c;eA==\x07\xff\xfe\xc3"...)
	conn, err := s.dialJSON(s.ctx(), "/pty/"+id+"/ws?format=raw")
	s.must(err)
	t.Cleanup(func() { _ = conn.Close() })
	s.must(conn.conn.WriteMessage(websocket.BinaryMessage, all))
	read := func(c *jsonSocket, n int) (got []byte) {
		for len(got) < n {
			kind, b, err := c.conn.ReadMessage()
			if err != nil || kind != websocket.BinaryMessage {
				t.Fatalf("%d bytes, then a message of kind %d, %v", len(got), kind, err)
			}
			got = append(got, b...)
		}
		return got
	}
	// cat echoes the answers to the queries too.
	if got := read(conn, len(all)); !bytes.HasPrefix(got, all) {
		t.Errorf("got %q, want %q", got, all)
	}
	again, err := s.dialJSON(s.ctx(), "/pty/"+id+"/ws?format=raw&since=5")
	s.must(err)
	t.Cleanup(func() { _ = again.Close() })
	if got := read(again, len(all)); !bytes.HasPrefix(got, all) {
		t.Errorf("since 5: got %q, want %q", got, all)
	}
	s.polls("two viewers that have all", func() bool { // cat shows the answers behind the rest
		list := s.viewersOf(id).Viewers
		return len(list) == 2 && list[0].LagBytes == 0 && list[1].LagBytes == 0
	})
	s.call(http.MethodDelete, "/pty/"+id, "").wants(200)
	for _, c := range []*jsonSocket{conn, again} {
		for {
			if _, _, err := c.conn.ReadMessage(); err != nil {
				if !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
					t.Errorf("it ends with %v", err)
				}
				break
			}
		}
	}
}

// TestRawThatIsNotKept: a position that the quota took is 410, one that has not come 400, before the upgrade.
func TestRawThatIsNotKept(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--journal-quota", "1MiB"}})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"sh", "-c", "seq 1000000; echo done; cat"}}).ID
	s.await(id, "^done$")
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
	s.polls("the quota", func() bool {
		return s.with(http.MethodGet, "/pty/"+id+"/ws?format=raw&since=0", "", upgrade...).status == http.StatusGone
	})
	s.with(http.MethodGet, "/pty/"+id+"/ws?format=raw&since=0", "", upgrade...).refused(410, "NOT_KEPT")
	s.with(http.MethodGet, "/pty/"+id+"/ws?format=raw&since=99999999999", "", upgrade...).refused(400, "VALIDATION")
}

// TestViewersVerb: evertty viewers lists, locks, hands over and removes; and says what is wrong.
func TestViewersVerb(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	one, two := s.visits(t, id, "name=one&cols=90&rows=30"), s.visits(t, id, "name=two")
	s.says("viewers", id, "lock", one.id)
	if got := s.says("viewers", id); !strings.Contains(got, one.id+"  one   admin  api     90x30") ||
		!strings.Contains(got, "holds the keyboard") {
		t.Errorf("the table is\n%s", got)
	}
	two.says(`{"type":"control","action":"request"}`)
	one.until("the request", func() bool { return len(one.control().Requests) == 1 })
	s.says("viewers", id, "grant")
	two.types("two")
	s.await(id, "two")
	s.says("viewers", id, "--kick", two.id)
	two.closes(wire.CloseKicked)
	for _, args := range [][]string{{"viewers", id, "dance"}, {"viewers", id, "lock", "1"}, {"viewers", "nothing"}} {
		if e := run(t, s.cli(args...)); e.code == 0 || !strings.HasPrefix(e.stderr, "evertty: ") {
			t.Errorf("evertty %v: %+v", args, e)
		}
	}
}

// TestZmodemThroughAttach: Debian's lrzsz sends a file of all bytes through attach --raw, both ways.
func TestZmodemThroughAttach(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"rz", "sz", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("this test needs lrzsz (apt-get install lrzsz): %v", err)
		}
	}
	s := start(t, launch{})
	there, here := t.TempDir(), t.TempDir()
	content := make([]byte, 300_000)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	s.must(os.WriteFile(filepath.Join(there, "down.bin"), content, 0o600))
	s.must(os.WriteFile(filepath.Join(here, "up.bin"), content, 0o600))
	for _, way := range []struct{ there, here, dir, file string }{
		{"sz -q down.bin", "rz -q", here, "down.bin"}, {"rz -q", "sz -q up.bin", there, "up.bin"},
	} {
		id := s.createWith(wire.CreateTerminal{Cwd: there, Cmd: []string{"bash", "-c",
			"read; stty raw -echo; " + way.there + "; sleep 1000"}}).ID
		attach := s.cli("attach", "--raw", id)
		local := exec.Command("bash", "-c", way.here)
		local.Dir = here
		in, err := attach.StdinPipe()
		s.must(err)
		local.Stdout = in
		local.Stdin, err = attach.StdoutPipe()
		s.must(err)
		s.must(attach.Start())
		s.polls("the viewer", func() bool { return len(s.viewersOf(id).Viewers) == 1 })
		s.must(local.Start())
		s.input(id, "\n")
		if err := local.Wait(); err != nil {
			t.Errorf("%s: %v", way.here, err)
		}
		_ = in.Close()
		_ = attach.Wait()
		if got, err := os.ReadFile(filepath.Join(way.dir, way.file)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s there and %s here: %d bytes of %d, %v", way.there, way.here, len(got), len(content), err)
		}
	}
}

// TestBadAttachHarmsNobody: a page that says a wrong history is refused; what it sends then, and its leaving, end
// nothing else.
func TestBadAttachHarmsNobody(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	for _, then := range []string{"hide", "input", ""} {
		page, err := s.dialJSON(s.ctx(), "/ws")
		s.must(err)
		s.must(page.send(map[string]any{"type": "attach", "pty": id, "history": "bogus"}))
		if then != "" {
			s.must(page.send(map[string]any{"type": then, "pty": id, "data": "x"}))
		}
		for refusals := 0; refusals < 1 || then != "" && refusals < 2; {
			f, _, err := page.read()
			s.must(err)
			if f.Event == "error" {
				refusals++
			}
		}
		s.must(page.Close())
	}
	s.get("/pty/" + id).wants(200)
}

// TestKickedTypesNoMore: who does not hear that it was removed neither types nor locks, until its connection is gone.
func TestKickedTypesNoMore(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	one := s.visits(t, id, "ticket="+s.ticket(id, "write"))
	s.call(http.MethodPost, "/pty/"+id+"/viewers/"+one.id+"/kick", "").wants(200)
	one.types("no")
	one.says(`{"type":"control","action":"lock"}`)
	one.closes(wire.CloseKicked)
	s.call(http.MethodPost, "/pty/"+id+"/input", `{"data":"yes"}`).wants(200)
	s.await(id, "yes")
	if list := s.viewersOf(id); list.Control.Mode != "open" || strings.Contains(s.text(id), "no") {
		t.Errorf("%+v, %q", list.Control, s.text(id))
	}
}

// TestSizeSetThroughTheAPIStays: over kill -9 and a restart of the program, whoever comes and goes; a fixed one always.
func TestSizeSetThroughTheAPIStays(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--snapshot-interval", "200ms"}})
	fixed, set := s.create("cat").ID, s.create("bash", "--norc").ID
	s.change(fixed, `{"size_policy":"fixed","cols":132,"rows":43}`).wants(200)
	s.call(http.MethodPost, "/pty/"+set+"/resize", `{"cols":100,"rows":30}`).wants(200)
	s.polls("the record", func() bool {
		b, err := os.ReadFile(s.file(filepath.Join("terminals", set, "meta")))
		return err == nil && bytes.Contains(b, []byte(`"base_size":{"cols":100,"rows":30}`))
	})
	s.kill()
	s.again()
	look := func(id string) {
		v := s.visits(t, id, "")
		w := s.visits(t, set, "cols=90&rows=20")
		s.polls("the other size", func() bool { return s.info(set).Cols == 90 })
		s.must(errors.Join(v.conn.Close(), w.conn.Close()))
		s.polls("the size that was set", func() bool { return s.info(set).Cols == 100 })
	}
	look(fixed)
	if i := s.info(fixed); i.Cols != 132 || i.Rows != 43 {
		t.Errorf("the fixed terminal has %dx%d", i.Cols, i.Rows)
	}
	s.input(set, "exit\n")
	s.polls("the end", func() bool { return s.info(set).State == "exited" })
	s.call(http.MethodPost, "/pty/"+set+"/restart", `{}`).wants(200)
	look(set)
}

// TestRawThatFallsBehind: a raw viewer whose output is no more kept is told so, and does not wait for ever.
func TestRawThatFallsBehind(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--journal-quota", "1MiB"}})
	id := s.createWith(wire.CreateTerminal{Cmd: []string{"sh", "-c", "read x; seq 3000000; echo done; cat"}}).ID
	conn, err := s.dialJSON(s.ctx(), "/pty/"+id+"/ws?format=raw")
	s.must(err)
	t.Cleanup(func() { _ = conn.Close() })
	s.input(id, "\n")
	s.await(id, "^done$")
	for {
		if _, _, err := conn.conn.ReadMessage(); err != nil {
			told := strings.Contains(err.Error(), "not kept")
			if !told || !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
				t.Errorf("it ends with %v", err)
			}
			return
		}
	}
}

// TestOneKeyTwice: two tabs of one page have one key; the one that stays holds the keyboard.
func TestOneKeyTwice(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	one := s.visits(t, id, "key=k")
	one.says(`{"type":"control","action":"lock"}`)
	one.until("the lock", func() bool { return one.control().Mode == "locked" })
	two := s.visits(t, id, "key=k")
	s.must(two.conn.Close())
	s.polls("that the keyboard is the first one's again", func() bool {
		l := s.viewersOf(id)
		return len(l.Viewers) == 1 && l.Control.Holder != nil && *l.Control.Holder == one.id
	})
	one.types("mine")
	s.await(id, "mine")
	long := strings.Repeat("x", 65)
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}
	for _, query := range []string{"name=" + long, "key=" + long, "name=%E2%80%AEb", "name=a%07"} {
		s.with(http.MethodGet, "/pty/"+id+"/ws?"+query, "", upgrade...).refused(400, "VALIDATION")
	}
}
