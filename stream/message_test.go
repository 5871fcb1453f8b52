package stream

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// samples has messages of every kind, with all of their members and with few.
func samples() []*Message {
	h := New(Options{ID: "t1", Engine: vt.NewEngine, Config: vt.Config{Cols: 81, Rows: 25, Scrollback: 10}})
	h.Write([]byte("a \"b\"\r\nc"))
	size, owner, code := Size{Cols: 100, Rows: 30}, uint64(9), 0
	return []*Message{
		h.Snapshot().message(ReasonLag, -1), h.Snapshot().message(ReasonConnect, 0),
		placeMessage(KindResume, "t1", size, 17), dataMessage("t1", []byte("x\x1b[1m\"ü"), 18),
		placeMessage(KindResize, "t1", size, 19),
		metaMessage("t1", &wire.EventMeta{Bell: true}),
		metaMessage("t1", &wire.EventMeta{Title: new(""), Cwd: new("/a"), Bell: true,
			Notify: &wire.Notification{Title: "n", Body: "b"}, Viewers: new(2), Owner: &owner, Size: &size,
			Clipboard: &wire.Clipboard{Selection: "c", DataB64: []byte("hi")}}),
		exitMessage("t1", Exit{Code: &code, Signal: "KILL", Reason: "signal"}, 20),
		exitMessage("t1", Exit{Reason: "lost"}, 21),
	}
}

// TestEventsAreWireTypes: the JSON of every event is that of its type in wire.StreamEvents, in each of its forms.
func TestEventsAreWireTypes(t *testing.T) {
	types := map[Kind]any{}
	for _, e := range wire.StreamEvents {
		types[Kind(e.Name)] = e.Value
	}
	seen := map[Kind]bool{}
	for _, m := range samples() {
		seen[m.Kind] = true
		check := func(text []byte, kind, id string) {
			t.Helper()
			v := reflect.New(reflect.TypeOf(types[m.Kind]))
			d := json.NewDecoder(bytes.NewReader(text))
			d.DisallowUnknownFields()
			if err := d.Decode(v.Interface()); err != nil {
				t.Fatalf("%s %s: %v", m.Kind, text, err)
			}
			event, pty := v.Elem().FieldByName("Event").String(), v.Elem().FieldByName("PTY").String()
			if event != kind || pty != id {
				t.Errorf("%s: event %q of terminal %q", text, event, pty)
			}
			again, _ := json.Marshal(v.Interface())
			var a, b map[string]any
			if err := json.Unmarshal(text, &a); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(again, &b); err != nil || !reflect.DeepEqual(a, b) {
				t.Errorf("%s becomes %s", text, again)
			}
		}
		check(m.AppendJSON(nil, ""), "", "")
		own := func(p []byte) []byte { return p }
		check(m.Frame(FormJSON, 0, own), string(m.Kind), "t1")
		if m.Kind != KindSnapshot && m.Kind != KindData {
			b := m.Frame(FormBinary, 0, own)
			if b[0] != FrameControl {
				t.Errorf("%s is a binary frame %d", m.Kind, b[0])
			}
			check(b[1:], string(m.Kind), "t1")
		}
		lines := strings.Split(string(m.SSE()), "\n")
		want := []string{"event: " + string(m.Kind), "id: " + strconv.FormatUint(m.Seq, 10)}
		if m.Kind == KindMeta {
			want = want[:1]
		}
		n := len(want)
		if len(lines) != n+3 || !reflect.DeepEqual(lines[:n], want) || lines[n+1]+lines[n+2] != "" {
			t.Fatalf("%q", lines)
		}
		check([]byte(strings.TrimPrefix(lines[n], "data: ")), "", "")
	}
	if len(seen) != len(types) {
		t.Errorf("of the events in wire.StreamEvents only %v were made", seen)
	}
}

// TestBinaryFrames: a snapshot and data come behind their headers.
func TestBinaryFrames(t *testing.T) {
	own := func(p []byte) []byte { return p }
	m := dataMessage("t1", []byte("text"), 1<<32+5)
	if got := m.Frame(FormBinary, 0, own); string(got) != "\x02\x00\x00\x00\x01\x00\x00\x00\x05text" {
		t.Errorf("%q", got)
	}
	for _, m := range samples()[:2] {
		want := append([]byte("\x01\x00\x51\x00\x19\x00\x00\x00\x00\x00\x00\x00\x08"), m.Text()...)
		if got := m.Frame(FormBinary, 0, own); !bytes.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if again := m.Frame(FormBinary, 0, func([]byte) []byte { return nil }); again == nil {
		t.Error("a frame was made twice")
	}
}
