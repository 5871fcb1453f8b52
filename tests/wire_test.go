package tests

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
)

// jsonSocket is a WebSocket that speaks JSON.
type jsonSocket struct {
	conn *websocket.Conn
	stop func() bool
	done bool
}

// dialJSON opens a WebSocket; ctx governs its life.
func (s *server) dialJSON(ctx context.Context, path string) (*jsonSocket, error) {
	return s.dialWith(ctx, &websocket.Dialer{}, path, http.Header{"Authorization": {s.bearer()}})
}

func (s *server) dialWith(ctx context.Context, d *websocket.Dialer, path string, h http.Header) (*jsonSocket, error) {
	if h.Get("Authorization") == "" {
		h.Del("Authorization")
	}
	conn, resp, err := d.DialContext(ctx, "ws"+strings.TrimPrefix(s.url, "http")+path, h)
	if err != nil {
		if resp != nil {
			err = errors.New(resp.Status)
		}
		return nil, err
	}
	return &jsonSocket{conn: conn, stop: context.AfterFunc(ctx, func() { _ = conn.Close() })}, nil
}

// frame is an event as it comes.
type frame struct {
	Event  client.Kind `json:"event"`
	PTY    string      `json:"pty"`
	Data   string      `json:"data"`
	Seq    uint64      `json:"seq"`
	Cols   int         `json:"cols"`
	Rows   int         `json:"rows"`
	Reason string      `json:"reason"`
	Error  string      `json:"error"`
	Code   any         `json:"code"` // of an error or of an exit
}

// read takes one message.
func (j *jsonSocket) read() (frame, []byte, error) {
	var f frame
	_, b, err := j.conn.ReadMessage()
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	return f, b, err
}

// Next is the next event of a terminal; a normal closure after the exit is io.EOF.
func (j *jsonSocket) Next() (client.Event, error) {
	f, b, err := j.read()
	if err != nil {
		if j.done && websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			err = io.EOF
		}
		return client.Event{}, err
	}
	j.done = f.Event == client.KindExit
	return eventOf(f.Event, b)
}

// send sends a message as JSON.
func (j *jsonSocket) send(v any) error { return j.conn.WriteJSON(v) }

func (j *jsonSocket) Close() error {
	j.stop()
	return j.conn.Close()
}

// eventOf reads the JSON of an event.
func eventOf(kind client.Kind, b []byte) (client.Event, error) {
	var f frame
	err := json.Unmarshal(b, &f)
	e := client.Event{Kind: kind, Seq: f.Seq, Data: []byte(f.Data), Cols: f.Cols, Rows: f.Rows, Reason: f.Reason}
	switch kind {
	case client.KindMeta:
		err = json.Unmarshal(b, &e.Meta)
	case client.KindExit:
		err = json.Unmarshal(b, &e.Exit)
	case client.KindError:
		code, _ := f.Code.(string)
		e.Err = &client.Error{Code: code, Message: f.Error}
	}
	return e, err
}

// strictSSE reads Server-Sent Events (WHATWG HTML, 9.2) and takes nothing but
// what the contract says: event, id, one line of data, a blank line.
type strictSSE struct {
	conn     net.Conn
	resp     *http.Response
	r        *bufio.Reader
	comments int // heartbeats seen
}

// rawStream opens a stream on a connection of its own, whose receive buffer has
// so many bytes (0: the system's choice), and reads the reply's head.
func (s *server) rawStream(path string, buffer int) *strictSSE {
	s.t.Helper()
	conn := s.rawGet(path, buffer)
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 4096), nil)
	s.must(err)
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("GET %s: %s", path, resp.Status)
	}
	return &strictSSE{conn: conn, resp: resp, r: bufio.NewReader(resp.Body)}
}

func (s *strictSSE) Close() error { return s.conn.Close() }

// field reads one line, which must be that field.
func (s *strictSSE) field(name string) (string, error) {
	line, err := s.r.ReadString('\n')
	if err != nil {
		if err == io.EOF && line != "" {
			err = io.ErrUnexpectedEOF
		}
		return "", err
	}
	v, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), name+": ")
	if !ok || strings.ContainsAny(v, "\r\x00") {
		return "", fmt.Errorf("the line %.100q is not the field %q", line, name)
	}
	return v, nil
}

// Next is the next event. At the end of the reply it returns io.EOF.
func (s *strictSSE) Next() (client.Event, error) {
	for {
		b, err := s.r.Peek(1)
		if err != nil {
			return client.Event{}, err
		}
		if b[0] != ':' {
			break
		}
		if line, err := s.r.ReadString('\n'); err != nil {
			return client.Event{}, fmt.Errorf("comment %q: %w", line, err)
		} else if next, err := s.r.ReadString('\n'); err != nil || next != "\n" {
			return client.Event{}, fmt.Errorf("after the comment %q: %q %v", line, next, err)
		}
		s.comments++
	}
	kind, err := s.field("event")
	id := ""
	if err == nil && client.Kind(kind) != client.KindMeta {
		id, err = s.field("id")
	}
	data := ""
	if err == nil {
		data, err = s.field("data")
	}
	if err != nil {
		return client.Event{}, err
	}
	if end, err := s.r.ReadString('\n'); err != nil || end != "\n" {
		return client.Event{}, fmt.Errorf("the event ends with %q, %v", end, err)
	}
	e, err := eventOf(client.Kind(kind), []byte(data))
	if err == nil && id != "" && id != strconv.FormatUint(e.Seq, 10) {
		err = fmt.Errorf("id %s of an event of seq %d", id, e.Seq)
	}
	return e, err
}
