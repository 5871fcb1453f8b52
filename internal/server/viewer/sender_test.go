package viewer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/viewer"
)

// TestNoEventIsForgotten: what comes while another goroutine sends, and looks for more, is sent without anything that
// comes later.
func TestNoEventIsForgotten(t *testing.T) {
	term, s := serve(t, viewer.Viewer{})
	c := dial(t, s, "/ws")
	until(t, c, "the snapshot", func(e event) bool { return e.Event == "snapshot" })
	over := make(chan struct{})
	defer close(over)
	go func() { // the goroutine that reads sends the pongs, and what comes meanwhile
		for c.WriteMessage(websocket.TextMessage, []byte(`{"type":"ping"}`)) == nil && !closed(over) {
		}
	}()
	for i := range 3000 {
		text := fmt.Sprintf("<%d>", i)
		term.hub.Write([]byte(text[:2]))
		term.hub.Write([]byte(text[2:]))
		var got strings.Builder
		for e := (event{}); !strings.HasSuffix(got.String(), text); got.WriteString(e.Data) {
			e = read(t, c)
		}
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
