package foreign_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/server/viewer"
	"github.com/evertty/evertty/stream"
)

var update = flag.Bool("update", false, "write testdata anew; look at the difference before you keep it")

// talk is a conversation that is written down: "> " is what the client says, "< " what it gets.
type talk struct {
	t    *testing.T
	kind string
	term *program
	dial func() *websocket.Conn
	ws   *websocket.Conn
	log  strings.Builder
}

// comes reads n messages.
func (c *talk) comes(n int) {
	c.t.Helper()
	for range n {
		kind, p, err := c.ws.ReadMessage()
		if err != nil {
			c.t.Fatalf("%v behind\n%s", err, c.log.String())
		}
		c.note('<', kind, string(p))
	}
}

func (c *talk) note(direction rune, kind int, p string) {
	text := map[int]string{websocket.TextMessage: "text  ", websocket.BinaryMessage: "binary"}[kind]
	fmt.Fprintf(&c.log, "%c %s %s\n", direction, text, strconv.QuoteToASCII(p))
}

func (c *talk) says(kind int, p string) {
	c.t.Helper()
	c.note('>', kind, p)
	say(c.t, c.ws, kind, p)
}

func (c *talk) prints(p string) {
	fmt.Fprintf(&c.log, "# the program prints %s\n", strconv.QuoteToASCII(p))
	c.term.hub.Write([]byte(p))
}

func (c *talk) connects() {
	c.log.WriteString("# connected\n")
	c.ws = c.dial()
}

func (c *talk) ends() {
	c.t.Helper()
	_, p, err := c.ws.ReadMessage()
	e, ok := err.(*websocket.CloseError)
	if !ok {
		c.t.Fatalf("%q, %v instead of the close behind\n%s", p, err, c.log.String())
	}
	fmt.Fprintf(&c.log, "< close  %d %q\n", e.Code, e.Text)
}

// exits ends the program with a code.
func (c *talk) exits(code int) {
	fmt.Fprintf(&c.log, "# the program ends with %d\n", code)
	c.term.hub.Finish(stream.Exit{Code: &code, Reason: "exit"})
}

// first says what the protocol begins with, and reads up to the screen.
func (c *talk) first() {
	switch c.kind {
	case "ttyd":
		c.says(websocket.BinaryMessage, `{"AuthToken":"","columns":80,"rows":24}`)
		c.comes(3)
	case "terminado", "alis":
		c.comes(2)
	default:
		c.comes(1)
	}
}

// resizes asks for 40 x 10 in each protocol.
var resizes = map[string]func(*talk){
	"ttyd":       func(c *talk) { c.says(websocket.BinaryMessage, `1{"columns":40,"rows":10}`) },
	"terminado":  func(c *talk) { c.says(websocket.TextMessage, `["set_size",10,40,300,400]`) },
	"kubernetes": func(c *talk) { c.says(websocket.BinaryMessage, "\x04{\"Width\":40,\"Height\":10}\n") },
}

// inputs types é and LF in each protocol.
var inputs = map[string]func(*talk){
	"attach":     func(c *talk) { c.says(websocket.TextMessage, "é\n") },
	"ttyd":       func(c *talk) { c.says(websocket.BinaryMessage, "0é\n") },
	"terminado":  func(c *talk) { c.says(websocket.TextMessage, `["stdin","é\n"]`) },
	"kubernetes": func(c *talk) { c.says(websocket.BinaryMessage, "\x00é\n") },
}

// TestTranscripts: what each protocol says is what testdata has: the screen, output, a title, input, a resize,
// the screen again for a second connection, and the end.
func TestTranscripts(t *testing.T) {
	for kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			term, s := serve(t, nil)
			term.hub.Write([]byte("before \x1b[1mbold\x1b[m\r\n"))
			c := &talk{t: t, kind: kind, term: term, dial: func() *websocket.Conn { return connect(t, s, kind) }}
			c.connects()
			c.first()
			c.prints("a\r\n")
			c.comes(1)
			if kind == "ttyd" {
				c.prints("\x1b]2;build 2\x07")
				c.comes(2)
			}
			if in, ok := inputs[kind]; ok {
				in(c)
				c.comes(1)
				if term.typed() != "é\n" {
					t.Errorf("%q was typed", term.typed())
				}
			}
			if resize, ok := resizes[kind]; ok {
				resize(c)
				c.comes(1)
			} else {
				c.log.WriteString("# somebody else makes it 40 x 10\n")
				term.hub.Resize(40, 10)
				c.comes(map[string]int{"alis": 2}[kind] + map[string]int{"attach": 1}[kind])
			}
			_ = c.ws.Close()
			c.connects()
			c.first()
			c.exits(3)
			c.comes(map[string]int{"alis": 3, "terminado": 1, "kubernetes": 1}[kind])
			c.ends()
			c.compare()
		})
	}
}

// TestSentAway: how each protocol keeps a client from coming back when its ticket ends and when it is kicked.
func TestSentAway(t *testing.T) {
	for kind := range kinds {
		for _, why := range []string{"ticket", "kick"} {
			t.Run(kind+" "+why, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				term, s := serve(t, func(v *viewer.Viewer) { v.Context = ctx })
				c := &talk{t: t, kind: kind, term: term, dial: func() *websocket.Conn { return connect(t, s, kind) }}
				c.connects()
				c.first()
				if why == "ticket" {
					c.log.WriteString("# the ticket ends\n")
					cancel(httpapi.ErrEnded)
				} else {
					c.log.WriteString("# somebody kicks it\n")
					if err := term.hub.Kick(term.hub.ViewerList().Viewers[0].ID); err != nil {
						t.Fatal(err)
					}
				}
				c.comes(map[string]int{"ttyd": 1, "terminado": 1, "alis": 1, "kubernetes": 1}[kind])
				c.ends()
				c.kind += "." + why
				c.compare()
			})
		}
	}
}

// compare compares the conversation with its file.
func (c *talk) compare() {
	c.t.Helper()
	path := filepath.Join("testdata", c.kind+".txt")
	want, err := os.ReadFile(path)
	if *update {
		if err := os.WriteFile(path, []byte(c.log.String()), 0o644); err != nil {
			c.t.Fatal(err)
		}
		return
	}
	if got := c.log.String(); err != nil || got != string(want) {
		_ = os.WriteFile(path+".candidate", []byte(got), 0o644)
		c.t.Errorf("%s differs (%v); the candidate is beside it:\n%s", path, err, got)
	}
}
