package tests

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// TestAnswersThatNobodyReads: a viewer that has the server answer 64 messages of a megabyte and reads nothing takes
// little of its memory, whatever the messages are.
func TestAnswersThatNobodyReads(t *testing.T) {
	const (
		messages = 64
		most     = 80 << 10 // kB: the server's own 30 << 10 and garbage; it was 120 << 10 and more
	)
	s := start(t, launch{})
	id := s.shell().ID
	long := strings.Repeat("x", 1<<20-100)
	for _, path := range []string{"/pty/" + id + "/ws", "/ws"} {
		for _, message := range []string{`{"type":"ping","t":"%s"}`, `{"type":"%s"}`, `{"type":"hide","pty":"%s"}`} {
			j, err := s.dialJSON(s.ctx(), path)
			s.must(err)
			s.must(j.conn.SetWriteDeadline(time.Now().Add(patience)))
			for n := 0; n < messages; n++ {
				if j.conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, message, long)) != nil {
					break // the server has closed it, or reads no more
				}
			}
			if rss := status(t, s.pid(), "VmRSS"); !raceEnabled && rss > most {
				t.Errorf("%s, %s: %d kB", path, message, rss)
			}
			s.must(j.Close())
		}
	}
}
