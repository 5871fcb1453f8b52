package client

import (
	"errors"
	"io"
	"net/http"
	"testing"
)

// TestEndsOfAThreadStream: io.EOF is for a thread that was deleted; every other end is an error that says so.
func TestEndsOfAThreadStream(t *testing.T) {
	const first = "id: 1\nevent: session.created\ndata: {\"thread_id\":\"t\",\"seq\":1," +
		"\"type\":\"session.created\"}\n\n: heartbeat\n\n"
	for name, c := range map[string]struct {
		sent   string
		events int
		want   error
		code   string
	}{
		"deleted": {first + "event: thread.deleted\ndata: {\"thread_id\":\"t\"," +
			"\"type\":\"thread.deleted\"}\n\n", 2, io.EOF, ""},
		"a proxy's end": {first, 1, ErrClosed, ""},
		"in the middle": {first + "event: session.closed\ndata: {\"thread_id\"", 1, ErrClosed, ""},
		"the server's leave": {first + "event: error\ndata: {\"error\":\"the server is shutting down\"," +
			"\"code\":\"CLOSING\",\"details\":{}}\n\n", 1, nil, "CLOSING"},
	} {
		t.Run(name, func(t *testing.T) {
			server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, c.sent)
			}))
			s, err := server.WatchThread(t.Context(), "t", 0)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for range c.events {
				if e, err := s.Next(); err != nil || e.ThreadID != "t" {
					t.Fatalf("event %+v, %v", e, err)
				}
			}
			_, err = s.Next()
			refused, _ := errors.AsType[*Error](err)
			if c.want != nil && !errors.Is(err, c.want) || c.code != "" && (refused == nil || refused.Code != c.code) {
				t.Errorf("the end is %v, want %v %s", err, c.want, c.code)
			}
			if c.want == io.EOF {
				if _, err := s.Next(); err != io.EOF {
					t.Errorf("after the end: %v", err)
				}
			}
		})
	}
}
