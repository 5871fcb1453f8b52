package foreign_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/foreign"
	"github.com/evertty/evertty/internal/server/viewer"
)

// greeting is what the protocol of ttyd begins with.
const greeting = `{"AuthToken":"x","columns":80,"rows":24}`

// TestBadMessages: what no client says closes with a code and a reason, and what one may say does not.
func TestBadMessages(t *testing.T) {
	const text, binary, wrong = websocket.TextMessage, websocket.BinaryMessage, websocket.CloseUnsupportedData
	const bad, badText = websocket.ClosePolicyViolation, websocket.CloseInvalidFramePayloadData
	cases := map[string][]struct {
		kind int
		says string
		code int // 0: it is taken
	}{
		"attach": {{text, "", 0}, {text, "\xff", badText}, {binary, "\xff", 0}},
		"ttyd": {{binary, "", bad}, {binary, "9", bad}, {binary, "\x00", bad}, {text, "0a", 0}, {binary, "0", 0},
			{binary, "1", bad}, {binary, `1{"columns":1e9,"rows":1}`, bad}, {binary, `1{"columns":NaN,"rows":1}`, bad},
			{binary, `1{"columns":null,"rows":null}`, bad}, {binary, `1{"columns":-1,"rows":1}`, bad},
			{binary, `1{"columns":8.5,"rows":1}`, bad}, {binary, `1{"columns":0,"rows":0}`, 0}, {binary, `1[]`, bad},
			{binary, "2", 0}, {binary, "3", 0}, {binary, greeting, 0}},
		"terminado": {{binary, `["stdin","a"]`, wrong}, {text, "", bad}, {text, "[", bad}, {text, "[]", bad},
			{text, "null", bad}, {text, `["stdin"]`, bad}, {text, `["stdin",1]`, bad}, {text, `["stdin",null]`, bad},
			{text, `["stdin","\ud800"]`, bad}, {text, "[\"stdin\",\"\xff\"]", badText}, {text, `["other","a"]`, bad},
			{text, `["set_size","a","b"]`, bad}, {text, `["set_size",null,null,0,0]`, bad}, {text, `[1,"a"]`, bad},
			{text, `["set_size",1e99,1,0,0]`, bad}, {text, `["set_size",24,80]`, 0}, {text, `["stdin",""]`, 0}},
		"alis": {{text, "", wrong}, {binary, "a", wrong}},
		"kubernetes": {{text, "\x00a", wrong}, {binary, "", bad}, {binary, "\x01a", bad}, {binary, "\x07", bad},
			{binary, "\x04", bad}, {binary, "\x04{}", bad}, {binary, "\x04{\"Width\":70000,\"Height\":1}", bad},
			{binary, "\x04{\"Width\":\"a\",\"Height\":1}", bad}, {binary, "\xff", bad}, {binary, "\xff\x00", 0},
			{binary, "\xff\x00\x00", bad}, {binary, "\x00", 0}},
	}
	for kind, list := range cases {
		for _, c := range list {
			p := kinds[kind](&program{})
			if kind == "ttyd" {
				if _, bad := p.Read(binary, []byte(greeting)); bad != nil {
					t.Fatal(bad)
				}
			}
			_, got := p.Read(c.kind, []byte(c.says))
			switch {
			case got == nil && c.code != 0:
				t.Errorf("%s: %q is taken, want close %d", kind, c.says, c.code)
			case got != nil && (got.Code != c.code || got.Reason == "" || len(got.Reason) > 123):
				t.Errorf("%s: %q gives %+v, want %d", kind, c.says, got, c.code)
			}
		}
	}
	for _, hello := range []string{"0a", "{", "[]", `{"columns":1}`, `{"columns":-1,"rows":-1}`} {
		if _, got := foreign.NewTTYD("", "").Read(binary, []byte(hello)); got == nil || got.Code != bad {
			t.Errorf("ttyd: %q as first message gives %+v", hello, got)
		}
	}
	if _, got := foreign.NewKubernetes(foreign.K8sNames[1], true, true).Read(binary, []byte("\xff\x00")); got == nil {
		t.Error("version 4 of Kubernetes knows no end of a channel")
	}
}

// TestClosesWithTheReason: a client that says something wrong sees why, also when it says more; too much is
// 1009; and one that never says hello goes.
func TestClosesWithTheReason(t *testing.T) {
	term, s := serve(t, nil)
	ws := connect(t, s, "ttyd")
	say(t, ws, websocket.BinaryMessage, "0a")
	say(t, ws, websocket.BinaryMessage, "0b")
	if e := closing(t, ws); e.Code != websocket.ClosePolicyViolation || !strings.Contains(e.Text, "AuthToken") {
		t.Errorf("closed with %v", e)
	}
	if term.typed() != "" {
		t.Errorf("%q was typed", term.typed())
	}
	ws = connect(t, s, "attach")
	say(t, ws, websocket.BinaryMessage, strings.Repeat("a", 2<<20))
	if e := closing(t, ws); e.Code != websocket.CloseMessageTooBig {
		t.Errorf("2 MiB: closed with %v", e)
	}
}

// TestOnlyLooks: what a viewer with the role read types and asks for changes nothing; neither does stdin that is
// not asked for, or has ended.
func TestOnlyLooks(t *testing.T) {
	term, s := serve(t, func(v *viewer.Viewer) { v.ReadOnly = true })
	c := &talk{t: t, kind: "ttyd", term: term}
	c.ws = connect(t, s, "ttyd")
	c.says(websocket.BinaryMessage, `{"columns":40,"rows":10}`)
	c.comes(3)
	c.says(websocket.BinaryMessage, "0typed")
	c.says(websocket.BinaryMessage, `1{"columns":50,"rows":20}`)
	term.hub.Write([]byte("shown"))
	c.comes(1)
	_ = c.ws.Close()
	if size := term.hub.EffectiveSize(); size.Cols != 80 || term.typed() != "" {
		t.Errorf("the size is %v, %q was typed", size, term.typed())
	}
	k := foreign.NewKubernetes(foreign.K8sNames[0], false, false)
	if a, _ := k.Read(websocket.BinaryMessage, []byte("\x00a")); a.Input != nil {
		t.Error("stdin=false: it is typed")
	}
	k = foreign.NewKubernetes(foreign.K8sNames[0], true, true)
	_, _ = k.Read(websocket.BinaryMessage, []byte("\xff\x00"))
	if a, bad := k.Read(websocket.BinaryMessage, []byte("\x00a")); a.Input != nil || bad != nil {
		t.Error("stdin that has ended is typed")
	}
}

// TestServerGoesDown: a client that comes back when it hears a code hears that one.
func TestServerGoesDown(t *testing.T) {
	want := map[string]int{"terminado": websocket.CloseServiceRestart}
	for kind, of := range kinds {
		messages, code := of(&program{}).Last(websocket.CloseGoingAway, "the server is shutting down")
		if w := max(want[kind], websocket.CloseGoingAway); code != w || (len(messages) > 0) != (kind == "kubernetes") {
			t.Errorf("%s: %q, %d", kind, messages, code)
		}
	}
}

// TestPause: a client of ttyd that pauses gets nothing; when it goes on it has missed nothing, or gets the screen.
func TestPause(t *testing.T) {
	term, s := serve(t, nil)
	c := &talk{t: t, kind: "ttyd", term: term}
	c.ws = connect(t, s, "ttyd")
	c.first()
	c.says(websocket.BinaryMessage, "2")
	c.says(websocket.BinaryMessage, "0typed")
	waitFor(t, "input", func() bool { return term.typed() == "typed" })
	for range 100 { // far beyond what waits for a viewer
		term.hub.Write([]byte(strings.Repeat("x", 64<<10)))
	}
	term.hub.Write([]byte("\x1b[2J\x1b[Hlast"))
	c.says(websocket.BinaryMessage, "3")
	for {
		_, p, err := c.ws.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(p), "last") {
			break
		}
		if len(p) > 1<<20 {
			t.Fatalf("a message of %d bytes", len(p))
		}
	}
}

// TestPlayerDoesNotHang: no text is as long as the one in which asciinema-player hangs, and none is cut in a character.
func TestPlayerDoesNotHang(t *testing.T) {
	term, s := serve(t, nil)
	c := &talk{t: t, kind: "alis", term: term, dial: func() *websocket.Conn { return connect(t, s, "alis") }}
	c.ws = c.dial()
	c.first()
	text := strings.Repeat("0€3", 65_515/5)
	term.hub.Write([]byte(text))
	got := ""
	for got != text {
		_, p, err := c.ws.ReadMessage()
		if err != nil {
			t.Fatal(err)
		}
		_, n := binary.Uvarint(p[1:])
		_, m := binary.Uvarint(p[1+n:])
		size, l := binary.Uvarint(p[1+n+m:])
		if p = p[1+n+m+l:]; p[0]&0xc0 == 0x80 || size > 16<<10 || int(size) != len(p) {
			t.Fatalf("%d bytes, %q", size, p[:3])
		}
		got += string(p)
	}
	_ = c.ws.Close()
}

// fuzz feeds messages to connections of a kind.
func fuzz(f *testing.F, of func() viewer.Protocol, seeds ...string) {
	for _, s := range seeds {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, says string, isText bool) {
		kind := websocket.BinaryMessage
		if isText {
			kind = websocket.TextMessage
		}
		p := of()
		for range 2 {
			b := []byte(says)
			act, bad := p.Read(kind, b)
			clear(b) // it belongs to the connection
			switch {
			case min(act.Cols, act.Rows) < 0 || max(act.Cols, act.Rows) > math.MaxUint16:
				t.Fatalf("%d x %d", act.Cols, act.Rows)
			case bad != nil && (len(act.Input) > 0 || act.Cols != 0 || act.Go):
				t.Fatalf("refused, and done: %+v", act)
			case len(act.Input) > 0 && !strings.ContainsAny(says, "\x00\\") && bytes.IndexByte(act.Input, 0) >= 0:
				t.Fatalf("%q is typed as %q: it is not the connection's own", says, act.Input)
			}
		}
	})
}

func FuzzAttach(f *testing.F) {
	fuzz(f, func() viewer.Protocol { return foreign.Attach{} }, "a", "\xff")
}

func FuzzTTYD(f *testing.F) {
	fuzz(f, func() viewer.Protocol {
		p := foreign.NewTTYD("tty", "")
		_, _ = p.Read(websocket.BinaryMessage, []byte(greeting))
		return p
	}, "0a", `1{"columns":1,"rows":1}`, "2", "3", greeting)
}

func FuzzTTYDHello(f *testing.F) {
	fuzz(f, func() viewer.Protocol { return foreign.NewTTYD("tty", "") }, greeting, "{}", "0")
}

func FuzzTerminado(f *testing.F) {
	fuzz(f, func() viewer.Protocol { return new(foreign.Terminado) }, `["stdin","a"]`, `["set_size",24,80,1,1]`)
}

func FuzzKubernetes(f *testing.F) {
	fuzz(f, func() viewer.Protocol { return foreign.NewKubernetes(foreign.K8sNames[0], true, true) }, "\x00a",
		"\x04{\"Width\":80,\"Height\":24}", "\xff\x00")
}
