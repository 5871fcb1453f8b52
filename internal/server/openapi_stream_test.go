package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/auth"
)

// liveBody starts a program that waits for a line, causes every change that is
// not bytes, waits for another line and ends.
const liveBody = `{"cmd":["sh","-c","printf ready; read a; printf '\\033]2;title\\007\\033]7;` +
	`file:///tmp\\007\\033]9;note\\007\\007more'; read b; exit 3"],"name":"live"}`

// TestStreamsAreAsDocumented watches one terminal from its first snapshot to its
// exit by event stream, WebSocket and page, and holds every event and command
// against the document. Each kind that is documented has to be seen.
func TestStreamsAreAsDocumented(t *testing.T) {
	checkLeaks(t)
	c := newContract(t, startServer(t, auth.ModeNone, t.TempDir()))
	var info struct{ ID string }
	decode(t, c.do(t, exchange{method: "POST", target: "/session/dev/pty", body: liveBody, status: 201}), &info)
	c.do(t, exchange{method: "POST", target: "/pty/live/wait", body: `{"for":"text","pattern":"ready"}`, status: 200})
	sse := c.openStream(t, "/pty/live/stream")
	socket := c.openSocket(t, "/pty/live/ws", "TerminalSocket")
	page := c.openSocket(t, "/ws", "PageSocket")
	var ticket struct{ Ticket string }
	decode(t, c.do(t, exchange{method: "POST", target: "/tickets", body: `{"pty":"live","ttl_s":1}`, status: 201}),
		&ticket)
	c.openStream(t, "/pty/live/stream?ticket="+ticket.Ticket).until("expired")

	page.send(`{"type":"auth","page":""}`)
	page.send(`{"type":"input","pty":"` + info.ID + `","data":"x"}`) // not attached yet
	page.until("error")
	page.send(`{"type":"attach","pty":"` + info.ID + `"}`)
	page.until("snapshot")
	sse.until("snapshot")
	socket.until("snapshot")
	socket.send(`{"type":"auth","page":"x"}`)
	socket.send(`{"type":"resize","cols":90,"rows":25}`)
	for _, w := range []*watcher{sse, socket, page} {
		w.until("resize")
	}
	socket.send(`{"type":"input","data":"w"}`)
	socket.until("data")
	since := fmt.Sprint(socket.seq) // behind the resize, which nobody can repeat
	socket.send(`{"type":"ping","t":[1,"x"]}`)
	socket.until("pong")
	socket.send(`{"type":"focus"}`)
	socket.send(`{"type":"hide"}`)
	socket.send(`{"type":"show"}`)
	socket.send(`{"type":"colors","foreground":"#102030","background":"#ffFFff","cursor":"#000000"}`)
	socket.refused(`{"type":"colors","foreground":"red","background":"#ffffff","cursor":"#000000"}`)
	socket.send(`{"type":"keys","keys":["text:go","Enter"]}`)
	for _, w := range []*watcher{sse, socket, page} {
		w.until("title")
	}
	c.do(t, exchange{method: "POST", target: "/pty/live/wait",
		body: `{"for":"text","pattern":"more","since":` + since + `}`, status: 200})
	late := c.openLate(t, "/pty/live", since, info.ID)
	socket.send(`{"type":"paste","data":"p"}`)
	socket.send(`{"type":"input","data":"q"}`)
	socket.send(`{"type":"input","data_b64":"cg=="}`)
	socket.refused(`{"type":"dance"}`)
	page.send(`{"type":"detach","pty":"` + info.ID + `"}`)
	page.send(`{"type":"attach","pty":"` + info.ID + `","cols":90,"rows":25,"hidden":false}`)
	socket.until("owner")
	for _, command := range []string{`{"type":"focus",`, `{"type":"hide",`, `{"type":"show",`,
		`{"type":"colors","foreground":"#102030","background":"#ffffff","cursor":"#000000",`,
		`{"type":"resize","cols":70,"rows":20,`, `{"type":"paste","data":"p",`, `{"type":"input","data":"q",`} {
		page.send(command + `"pty":"` + info.ID + `"}`)
	}
	page.send(`{"type":"control","action":"lock","pty":"` + info.ID + `"}`)
	socket.until("control")
	socket.send(`{"type":"control","action":"request"}`)
	page.until("control")
	page.send(`{"type":"control","action":"unlock","pty":"` + info.ID + `"}`)
	page.send(`{"type":"history","pty":"` + info.ID + `"}`)
	socket.send(`{"type":"history"}`)
	kicked := c.openStream(t, "/pty/live/stream")
	kicked.until("viewer")
	c.do(t, exchange{method: "POST", target: "/pty/live/viewers/" + kicked.viewer + "/kick", status: 200})
	kicked.until("kicked")
	other := c.openSocket(t, "/ws", "PageSocket")
	other.send(`{"type":"attach","history":"lazy","pty":"` + info.ID + `"}`)
	other.until("viewer")
	c.do(t, exchange{method: "POST", target: "/pty/live/viewers/" + other.viewer + "/kick", status: 200})
	other.until("kicked")
	page.send(`{"type":"ping"}`)
	page.until("pong")
	page.send(`{"type":"keys","keys":["Enter"],"pty":"` + info.ID + `"}`)
	for _, w := range append(late, sse, socket, page) {
		w.until("exit")
	}
	for _, w := range []*watcher{sse, socket, page} {
		w.complete()
	}
	c.resumeAfterRestart(t, "/pty/live", fmt.Sprint(sse.seq))
	for _, field := range []string{"title", "cwd", "bell", "notify", "viewers", "owner", "size", "presence", "control"} {
		if !socket.meta[field] {
			t.Errorf("no meta event had %q: %v", field, socket.meta)
		}
	}
	if page.first != "list" {
		t.Errorf("the page's first event is %q, want list", page.first)
	}
}

// openLate watches from a position on in every way, and wants what follows it.
func (c *contract) openLate(t *testing.T, base, since, id string) []*watcher {
	t.Helper()
	page := c.openSocket(t, "/ws", "PageSocket")
	page.send(`{"type":"attach","pty":"` + id + `","since":` + since + `}`)
	list := []*watcher{c.openStream(t, base+"/stream?since="+since), c.openStream(t, base+"/stream?since=0", since),
		c.openSocket(t, base+"/ws?since="+since, "TerminalSocket"), page,
		c.openSocket(t, base+"/ws?format=binary&since="+since, "TerminalSocket")}
	for _, w := range list {
		w.until("resume")
		w.until("data")
		w.until("viewers")
		if w.snapshots != 0 {
			t.Errorf("%s: it began with a snapshot", w.name)
		}
		if text := w.text.String(); !strings.Contains(text, "more") || strings.Contains(text, "ready") {
			t.Errorf("%s: since %s there was %q", w.name, since, text)
		}
	}
	return list[:4] // a binary snapshot may follow, which is no JSON
}

// resumeAfterRestart starts the program again and goes on where it ended.
func (c *contract) resumeAfterRestart(t *testing.T, base, since string) {
	t.Helper()
	c.do(t, exchange{method: "POST", target: base + "/restart", body: `{}`, status: 200})
	c.do(t, exchange{method: "POST", target: base + "/wait",
		body: `{"for":"text","pattern":"ready","since":` + since + `}`, status: 200})
	w := c.openStream(t, base+"/stream?since="+since)
	w.until("viewers")
	if text := w.text.String(); w.snapshots != 0 || w.first != "resume" || !strings.Contains(text, " · restarted ") ||
		!strings.HasSuffix(text, "ready") {
		t.Errorf("since %s, the end of the generation before, there was %s, %d snapshots, %q", since, w.first,
			w.snapshots, text)
	}
}

// watcher is one connection whose events are checked as they come.
type watcher struct {
	t        *testing.T
	c        *contract
	name     string
	events   map[string]string // schema of each kind, as documented
	commands map[string]string
	next     func() (kind string, value any)
	conn     *websocket.Conn // nil for an event stream
	first    string          // kind of the first event
	seen     map[string]bool // kinds of events, and of commands after "command ", on all connections of this name
	meta     map[string]bool // fields of meta events
	// What this connection got: output of data events, the position of the last, and
	// how many snapshots.
	text      strings.Builder
	seq       float64
	snapshots int
	viewer    string // its id
}

func (c *contract) watcher(t *testing.T, response string) *watcher {
	t.Helper()
	part := c.doc.Components.Responses[response].Value
	if c.seen[response] == nil {
		c.seen[response] = map[string]bool{}
	}
	return &watcher{t: t, c: c, name: response, events: refsIn(t, part.Extensions["x-events"]),
		commands: refsIn(t, part.Extensions["x-commands"]), seen: c.seen[response], meta: map[string]bool{}}
}

// refsIn are the schemas that an extension names.
func refsIn(t *testing.T, extension any) map[string]string {
	t.Helper()
	b, err := json.Marshal(extension)
	if err != nil {
		t.Fatal(err)
	}
	var refs map[string]struct {
		Ref string `json:"$ref"`
	}
	decode(t, b, &refs)
	names := map[string]string{}
	for kind, r := range refs {
		names[kind] = strings.TrimPrefix(r.Ref, "#/components/schemas/")
	}
	return names
}

func (c *contract) openStream(t *testing.T, path string, lastEventID ...string) *watcher {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(lastEventID) > 0 {
		r.Header.Set("Last-Event-ID", lastEventID[0])
	}
	response, err := c.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" ||
		response.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("GET %s: %d %v", path, response.StatusCode, response.Header)
	}
	w := c.watcher(t, "EventStream")
	lines := bufio.NewReader(response.Body)
	w.next = func() (kind string, value any) {
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			name, content, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(": "))
			switch string(name) {
			case "event":
				kind = string(content)
			case "data":
				value = jsonValue(t, content)
			case "":
				if kind != "" {
					return kind, value
				}
			}
		}
	}
	return w
}

func (c *contract) openSocket(t *testing.T, path, response string) *watcher {
	t.Helper()
	conn, reply, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.url, "http")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = reply.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	w := c.watcher(t, response)
	w.conn = conn
	w.next = func() (string, any) {
		form, b, err := conn.ReadMessage()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if form == websocket.BinaryMessage {
			b = unpacked(t, b)
		}
		value := jsonValue(t, b)
		kind, _ := value.(map[string]any)["event"].(string)
		return kind, value
	}
	return w
}

// unpacked is a binary frame as the text frame it stands for, apart from what only
// the text frame has. A snapshot cannot be one of that.
func unpacked(t *testing.T, frame []byte) []byte {
	t.Helper()
	switch {
	case frame[0] == 0x03:
		return frame[1:]
	case frame[0] == 0x02 && len(frame) > 9:
		b, err := json.Marshal(map[string]any{"event": "data", "seq": binary.BigEndian.Uint64(frame[1:]),
			"data": string(frame[9:])})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Fatalf("a frame %q", frame)
	return nil
}

// until reads events up to one of that kind, or a meta event with that field.
func (w *watcher) until(what string) {
	w.t.Helper()
	for range 1000 {
		kind, value := w.next()
		schema, ok := w.events[kind]
		if !ok {
			w.t.Fatalf("%s: the event %q is not documented: %v", w.name, kind, value)
		}
		w.c.validate(w.t, schema, value)
		if w.first == "" {
			w.first = kind
		}
		w.seen[kind] = true
		fields, _ := value.(map[string]any)
		if id, ok := fields["viewer"].(string); ok {
			w.viewer = id
		}
		switch kind {
		case "snapshot":
			w.snapshots++
		case "data":
			text, _ := fields["data"].(string)
			w.text.WriteString(text)
			w.seq, _ = fields["seq"].(float64)
		}
		if kind == "meta" {
			for field := range fields {
				w.meta[field] = true
			}
		}
		if kind == what || fields[what] != nil {
			return
		}
	}
	w.t.Fatalf("%s: 1000 events and no %q", w.name, what)
}

// send sends a documented command.
func (w *watcher) send(command string) {
	w.t.Helper()
	value := jsonValue(w.t, []byte(command))
	kind, _ := value.(map[string]any)["type"].(string)
	schema, ok := w.commands[kind]
	if !ok {
		w.t.Fatalf("%s: the command %q is not documented", w.name, kind)
	}
	w.c.validate(w.t, schema, value)
	w.seen["command "+kind] = true
	w.write(command)
}

// refused sends a command that is not documented and wants an error.
func (w *watcher) refused(command string) {
	w.t.Helper()
	w.write(command)
	w.until("error")
}

func (w *watcher) write(command string) {
	w.t.Helper()
	if err := w.conn.WriteMessage(websocket.TextMessage, []byte(command)); err != nil {
		w.t.Fatal(err)
	}
}

// complete wants every documented event seen and every command sent.
func (w *watcher) complete() {
	w.t.Helper()
	for kind := range w.events {
		if !w.seen[kind] {
			w.t.Errorf("%s: no event %q", w.name, kind)
		}
	}
	for kind := range w.commands {
		if !w.seen["command "+kind] {
			w.t.Errorf("%s: no command %q", w.name, kind)
		}
	}
}
