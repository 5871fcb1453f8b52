package tests

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// TestFiftyViewersSeeOneScreen: F-009.
func TestFiftyViewersSeeOneScreen(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c",
		`read -r; printf '\e[2J\e[5;5Hfive \e[1;31mred\e[0m \xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80'; `+
			`seq 100; printf 'end of it'; read -r`).ID
	var all []*viewer
	for i := range 50 {
		all = append(all, s.watch(transports[i%len(transports)], id))
	}
	if n := s.info(id).Viewers; n != 50 {
		t.Errorf("%d viewers are counted", n)
	}
	s.input(id, "\n")
	s.await(id, "^end of it$")
	shot, err := s.Snapshot(s.ctx(), id, client.Text, client.AllHistory)
	s.must(err)
	for _, v := range all {
		v.until("all output", func() bool { return v.seq == shot.Seq })
		if strings.TrimRight(v.all(), "\n") != strings.TrimRight(shot.Text, "\n") {
			t.Errorf("%s shows\n%s\nnot\n%s", v.kind, v.all(), shot.Text)
		}
	}
}

// TestConnectsLeaveNothing: F-017. 200 visits, and the server is as it was.
func TestConnectsLeaveNothing(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	visit := func(i int) { s.watch(transports[i%len(transports)], id).close() }
	for i := range 12 { // what a server makes once is there after them
		visit(i)
	}
	idle := func() int { s.Client.Close(); return len(openFiles(s.pid())) }
	eventually(t, "the first visitors have left", func() bool { return s.info(id).Viewers == 0 })
	goroutines := func() float64 { return s.metric("go_goroutines") }
	fds, routines := idle(), goroutines()
	for i := range 200 {
		visit(i)
	}
	eventually(t, "all viewers have left", func() bool { return s.info(id).Viewers == 0 })
	if !polling.Until(patience, func() bool { return idle() <= fds }) {
		t.Errorf("%d descriptors, %d before: %v", idle(), fds, openFiles(s.pid()))
	}
	if !polling.Until(patience, func() bool { return goroutines() <= routines }) {
		t.Errorf("%v goroutines, %v before", goroutines(), routines)
	}
	// Go keeps its threads; they do not grow with the visits.
	if n := threads(s.pid()); n > 40 {
		t.Errorf("%d threads", n)
	}
	s.input(id, "echo 'still' healthy\n")
	s.await(id, "^still healthy$")
}

// TestExitEndsTheStream: F-007. On every transport the exit is the last event
// and then the connection is closed.
func TestExitEndsTheStream(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	raw := s.rawStream("/session/test/pty/"+id+"/stream", 0)
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store",
		"X-Accel-Buffering": "no"} {
		if got := raw.resp.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	binary, _, err := websocket.DefaultDialer.DialContext(s.ctx(),
		"ws"+strings.TrimPrefix(s.url, "http")+"/session/test/pty/"+id+"/ws?format=binary", nil)
	s.must(err)
	defer binary.Close()
	viewers := []*viewer{{t: t, kind: "raw SSE", events: raw}, s.watch(wsJSON, id), s.watch(sse, id)}
	s.input(id, "exit 3\n")
	for _, v := range viewers {
		if exit := v.end(); *exit.Code != 3 || exit.Reason != "exit" || exit.Signal != "" {
			t.Errorf("%s: %+v", v.kind, exit)
		}
	}
	for seen := ""; ; {
		kind, p, err := binary.ReadMessage()
		if err != nil {
			if !websocket.IsCloseError(err, websocket.CloseNormalClosure) || !strings.Contains(seen, `"event":"exit"`) {
				t.Errorf("binary: %v after %s", err, seen)
			}
			break
		}
		if kind != websocket.BinaryMessage {
			t.Errorf("binary: a message of kind %d", kind)
		}
		seen = string(p)
	}
}

// TestStreamOfAnExitedTerminal: F-019. Snapshot, exit, end; the screen stays.
func TestStreamOfAnExitedTerminal(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", "echo done; exit 5").ID
	s.exit(id)
	for _, kind := range transports {
		v := s.watch(kind, id)
		if !strings.HasPrefix(v.screen(), "done\n") {
			t.Errorf("%s: %s", kind, v.screen())
		}
		if exit := v.end(); *exit.Code != 5 || len(v.text) != 0 || len(v.shots) != 1 {
			t.Errorf("%s: %+v after %q and %v", kind, exit, v.text, v.shots)
		}
	}
	if i := s.info(id); i.State != "exited" || *i.Exit.Code != 5 || i.PID != 0 {
		t.Errorf("%+v", i)
	}
	eventually(t, "the viewers have left", func() bool { return s.info(id).Viewers == 0 })
	signalled := s.create("sleep", "1000").ID
	s.must(s.Signal(s.ctx(), signalled, "TERM"))
	if exit := s.exit(signalled); exit.Signal != "TERM" || exit.Reason != "signal" {
		t.Errorf("%+v", exit)
	}
	killed := s.create("sleep", "1000").ID
	v := s.watch(sse, killed)
	s.must(s.Delete(s.ctx(), killed, false))
	if exit := v.end(); exit.Reason != "killed" {
		t.Errorf("%+v", exit)
	}
}

// TestSplitCharacters: F-030. Characters whose bytes arrive one by one reach
// viewers whole.
func TestSplitCharacters(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const text = "é漢😀!"
	var script strings.Builder
	script.WriteString("stty -echo; printf ready; read -r; ")
	for _, b := range []byte(text) {
		fmt.Fprintf(&script, `printf '\x%02x'; read -r; `, b)
	}
	id := s.create("bash", "-c", script.String()).ID
	s.await(id, "^ready$")
	viewers := []*viewer{s.watch(sse, id), s.watch(wsJSON, id), s.watch(wsBinary, id)}
	for range len(text) {
		before := s.info(id).LastOutputAt
		s.input(id, "\n")
		eventually(t, "the byte arrives", func() bool { return s.info(id).LastOutputAt.After(*before) })
	}
	for _, v := range viewers {
		var parts []string
		v.until("the text", func() bool {
			if v.last.Kind == client.KindData {
				parts = append(parts, string(v.last.Data))
			}
			return strings.HasSuffix(v.screen(), "\n") && strings.Contains(v.screen(), text)
		})
		if !slices.Equal(parts, []string{"é", "漢", "😀", "!"}) {
			t.Errorf("%s: the events are %q", v.kind, parts)
		}
	}
}

// TestBytesThatAreNotText: each is one U+FFFD for the screen and every viewer.
func TestBytesThatAreNotText(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c",
		`stty -echo; read -r; printf 'a\xff\xfeb\xc3(c\xe6\xbcd\xed\xa0\x80e\xf5f\x80.'; read -r`).ID
	const want = "a\ufffd\ufffdb\ufffd(c\ufffd\ufffdd\ufffd\ufffd\ufffde\ufffdf\ufffd."
	viewers := []*viewer{s.watch(sse, id), s.watch(wsJSON, id), s.watch(wsBinary, id)}
	s.input(id, "\n")
	s.await(id, `\.$`)
	for _, v := range viewers {
		v.sees("f\ufffd.")
		if text := strings.TrimSpace(v.all()); text != want || strings.TrimSpace(string(v.text)) != want ||
			!utf8.Valid(v.text) {
			t.Errorf("%s: shows %q of %q, want %q", v.kind, text, v.text, want)
		}
	}
	if text := strings.TrimSpace(s.text(id)); text != want {
		t.Errorf("the server shows %q, want %q", text, want)
	}
}

// TestOutputCannotForgeEvents: output that looks like Server-Sent Events or JSON
// stays output.
func TestOutputCannotForgeEvents(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const forged = "\n\nevent: exit\nid: 9\ndata: {\"code\":0}\n\n:\r\r\nretry: 1\n\u2028\"}\\\x00\x07</script>\n"
	id := s.create("bash", "-c",
		fmt.Sprintf(`stty -echo -opost; printf ready; read -r; echo %s | base64 -d; read -r; printf over`,
			base64.StdEncoding.EncodeToString([]byte(forged)))).ID
	s.await(id, "^ready$")
	raw := &viewer{t: t, kind: "raw SSE", events: s.rawStream("/pty/"+id+"/stream", 0)}
	v := s.watch(wsJSON, id)
	s.input(id, "\n")
	for _, v := range []*viewer{raw, v} {
		v.until("all of it", func() bool { return len(v.text) >= len(forged) })
	}
	s.input(id, "\n")
	for _, v := range []*viewer{raw, v} {
		v.end()
		if string(v.text) != forged+"over" {
			t.Errorf("%s: %q, want %q", v.kind, v.text, forged+"over")
		}
	}
}

// TestResizeIsSeenByProgramAndViewers: F-014.
func TestResizeIsSeenByProgramAndViewers(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	viewers := []*viewer{s.watch(sse, id), s.watch(wsJSON, id), s.watch(wsBinary, id)}
	s.post("/pty/"+id+"/resize", `{"cols":101,"rows":31}`).wants(200)
	s.input(id, "stty size\n")
	s.await(id, "^31 101$")
	for _, v := range viewers {
		v.sees("\n31 101\n")
		if v.cols != 101 || v.rows != 31 {
			t.Errorf("%s: the viewer has %dx%d", v.kind, v.cols, v.rows)
		}
		if strings.Count(v.screen(), "\n") != 31 {
			t.Errorf("%s: %d rows", v.kind, strings.Count(v.screen(), "\n"))
		}
	}
	s.input(id, "printf '\\033[8;50;200t'; stty size\n") // a child cannot resize
	s.await(id, `31 101\n(.*\n)*.*31 101$`)
	if i := s.info(id); i.Cols != 101 || i.Rows != 31 {
		t.Errorf("the child changed the size to %dx%d", i.Cols, i.Rows)
	}
}

// TestSizePolicies: whose wish counts when several viewers have one.
func TestSizePolicies(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for _, tc := range []struct {
		policy                       string
		first, second, typing, alone string // after each step: A asks 100x30, B asks 60x40, A types, B leaves
	}{
		{"latest", "100x30", "60x40", "100x30", "100x30"},
		{"owner", "100x30", "100x30", "100x30", "100x30"},
		{"smallest", "100x30", "60x30", "60x30", "100x30"},
		{"largest", "100x30", "100x40", "100x40", "100x30"},
		{"fixed", "80x24", "80x24", "80x24", "80x24"},
	} {
		id := s.createWith(wire.CreateTerminal{Cmd: []string{"sleep", "1000"}, Cols: new(80), Rows: new(24),
			SizePolicy: wire.SizePolicy(tc.policy)}).ID
		is := func(step, want string) {
			t.Helper()
			got := ""
			if !polling.Until(patience, func() bool {
				i := s.info(id)
				got = fmt.Sprintf("%dx%d", i.Cols, i.Rows)
				return got == want
			}) {
				t.Errorf("%s, %s: %s, want %s", tc.policy, step, got, want)
			}
		}
		a, b := s.watch(wsJSON, id), s.watch(wsJSON, id)
		send := func(v *viewer, m any) {
			t.Helper()
			socket := v.events.(*jsonSocket)
			s.must(socket.send(m))
			// The answer shows that the message before was carried out.
			s.must(socket.send(map[string]any{"type": "ping", "t": 7}))
			v.until("pong", func() bool { return v.last.Kind == "pong" })
		}
		send(a, map[string]any{"type": "resize", "cols": 100, "rows": 30})
		is("A asks", tc.first)
		send(b, map[string]any{"type": "resize", "cols": 60, "rows": 40})
		is("B asks", tc.second)
		send(a, map[string]any{"type": "input", "data": "x"})
		is("A types", tc.typing)
		b.close()
		is("B has left", tc.alone)
	}
}

// TestWebSocketMessages: F-033. All that a client can say, and what it may not.
func TestWebSocketMessages(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	v := s.watch(wsJSON, id)
	socket := v.events.(*jsonSocket)
	for _, step := range []struct {
		message map[string]any
		shows   string
	}{
		{map[string]any{"type": "input", "data": "echo 'typed'; stty -echo; cat -v\r"}, "\ntyped\n"},
		{map[string]any{"type": "input", "data_b64": base64.StdEncoding.EncodeToString([]byte("b64\xff\r"))},
			"\nb64M-^?\n"},
		{map[string]any{"type": "keys", "keys": []string{"Up", "text:keys", "Enter"}}, "\n^[[Akeys\n"},
		{map[string]any{"type": "paste", "data": "pasted\n"}, "\npasted\n"},
	} {
		s.must(socket.send(step.message))
		v.sees(step.shows)
	}
	for _, bad := range []string{`{"type":"dance"}`, `{"type":"input"}`, `{"type":"resize","cols":0,"rows":5}`,
		`{"type":"keys","keys":["NoSuchKey"]}`, `{`, `[]`, `{"type":5}`} {
		v.last = client.Event{}
		s.must(socket.conn.WriteMessage(websocket.TextMessage, []byte(bad)))
		v.until("an error for "+bad, func() bool { return v.last.Kind == client.KindError })
		if v.last.Err.Code != "VALIDATION" || v.last.Err.Message == "" {
			t.Errorf("%s: %+v", bad, v.last.Err)
		}
	}
	s.must(socket.send(map[string]any{"type": "keys", "keys": []string{"C-c"}}))
	s.await(id, `^pasted\n+.*[$#]$`)
	s.must(socket.send(map[string]any{"type": "input", "data": "echo 'goes' on\r"}))
	v.sees("\ngoes on\n")
	// The refusal may come, and the connection end, while most of it is still unsent.
	sent := socket.conn.WriteMessage(websocket.TextMessage, bytes.Repeat([]byte("x"), 2<<20))
	for {
		if _, err := v.next(); err != nil {
			if sent == nil && !websocket.IsCloseError(err, websocket.CloseMessageTooBig) {
				t.Errorf("a message of 2 MiB: %v", err)
			}
			break
		}
	}
	s.input(id, "echo 'for' others\n")
	s.await(id, "^for others$")
	if resp := s.get("/pty/" + id + "/ws"); resp.status != http.StatusUpgradeRequired {
		t.Errorf("a plain GET of a WebSocket: %d", resp.status)
	}
}

// TestMeta: title, bell, directory and the number of viewers come as events.
func TestMeta(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c",
		`read -r; printf '\e]2;a title\a\a\e]7;file://localhost/some/dir\a\e]9;look here\a'; read -r`).ID
	v := s.watch(sse, id)
	s.input(id, "\n")
	s.watch(wsJSON, id)
	var title, cwd, notify string
	bell, viewers := false, 0
	v.until("all changes", func() bool {
		for _, m := range v.metas {
			bell = bell || m.Bell
			if m.Title != nil {
				title = *m.Title
			}
			if m.Cwd != nil {
				cwd = *m.Cwd
			}
			if m.Notify != nil {
				notify = m.Notify.Body
			}
			if m.Viewers != nil {
				viewers = max(viewers, *m.Viewers)
			}
		}
		return title != "" && bell && cwd != "" && notify != "" && viewers == 2
	})
	if title != "a title" || cwd != "/some/dir" || notify != "look here" {
		t.Errorf("title %q, cwd %q, notification %q", title, cwd, notify)
	}
	if i := s.info(id); i.Title != "a title" || i.BellCount != 1 {
		t.Errorf("%+v", i)
	}
}

// TestServerEndsViewersPolitely: SIGTERM closes WebSockets with 1001 and streams
// without an exit, because the terminal did not exit.
func TestServerEndsViewersPolitely(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	raw := &viewer{t: t, kind: "raw SSE", events: s.rawStream("/pty/"+id+"/stream", 0)}
	socket := s.watch(wsJSON, id)
	raw.until("snapshot", func() bool { return len(raw.shots) == 1 })
	begin := time.Now()
	s.stop()
	t.Logf("SIGTERM took %v", time.Since(begin))
	for _, v := range []*viewer{raw, socket} {
		var err error
		for err == nil {
			_, err = v.next()
		}
		polite := errors.Is(err, io.EOF) || websocket.IsCloseError(err, websocket.CloseGoingAway)
		if !polite || v.exit != nil {
			t.Errorf("%s: %v, exit %+v", v.kind, err, v.exit)
		}
	}
}
