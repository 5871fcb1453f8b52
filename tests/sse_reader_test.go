package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	r3labs "github.com/r3labs/sse/v2"
	backoff "gopkg.in/cenkalti/backoff.v1"
)

// readerBuffer is the buffer of the independent reader, in bytes: a snapshot is one line.
const readerBuffer = 64 << 20

// foundEvent is what the independent reader has found.
type foundEvent struct {
	id, kind string
	data     struct {
		Data, Reason string
		Seq          uint64
		Code         *int
	}
}

// independent reads a stream with a client that is not ours, from the beginning and without
// reconnecting. comments gets a value for each read that has a comment line. found is closed at the end.
func (s *server) independent(path, lastID string) (found <-chan foundEvent, comments <-chan struct{}) {
	s.t.Helper()
	all, seen := make(chan foundEvent, 4096), make(chan struct{}, 16)
	c := r3labs.NewClient(s.url+path, r3labs.ClientMaxBufferSize(readerBuffer))
	c.ReconnectStrategy = &backoff.StopBackOff{}
	c.Connection.Transport = &commentFinder{seen}
	if lastID != "" {
		c.LastEventID.Store([]byte(lastID))
	}
	ctx, cancel := context.WithCancel(s.ctx())
	done := make(chan struct{})
	s.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		defer close(all)
		_ = c.SubscribeRawWithContext(ctx, func(m *r3labs.Event) { // its error is the end of the stream
			if len(m.Data) == 0 {
				return // a comment: this client tells of it
			}
			e := foundEvent{id: string(m.ID), kind: string(m.Event)}
			if err := json.Unmarshal(m.Data, &e.data); err != nil {
				s.t.Errorf("%s: %v", e.kind, err)
			}
			select {
			case all <- e:
			case <-ctx.Done():
			}
		})
	}()
	return all, seen
}

// commentFinder is a transport that looks for comments in the bodies of replies.
type commentFinder struct{ seen chan<- struct{} }

func (f *commentFinder) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		resp.Body = &commentBody{resp.Body, f.seen}
	}
	return resp, err
}

type commentBody struct {
	io.ReadCloser
	seen chan<- struct{}
}

func (b *commentBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if bytes.HasPrefix(p[:n], []byte(":")) {
		select {
		case b.seen <- struct{}{}:
		default:
		}
	}
	return n, err
}

// nextFound is the next event of a kind.
func nextFound(t *testing.T, found <-chan foundEvent, kind string) foundEvent {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case e, ok := <-found:
			if !ok {
				t.Fatalf("the stream has ended without %s", kind)
			}
			if e.kind == kind {
				return e
			}
		case <-limit:
			t.Fatalf("no %s", kind)
		}
	}
}

// TestAnIndependentReader: a client that others have written reads the events, over heartbeats, with
// Last-Event-ID, to the end, and a snapshot of more than 5 MB in one line.
func TestAnIndependentReader(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("sh", "-c", "echo first; read x; echo second; read x; exit 7").ID
	s.await(id, "^first$")
	found, comments := s.independent("/pty/"+id+"/stream", "")
	begin := nextFound(t, found, "snapshot")
	if !strings.Contains(begin.data.Data, "first") || begin.data.Reason != "connect" || begin.id == "" {
		t.Errorf("%+v", begin)
	}
	select {
	case <-comments:
	case <-time.After(patience):
		t.Fatal("no heartbeat")
	}
	s.input(id, "\n")
	text, last := "", begin.id
	for !strings.Contains(text, "second") {
		e := nextFound(t, found, "data")
		text, last = text+e.data.Data, e.id
	}
	again, _ := s.independent("/pty/"+id+"/stream", last)
	if e := nextFound(t, again, "snapshot"); !strings.Contains(e.data.Data, "second") {
		t.Errorf("with Last-Event-ID: %+v", e)
	}
	s.input(id, "\n")
	for _, c := range []<-chan foundEvent{found, again} {
		if e := nextFound(t, c, "exit"); e.data.Code == nil || *e.data.Code != 7 {
			t.Errorf("%+v", e)
		}
	}
	var made struct{ ID string }
	s.post("/session/test/pty", `{"cmd":["sh","-c","yes `+strings.Repeat("x", 110)+
		` | head -n 50000; echo the end; read x"],"cols":120,"rows":24,"scrollback":100000}`).wants(201).into(&made)
	s.await(made.ID, "^the end$")
	large, _ := s.independent("/pty/"+made.ID+"/stream", "")
	if e := nextFound(t, large, "snapshot"); len(e.data.Data) < 5<<20 || !strings.Contains(e.data.Data, "the end") {
		t.Errorf("a snapshot of %d bytes", len(e.data.Data))
	}
}
