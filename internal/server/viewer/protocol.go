package viewer

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/stream"
)

// Protocol is how the client of another product speaks on the WebSocket of one terminal; package foreign has
// them. Each connection has one of its own. One goroutine at a time calls Send and Last, and one Read.
type Protocol interface {
	// Name is the subprotocol of the upgrade; "" is none.
	Name() string
	// Text says that messages to the client are text, else they are binary.
	Text() bool
	// Waits says that the client gets nothing before an Act with Go, which it has to send within helloTime.
	Waits() bool
	// Send is what the client gets for an event, in messages of their own. It keeps nothing of m.
	Send(m *stream.Message) [][]byte
	// Last is what the client gets before the connection closes with that code and reason, and the code that
	// makes the client do what the code says: not to come back, for example.
	Last(code int, reason string) (messages [][]byte, as int)
	// Read is what a message of the client asks for. It keeps nothing of p. An error closes the connection.
	Read(kind int, p []byte) (Act, *BadMessage)
}

// Act is what a client asks for with one message. The zero value is nothing.
type Act struct {
	Input      []byte // to type; belongs to the caller
	Cols, Rows int    // the size that it requests; 0 is none
	Hold, Go   bool   // whether output is held from now on, or goes on
}

// BadMessage closes a connection: with a code of RFC 6455, 7.4.1 and a reason of up to 123 bytes.
type BadMessage struct {
	Code   int
	Reason string
}

// helloTime is how long a client may take to say its first message, where the protocol begins with one.
const helloTime = 10 * time.Second

// subprotocol is the header of an upgrade.
func (v Viewer) subprotocol() http.Header {
	if v.Protocol == nil || v.Protocol.Name() == "" {
		return nil
	}
	return http.Header{"Sec-Websocket-Protocol": {v.Protocol.Name()}}
}

// awaitHello ends a connection whose client says nothing, where the protocol begins with a message of the client.
func (s *socket) awaitHello() {
	if !s.viewer.Protocol.Waits() {
		return
	}
	s.hold(true)
	time.AfterFunc(helloTime, func() {
		s.mu.Lock()
		silent := s.held && !s.greeted
		s.mu.Unlock()
		if silent {
			s.end(websocket.ClosePolicyViolation, "the first message did not come in time", hurriedClose)
		}
	})
}

// readForeign is readFrom of a client with another protocol. What is refused is dropped: none of them has a word
// for it.
func (s *socket) readForeign(a actor) {
	var list commands
	defer list.end(s.cancel)
	for {
		kind, p, err := s.read()
		if errors.Is(err, websocket.ErrReadLimit) && s.out.SetReadDeadline(time.Now().Add(hurriedClose)) == nil {
			_, _ = io.Copy(io.Discard, s.out) // what is unread would take the close frame along
		}
		if err != nil {
			return
		}
		act, bad := s.viewer.Protocol.Read(kind, p)
		if bad == nil && s.carryOut(a, &list, act) != nil {
			bad = &BadMessage{websocket.ClosePolicyViolation, "more input waits for the program than is kept"}
		}
		if bad == nil {
			continue
		}
		s.end(bad.Code, bad.Reason, hurriedClose)
		for err == nil { // the client has to see the reason
			_, _, err = s.read()
		}
		return
	}
}

// carryOut does what a client asks for, or has it done. Errors: httpapi.ErrCommandsWait.
func (s *socket) carryOut(a actor, list *commands, act Act) error {
	if act.Cols > 0 && act.Rows > 0 {
		s.dropped(a.do(s.ctx, command{Type: "resize", Cols: act.Cols, Rows: act.Rows}))
	}
	if act.Hold || act.Go {
		s.hold(act.Hold)
	}
	if len(act.Input) == 0 {
		return nil
	}
	c := command{Type: "input", B64: act.Input}
	late := func(err error) { go s.dropped(err) } // who says it must not wait
	if list.idle() && a.try(s.ctx, c, late) {
		return nil
	}
	return list.add(len(act.Input), func() { s.dropped(a.do(s.ctx, c)) })
}

// dropped notes that something was refused.
func (s *socket) dropped(err error) {
	if err != nil {
		s.viewer.Refusal(err)
	}
}

// hold stops the events of the terminal, or has them go on. What a client that has stopped them misses does not
// pile up: it is behind then, see package stream.
func (s *sender) hold(held bool) {
	s.mu.Lock()
	s.held = held
	s.greeted = s.greeted || !held
	s.mu.Unlock()
	s.kick()
}

// sendEach sends messages in the client's own protocol.
func (s *sender) sendEach(messages [][]byte) error {
	kind := websocket.BinaryMessage
	if s.socket.viewer.Protocol.Text() {
		kind = websocket.TextMessage
	}
	for _, b := range messages {
		if _, err := s.out.writeShared(append(headOf(kind, len(b)), b...)); err != nil {
			return err
		}
	}
	return nil
}
