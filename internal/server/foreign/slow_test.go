package foreign_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// screenOf is the terminal of a client, which shows what it got.
type screenOf struct {
	vt.Engine
}

// shows are how clients take a message.
var shows = map[string]func(*screenOf, []byte){
	"attach": func(s *screenOf, p []byte) { s.Write(p) },
	"ttyd": func(s *screenOf, p []byte) {
		if p[0] == '0' {
			s.Write(p[1:])
		}
	},
	"terminado": func(s *screenOf, p []byte) {
		var m []any
		if json.Unmarshal(p, &m) == nil && m[0] == "stdout" {
			s.Write([]byte(m[1].(string)))
		}
	},
	"alis": func(s *screenOf, p []byte) {
		number := func() uint64 {
			v, n := binary.Uvarint(p)
			p = p[n:]
			return v
		}
		kind := p[0]
		p = p[1:]
		switch kind {
		case 1:
			number()
			number()
			s.Engine = vt.NewEngine(vt.Config{Cols: int(number()), Rows: int(number()), Scrollback: 50})
			p = p[1:]
			s.Write(p[len(p)-int(number()):])
		case 'o':
			number()
			number()
			number()
			s.Write(p)
		}
	},
	"kubernetes": func(s *screenOf, p []byte) {
		if p[0] == 1 {
			s.Write(p[1:])
		}
	},
}

// TestSlowReader: a client that does not read holds up nobody, however much the program prints; when it reads it
// gets less than that, and shows what the terminal shows.
func TestSlowReader(t *testing.T) {
	for kind, show := range shows {
		t.Run(kind, func(t *testing.T) {
			term, s := serve(t, nil)
			c := &talk{t: t, kind: kind, term: term}
			c.ws = connect(t, s, kind)
			c.first()
			line := bytes.Repeat([]byte("0123456789abcdef"), 4)
			began := time.Now()
			const lines = 80_000
			for i := 0; i < lines; i += 100 {
				var b []byte
				for n := range 100 {
					b = fmt.Appendf(b, "\x1b[3%dm%s %d\x1b[m\r\n", n%8, line, i+n)
				}
				term.hub.Write(b)
			}
			if took := time.Since(began); took > patience {
				t.Errorf("the program waited: %v", took)
			}
			if err := c.ws.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			term.hub.Write([]byte("the end"))
			own := &screenOf{vt.NewEngine(vt.Config{Cols: 80, Rows: 24, Scrollback: 50})}
			got := 0
			for {
				_, p, err := c.ws.ReadMessage()
				if err != nil {
					t.Fatal(err)
				}
				got += len(p)
				show(own, p)
				if bytes.Contains(p, []byte("the end")) && equal(own, term) {
					break
				}
			}
			if all := lines * (len(line) + 20); got > all/2 {
				t.Errorf("%d of %d bytes came", got, all)
			}
			_ = c.ws.Close()
		})
	}
}

// equal reports whether a client shows what the terminal shows.
func equal(own *screenOf, term *program) bool {
	return bytes.Equal(snapshot.ANSI(own.Freeze(), snapshot.Options{}),
		snapshot.ANSI(term.hub.Snapshot().Frame, snapshot.Options{}))
}
