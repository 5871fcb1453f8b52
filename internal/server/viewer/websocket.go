package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	// maxEcho bounds what a pong repeats of a ping, in bytes of JSON: a time or a number fits.
	maxEcho = 64
	// maxProblem bounds the sentence of an error event, in bytes: it may repeat the message that it is about.
	maxProblem = 1 << 10
	// readBuffer is what a connection keeps to read into, in bytes: a key and its frame fit. Longer messages pass it
	// by.
	readBuffer = 512
)

// upgrader leaves the check of Origin to package auth, which has checked it
// for every request before.
var upgrader = websocket.Upgrader{
	ReadBufferSize: readBuffer, WriteBufferSize: 4 << 10,
	WriteBufferPool: &sync.Pool{},
	CheckOrigin:     func(*http.Request) bool { return true },
}

// socket is one viewer's WebSocket. One goroutine reads. Events are sent by whoever has them for the viewer, see
// sender.
type socket struct {
	sender
	viewer  Viewer
	sockets *Sockets
	ctx     context.Context // ends with the connection; the cause is httpapi.ErrEnded when the ticket or login ends
	cancel  context.CancelFunc
	seen    atomic.Int64  // when the viewer showed itself last, in ns since 1970
	message *bytes.Buffer // of messages, the one that was read last; belongs to the goroutine that reads
}

// Viewer has the rights and the format of one connection.
type Viewer struct {
	Who  stream.Who
	Lazy bool // stream.SubscribeOptions.Lazy; a page says it for each terminal
	// Kicked ends what has let the viewer in, when somebody kicks it; nil is nothing.
	Kicked     func()
	ReadOnly   bool // Who may not type
	Binary     bool // frames of 1 type byte and payload instead of JSON
	Scrollback int  // history lines in its snapshots, negative for all
	// HistoryOnce is stream.SubscribeOptions.HistoryOnce.
	HistoryOnce bool
	// Cols and Rows are the requested size from the beginning, as by a resize; 0 is none. The first
	// snapshot has the resulting size.
	Cols, Rows int
	// Since is stream.SubscribeOptions.Since; a page names it for each terminal that it attaches to.
	Since *uint64
	// Protocol is another one than ours; nil is ours. With it Binary and Since count for nothing, and each resize
	// brings a snapshot.
	Protocol Protocol
	// Refusal names an error in answers, as in the errors of the HTTP API.
	Refusal Refusal
	// Sockets has the connection while it is open.
	Sockets *Sockets
	// Context is that of what the viewer does; its end closes the connection, politely with the cause httpapi.ErrEnded.
	// It is not the request's, which ends before.
	Context context.Context
	// Ended is called once, when the connection has ended; nil is nothing.
	Ended func()
}

// revoke ends what has let the viewer in.
func (v Viewer) revoke() {
	if v.Kicked != nil {
		v.Kicked()
	}
}

// Refusal names an error in answers, as in the errors of the HTTP API.
type Refusal = func(error) (text, code string, details wire.ErrorDetails)

// OpenWebSocket opens a connection for one viewer of t, which lasts until its exit event was sent, the viewer leaves,
// or the server or v.Context ends. It answers the upgrade itself. The handler of the request may return while the
// connection is open: net/http then frees what it holds. ok is false when there was no upgrade: nothing is called then.
func OpenWebSocket(w http.ResponseWriter, r *http.Request, t stream.Terminal, v Viewer) (ok bool) {
	s, err := open(w, r, v)
	if err != nil {
		return false
	}
	f := s.watch(t, stream.SubscribeOptions{Scrollback: v.Scrollback, HistoryOnce: v.HistoryOnce, Since: v.Since,
		Who: v.Who, Lazy: v.Lazy, Whole: v.Binary, NoResize: v.Protocol != nil,
		Kicked: s.kicked}, s.finish)
	read := s.readFrom
	if v.Protocol != nil {
		read = s.readForeign
		s.awaitHello()
	}
	if v.Cols > 0 && v.Rows > 0 && !v.ReadOnly {
		_ = t.RequestSize(f.sub, v.Cols, v.Rows) // a terminal that has ended has no size to change
	}
	go s.serve(func() { read(actor{term: t, sub: f.sub, readOnly: v.ReadOnly}) }, func() { t.Detach(f.sub) })
	s.begin(f)
	return true
}

// kicked ends the connection of a viewer that somebody has removed, and what has let it in.
func (s *socket) kicked() {
	s.viewer.revoke()
	s.endSoon(wire.CloseKicked, stream.ErrKicked.Error(), hurriedClose)
}

// finish ends the connection behind the exit of its terminal.
func (s *socket) finish() {
	s.end(websocket.CloseNormalClosure, "the program has ended", httpapi.WriteTimeout)
}

// open upgrades the request.
func open(w http.ResponseWriter, r *http.Request, v Viewer) (*socket, error) {
	ws, err := upgraded(w, r, v.subprotocol())
	if err != nil {
		return nil, err
	}
	ws.SetReadLimit(maxFrame)
	s := &socket{viewer: v, sockets: v.Sockets}
	s.ctx, s.cancel = context.WithCancel(v.Context)
	s.ws, s.out, s.socket = ws, ws.NetConn().(*conn), s
	s.out.start()
	s.answered.L = &s.mu
	s.show()
	ws.SetPongHandler(func(string) error {
		s.show()
		return nil
	})
	ws.SetPingHandler(s.handlePing)
	context.AfterFunc(s.ctx, s.over)
	return s, nil
}

// show notes that the viewer has just shown itself.
func (s *socket) show() { s.seen.Store(time.Now().UnixNano()) }

// beat pings the viewer, or ends it when it has not shown itself for pongTimeout.
func (s *socket) beat(now time.Time) {
	if now.UnixNano()-s.seen.Load() > int64(pongTimeout) {
		s.cancel()
		return
	}
	s.ping()
}

// over closes the connection once its context has ended: with a reason when the viewer's ticket or login has ended.
func (s *socket) over() {
	s.mu.Lock()
	s.answered.Broadcast()
	s.mu.Unlock()
	if ended(s.ctx) {
		s.endSoon(wire.CloseUnauthorized, "the ticket or the login has ended", hurriedClose)
		return
	}
	_ = s.out.Close() // releases whoever reads or writes
}

// serve reads until the connection has ended, and cleans up behind it.
func (s *socket) serve(read, cleanUp func()) {
	s.sockets.add(s)
	defer s.sockets.guard(s) // of what follows
	defer func() {
		s.cancel()
		_ = s.out.Close()
		s.sockets.remove(s)
		s.leave()
		cleanUp()
		if s.viewer.Ended != nil {
			s.viewer.Ended()
		}
	}()
	defer s.sockets.guard(s)
	read()
}

// read waits for the viewer's next message, which is valid until the next call. Messages that come after the end of its
// ticket or login are dropped.
func (s *socket) read() (kind int, p []byte, err error) {
	for {
		if s.message != nil {
			if s.message.Reset(); s.message.Cap() <= maxKept {
				messages.Put(s.message)
			}
			s.message = nil
		}
		kind, r, err := s.ws.NextReader()
		if err != nil {
			return 0, nil, err
		}
		s.show()
		s.message = messages.Get().(*bytes.Buffer)
		if _, err = s.message.ReadFrom(r); err != nil || !ended(s.ctx) {
			return kind, s.message.Bytes(), err
		}
	}
}

// messages are buffers for messages: who waits for one has none.
var messages = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxKept bounds a buffer that is used again, in bytes: more is a paste, which is rare.
const maxKept = 64 << 10

func (s *socket) refuse(pty string, err error) { s.answer(s.refusal(pty, err)) }

// refuseNow is refuse for a caller that must not wait. What is refused later is told later.
func (s *socket) refuseNow(pty string, err error) {
	if e := s.refusal(pty, err); !s.tryAnswer(e) {
		go s.answer(e)
	}
}

func (s *socket) refusal(pty string, err error) wire.EventError {
	text, code, details := s.viewer.Refusal(err)
	return wire.EventError{Event: "error", PTY: httpapi.Clip(pty), Error: httpapi.ClipTo(text, maxProblem), Code: code,
		Details: details}
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

// readFrom handles the viewer's messages until the connection ends. It answers pings itself.
func (s *socket) readFrom(a actor) {
	var list commands
	defer list.end(s.cancel)
	for {
		kind, p, err := s.read()
		if err != nil {
			return
		}
		c, err := s.parse(kind, p)
		switch {
		case err != nil:
		case c.Type == "ping":
			err = s.pong(c.T)
		case c.Type == "auth": // already logged in
		case list.idle() && a.try(s.ctx, c, func(err error) { s.refuseNow("", err) }):
		default:
			err = list.add(len(p), func() {
				defer s.sockets.guard(s)
				if err := a.do(s.ctx, c); err != nil {
					s.refuse("", err)
				}
			})
		}
		if err != nil {
			s.refuse("", err)
		}
	}
}

// parse returns the command in a message; it keeps nothing of it.
func (s *socket) parse(kind int, p []byte) (command, error) {
	if kind == websocket.BinaryMessage {
		switch {
		case len(p) > 0 && p[0] == stream.FrameInput:
			return command{Type: "input", B64: bytes.Clone(p[1:])}, nil
		case len(p) > 0 && p[0] == stream.FrameControl:
			p = p[1:]
		default:
			return command{}, errors.New("bad message: a binary frame begins with 0x00 (input) or 0x03 (JSON)")
		}
	}
	return parseCommand(p)
}
