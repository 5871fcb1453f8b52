package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

const (
	// maxFrame bounds a message from a viewer, in bytes, as the body of a
	// request is bounded: a larger one closes the connection with 1009.
	maxFrame = 1 << 20
	// pongTimeout is how long a viewer may not answer pings before it counts as
	// gone: a laptop that sleeps leaves a half-open connection behind.
	pongTimeout = 3 * httpapi.Heartbeat
	// hurriedClose is how long a viewer may take to close when the server ends.
	hurriedClose = time.Second
	// maxPending is how many answers (errors, pongs) may wait for a viewer, maxPendingBytes how many bytes of them.
	maxPending      = 64
	maxPendingBytes = 64 << 10
	// maxEcho bounds what a pong repeats of a ping, in bytes of JSON: a time or a number fits.
	maxEcho = 64
	// maxProblem bounds the sentence of an error event, in bytes: it may repeat the message that it is about.
	maxProblem = 1 << 10
)

// upgrader leaves the check of Origin to package auth, which has checked it
// for every request before.
var upgrader = websocket.Upgrader{
	ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10,
	WriteBufferPool: &sync.Pool{},
	CheckOrigin:     func(*http.Request) bool { return true },
}

// socket is one viewer's WebSocket: one goroutine reads, one writes.
type socket struct {
	conn   *websocket.Conn
	binary bool
	// answers are JSON control messages for this viewer alone.
	answers chan []byte
	pending atomic.Int64    // bytes of answers
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
}

// open upgrades the request. The context ends when either side does, and with the cause
// httpapi.ErrEnded when the viewer's ticket or login does.
func open(w http.ResponseWriter, r *http.Request, binary bool) (*socket, context.Context, error) {
	conn, err := upgraded(w, r)
	if err != nil {
		return nil, nil, err
	}
	conn.SetReadLimit(maxFrame)
	ctx, cancel := context.WithCancel(r.Context())
	s := &socket{conn: conn, binary: binary, answers: make(chan []byte, maxPending), ctx: ctx, cancel: cancel}
	conn.SetPongHandler(func(string) error { return s.alive() })
	return s, ctx, nil
}

// alive gives the viewer until pongTimeout from now to show itself again.
func (s *socket) alive() error { return s.conn.SetReadDeadline(time.Now().Add(pongTimeout)) }

// read waits for the viewer's next message. The time
// that its last command took does not count against it. Messages that come after the end of its
// ticket or login are dropped.
func (s *socket) read() (kind int, p []byte, err error) {
	for {
		if err := s.alive(); err != nil {
			return 0, nil, err
		}
		if kind, p, err = s.conn.ReadMessage(); err != nil || !ended(s.ctx) {
			return kind, p, err
		}
	}
}

// run reads in a goroutine of its own and writes in this one, until either has ended.
func (s *socket) run(read, write func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer s.cancel()
		read()
	}()
	write()
	s.hangUp(over)
}

// hangUp ends the connection: with a reason when the viewer's ticket or login has ended. It returns
// when read is closed.
func (s *socket) hangUp(read <-chan struct{}) {
	if ended(s.ctx) {
		text := websocket.FormatCloseMessage(wire.CloseUnauthorized, "the ticket or the login has ended")
		if s.conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(hurriedClose)) == nil {
			select {
			case <-read:
			case <-time.After(hurriedClose):
			}
		}
	}
	s.cancel()
	_ = s.conn.Close() // releases the reader
	<-read
}

// answer queues a control message. It waits while maxPending wait for a viewer that reads slowly; one
// that does not read is closed (httpapi.WriteTimeout), as is one for which maxPendingBytes wait.
func (s *socket) answer(v any) {
	b, _ := json.Marshal(v) // cannot fail: strings, numbers and raw JSON that was parsed
	if s.pending.Add(int64(len(b))) > maxPendingBytes {
		_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.ClosePolicyViolation,
			"more answers wait than are kept; read them"), time.Now().Add(hurriedClose))
		s.cancel()
		return
	}
	select {
	case s.answers <- b:
	case <-s.ctx.Done():
	}
}

// Refusal names an error in answers, as in the errors of the HTTP API.
type Refusal = func(error) (text, code string, details wire.ErrorDetails)

func (s *socket) refuse(pty string, err error, name Refusal) {
	text, code, details := name(err)
	s.answer(wire.EventError{Event: "error", PTY: httpapi.Clip(pty), Error: httpapi.ClipTo(text, maxProblem),
		Code: code, Details: details})
}

// pong answers a ping. Errors: httpapi.ErrBadMessage.
func (s *socket) pong(t json.RawMessage) error {
	if len(t) > maxEcho {
		return fmt.Errorf("%w: t of a ping has %d bytes of JSON, at most %d are allowed", httpapi.ErrBadMessage, len(t),
			maxEcho)
	}
	pong := wire.EventPong{Event: "pong"}
	if len(t) > 0 {
		pong.T = t
	}
	s.answer(pong)
	return nil
}

// reply sends an answer.
func (s *socket) reply(b []byte) error {
	s.pending.Add(-int64(len(b)))
	return s.control(b)
}

func (s *socket) control(b []byte) error {
	kind := websocket.TextMessage
	if s.binary {
		kind, b = websocket.BinaryMessage, append([]byte{stream.FrameControl}, b...)
	}
	return s.send(func() error { return s.conn.WriteMessage(kind, b) })
}

func (s *socket) messages(batch []*stream.Message) error {
	for _, m := range batch {
		if err := s.message(m); err != nil {
			return err
		}
	}
	return nil
}

func (s *socket) message(m *stream.Message) error {
	if m.IsLarge() {
		if err := s.sendLarge(m); err != nil {
			return err
		}
		return s.alive()
	}
	form, kind := s.form()
	frame := m.Frame(form, func(payload []byte) any {
		p, _ := websocket.NewPreparedMessage(kind, payload) // fails for control messages only
		return p
	})
	prepared := frame.(*websocket.PreparedMessage)
	if err := s.send(func() error { return s.conn.WritePreparedMessage(prepared) }); err != nil {
		return err
	}
	// A successful write counts as a sign of life: in a flood the pong is behind all output.
	return s.alive()
}

// form returns the encoding of events on the connection and the type of its messages.
func (s *socket) form() (form stream.Form, kind int) {
	if s.binary {
		return stream.FormBinary, websocket.BinaryMessage
	}
	return stream.FormJSON, websocket.TextMessage
}

// sendLarge sends a large snapshot in the pieces of one message (RFC 6455, 5.4).
func (s *socket) sendLarge(m *stream.Message) error {
	form, kind := s.form()
	w, err := s.conn.NextWriter(kind)
	if err != nil {
		return err
	}
	if err := m.WriteLarge(s.ctx, pieces{s, w}, form); err != nil {
		return err // the message is not whole: the connection ends
	}
	return s.send(w.Close)
}

// pieces writes to a message, each piece with its own deadline.
type pieces struct {
	s *socket
	w io.Writer
}

func (p pieces) Write(b []byte) (n int, err error) {
	err = p.s.send(func() error { n, err = p.w.Write(b); return err })
	return n, err
}

func (s *socket) send(write func() error) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(httpapi.WriteTimeout)); err != nil {
		return err
	}
	return write()
}

// ping also reports whether the peer is still there: its pong moves the deadline.
func (s *socket) ping() error {
	return s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(httpapi.WriteTimeout))
}

// closeWith sends a close frame with the reason and waits until the peer closes too (RFC 6455, 7.1.1),
// which ends ctx, or until limit is over. The caller then closes the connection. Closing at once
// would reset it at the peer's next message, a pong for example, and lose unread output.
func (s *socket) closeWith(ctx context.Context, code int, text string, limit time.Duration) {
	if s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text),
		time.Now().Add(limit)) != nil {
		return
	}
	over := time.NewTimer(limit)
	defer over.Stop()
	for {
		select {
		case <-s.answers: // nothing follows a close frame
		case <-ctx.Done():
			return
		case <-over.C:
			return
		}
	}
}

// Viewer has the rights and the format of one connection.
type Viewer struct {
	ReadOnly   bool
	Binary     bool // frames of 1 type byte and payload instead of JSON
	Scrollback int  // history lines in its snapshots, negative for all
	// HistoryOnce is stream.SubscribeOptions.HistoryOnce.
	HistoryOnce bool
	// Cols and Rows are the requested size from the beginning, as by a resize; 0 is none. The first
	// snapshot has the resulting size.
	Cols, Rows int
	// Since is stream.SubscribeOptions.Since; a page names it for each terminal that it attaches to.
	Since *uint64
	// Refusal names an error in answers, as in the errors of the HTTP API.
	Refusal Refusal
	// Closing ends the connection politely when it is closed.
	Closing <-chan struct{}
}

// ServeWebSocket serves one viewer of t until its exit event was sent, the
// viewer leaves or v.Closing. It answers the upgrade itself.
func ServeWebSocket(w http.ResponseWriter, r *http.Request, t stream.Terminal, v Viewer) {
	s, ctx, err := open(w, r, v.Binary)
	if err != nil {
		return
	}
	defer s.cancel()
	sub := t.Hub().Subscribe(stream.SubscribeOptions{Scrollback: v.Scrollback, HistoryOnce: v.HistoryOnce,
		Since: v.Since, MayType: !v.ReadOnly})
	defer t.Detach(sub)
	if v.Cols > 0 && v.Rows > 0 && !v.ReadOnly {
		_ = t.RequestSize(sub, v.Cols, v.Rows) // a terminal that has ended has no size to change
	}
	s.run(func() { s.readFrom(ctx, actor{term: t, sub: sub, readOnly: v.ReadOnly}, v.Refusal) }, func() {
		events := make(chan update)
		f := follow(ctx, sub, events)
		s.pump(ctx, events, v.Closing)
		f.stop()
	})
}

// readFrom handles the viewer's messages until the connection ends. It answers pings itself.
func (s *socket) readFrom(ctx context.Context, a actor, name Refusal) {
	list := newCommands()
	defer list.end(s.cancel)
	for {
		kind, p, err := s.read()
		if err != nil {
			return
		}
		do, err := s.parse(ctx, a, kind, p)
		if err == nil && do != nil {
			err = list.add(len(p), func() {
				if err := do(); err != nil {
					s.refuse("", err, name)
				}
			})
		}
		if err != nil {
			s.refuse("", err, name)
		}
	}
}

// parse returns the action that a message asks for, nil when it was done at once.
func (s *socket) parse(ctx context.Context, a actor, kind int, p []byte) (do func() error, err error) {
	if kind == websocket.BinaryMessage {
		switch {
		case len(p) > 0 && p[0] == stream.FrameInput:
			return func() error { return a.raw(ctx, p[1:]) }, nil
		case len(p) > 0 && p[0] == stream.FrameControl:
			p = p[1:]
		default:
			return nil, errors.New("bad message: a binary frame begins with 0x00 (input) or 0x03 (JSON)")
		}
	}
	c, err := parseCommand(p)
	if err == nil && c.Type == "ping" {
		return nil, s.pong(c.T)
	}
	if err == nil && c.Type == "auth" { // already logged in
		return nil, nil
	}
	return func() error { return a.do(ctx, c) }, err
}

// pump writes events, answers and pings until the end of the subscription. None of them delays
// the others by more than one batch; answers come behind the first event and before the exit.
func (s *socket) pump(ctx context.Context, events <-chan update, closing <-chan struct{}) {
	beat := time.NewTicker(httpapi.Heartbeat)
	defer beat.Stop()
	var answers chan []byte
	for {
		var err error
		select {
		case h := <-events:
			answers = s.answers
			if h.ends() {
				answers = nil // the exit is the last event
			}
			if err = h.send(s.messages); err == nil {
				err = h.err
			}
			if errors.Is(err, io.EOF) {
				s.closeWith(ctx, websocket.CloseNormalClosure, "the program has ended", httpapi.WriteTimeout)
			}
		case b := <-answers:
			err = s.reply(b)
		case <-beat.C:
			err = s.ping()
		case <-closing:
			s.closeWith(ctx, websocket.CloseGoingAway, "the server is shutting down", hurriedClose)
			return
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
