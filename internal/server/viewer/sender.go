package viewer

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/stream"
)

const (
	// maxPending is how many answers (errors, pongs) may wait for a viewer, maxPendingBytes how many bytes of them.
	maxPending      = 64
	maxPendingBytes = 64 << 10
)

// sender sends what waits for a viewer: events of terminals, answers, lists, pings, the last message. Whoever brings
// something calls kick, and sends it as far as the socket takes it at once: the goroutine that has read the echo of a
// key from the terminal writes it to the socket. Only for what takes long, a snapshot or a line that is slower than the
// output, a goroutine is started, which lives until nothing waits. One goroutine sends at a time.
type sender struct {
	ws     *websocket.Conn
	out    *conn // below ws
	socket *socket
	long   sync.WaitGroup // goroutines that send what takes long

	// Owned by the goroutine that sends.
	batch []*stream.Message // of from, not sent yet
	from  *feed
	sent  *feed // its last batch is written, but perhaps not all of it is taken; nil for none
	bound bool  // boundUnsent was called

	mu       sync.Mutex // guards what follows; nothing blocks under it
	sending  bool       // a goroutine sends, or nothing is ever sent again
	left     bool       // the connection has ended
	feeds    []*feed    // with events, in the order in which they came
	begun    bool       // the first event was sent: answers come behind it
	answers  [][]byte   // JSON for this viewer alone
	pending  int        // bytes of answers
	answered sync.Cond  // there is room for answers, or the connection has ended
	list     []byte     // the newest list of terminals; nil when it was sent
	pinging  bool       // a ping is due
	farewell *farewell  // what is sent last; nil while the connection goes on
	held     bool       // no event of a terminal is sent; of a Protocol
	greeted  bool       // it was not held once
}

// farewell is the close frame of a connection.
type farewell struct {
	code   int
	reason string
	limit  time.Duration // how long the viewer may take to close when it has the frame
	sent   bool
}

// feed is the events of one terminal on a connection.
type feed struct {
	sub  *stream.Subscription
	last func() // called behind the exit; nil is nothing
	// read returns events in place of sub, in pieces, none when there are no more now, and io.EOF at the end; nil: sub
	// has them.
	read func() ([]*stream.Message, error)
	// met says that the viewer was told its id; it belongs to the goroutine that sends.
	met bool

	waits bool // it is among sender.feeds, or has not begun; guarded by sender.mu
	gone  bool // nothing of it is sent any more; guarded by sender.mu
}

// watch subscribes to a terminal. Nothing is sent before begin.
func (s *sender) watch(t stream.Terminal, o stream.SubscribeOptions, last func()) *feed {
	f := &feed{last: last, waits: true}
	o.Ready = func() { s.ready(f) }
	f.sub = t.Hub().Subscribe(o)
	return f
}

// begin sends the first events of a feed.
func (s *sender) begin(f *feed) {
	s.mu.Lock()
	f.waits = false
	s.mu.Unlock()
	s.ready(f)
}

// ready notes that a feed has events.
func (s *sender) ready(f *feed) {
	s.again(f)
	s.kick()
}

// drop ends a feed: nothing of it is sent but what is being sent.
func (s *sender) drop(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.gone = true
}

// kick sends what waits, or leaves it to the goroutine that sends at the moment. It does not wait for the viewer.
func (s *sender) kick() {
	s.mu.Lock()
	busy := s.sending
	s.sending = true
	s.mu.Unlock()
	if !busy {
		s.send(false)
	}
}

// errLong says that something takes long to send; it is not sent.
var errLong = errors.New("it takes long to send")

// send sends until nothing waits. With patient it waits for the viewer; without it leaves what takes long to a new
// goroutine. The caller has set sending.
func (s *sender) send(patient bool) {
	for {
		do := s.next()
		if do == nil {
			return
		}
		err := do(patient)
		switch {
		case err == nil:
		case errors.Is(err, errLong):
			s.sendLong()
			return
		default:
			s.socket.cancel()
			return // sending stays
		}
	}
}

// sendLong goes on with send in a new goroutine.
func (s *sender) sendLong() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left {
		return
	}
	s.long.Add(1)
	go func() {
		defer s.long.Done()
		defer s.socket.sockets.guard(s.socket)
		s.send(true)
	}()
}

// next is what to send next; nil when nothing waits, then send ends.
func (s *sender) next() (do func(patient bool) error) {
	switch {
	case s.out.Waiting() > 0:
		return s.flush
	case s.sent != nil:
		if !s.bound { // not before: the first snapshot is written at once
			s.bound = true
			s.out.boundUnsent()
		}
		s.sent.sub.Sent()
		s.sent = nil
	case len(s.batch) > 0:
		return s.sendBatch
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.farewell != nil && s.farewell.sent:
		time.AfterFunc(s.farewell.limit, func() { _ = s.out.Close() })
		return nil // and sending stays
	case s.farewell != nil:
		return s.sendFarewell
	case s.pinging:
		s.pinging = false
		return s.sendPing
	case s.list != nil:
		return s.sendList
	case s.begun && len(s.answers) > 0:
		return s.sendAnswer
	case len(s.feeds) > 0 && !s.held && s.socket.ctx.Err() == nil:
		return s.poll
	case s.out.Waiting() > 0: // a pong of the goroutine that reads
		return s.flush
	}
	s.sending = false
	return nil
}

func (s *sender) flush(patient bool) error {
	if !patient {
		return errLong
	}
	err := s.out.flush()
	if err == nil {
		s.socket.show() // in a flood the pong is behind all output
	}
	return err
}

// poll takes the events of the next feed.
func (s *sender) poll(patient bool) error {
	s.mu.Lock()
	f := s.feeds[0]
	s.feeds, f.waits = slices.Delete(s.feeds, 0, 1), false // what comes from here on is ready again
	s.mu.Unlock()
	batch, err := f.take(patient)
	if errors.Is(err, errLong) {
		s.again(f)
		return err
	}
	switch {
	case errors.Is(err, io.EOF) && f.last != nil:
		f.last()
	case err != nil:
		s.drop(f)
	case len(batch) > 0:
		if v := s.socket.viewer; v.Binary && !f.met {
			f.met = true
			if v.Who.Client != "" && v.Who.Client != stream.ClientAPI { // else it may not expect a second event
				batch = slices.Insert(batch, 1, f.sub.Introduction())
			}
		}
		s.batch, s.from = batch, f
	}
	return nil
}

// take takes the next events of a feed. Errors: errLong without patient, io.EOF and others at the end.
func (f *feed) take(patient bool) (batch []*stream.Message, err error) {
	if f.read == nil {
		batch, ok, err := f.sub.PollReady()
		if ok {
			return batch, err
		}
	}
	switch {
	case !patient:
		return nil, errLong
	case f.read != nil:
		return f.read()
	}
	return f.sub.Poll()
}

// sendBatch sends the next event of a batch. What follows it in the feed is looked for behind the last one.
func (s *sender) sendBatch(patient bool) error {
	m := s.batch[0]
	if err := s.message(m, patient); err != nil {
		return err
	}
	s.socket.show()
	s.batch[0], s.batch = nil, s.batch[1:]
	f := s.from
	s.mu.Lock()
	s.begun = true
	s.mu.Unlock()
	if len(s.batch) > 0 {
		return nil
	}
	s.batch, s.from, s.sent = nil, nil, f
	if m.Kind == stream.KindExit && f.last != nil {
		f.last()
		return nil
	}
	s.again(f)
	return nil
}

// again has a feed looked at once more.
func (s *sender) again(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.waits && !f.gone {
		f.waits = true
		s.feeds = append(s.feeds, f)
	}
}

// message sends one event.
func (s *sender) message(m *stream.Message, patient bool) error {
	if m.Kind == stream.KindSnapshot && !patient {
		return errLong
	}
	if p := s.socket.viewer.Protocol; p != nil {
		messages := p.Send(m)
		m.Release()
		return s.sendEach(messages)
	}
	if m.IsLarge() {
		return s.sendLarge(m)
	}
	form, kind := s.form()
	frame := m.Frame(form, maxHead, func(b []byte) []byte { return seal(b, kind) })
	if !s.from.met && s.from.read == nil {
		s.from.met = true
		return s.introduce(frame, kind)
	}
	all, err := s.out.writeShared(frame)
	if all {
		m.Release()
	}
	return err
}

// introduce sends the first event of a feed, a sealed frame that is JSON, with the viewer's id.
func (s *sender) introduce(frame []byte, kind int) error {
	own, shared := s.from.sub.Introduce(payload(frame))
	head := append(headOf(kind, len(own)+len(shared)), own...)
	if len(shared) <= maxKept {
		_, err := s.out.writeShared(append(head, shared...))
		return err
	}
	if _, err := s.out.writeShared(head); err != nil {
		return err
	}
	_, err := s.out.writeShared(shared)
	return err
}

// maxHead is how long the head of a frame is at most, in bytes.
const maxHead = 1 + 1 + 8

// seal makes one whole message of a server of b, whose payload stands behind maxHead free bytes (RFC 6455, 5.2).
// gorilla's PreparedMessage does the same with a connection of its own for each message, which costs more than all the
// rest.
func seal(b []byte, kind int) []byte {
	head := headOf(kind, len(b)-maxHead)
	from := maxHead - len(head)
	copy(b[from:], head)
	return b[from:]
}

// The lengths that stand for one of 2 and of 8 bytes behind them.
const length16, length64 = 126, 127

// headOf is the head of one whole message with n bytes of payload.
func headOf(kind, n int) []byte {
	const final = 1 << 7
	switch {
	case n > math.MaxUint16:
		return binary.BigEndian.AppendUint64([]byte{final | byte(kind), length64}, uint64(n))
	case n >= length16:
		return binary.BigEndian.AppendUint16([]byte{final | byte(kind), length16}, uint16(n))
	}
	return []byte{final | byte(kind), byte(n)}
}

// payload is what is behind the head of a sealed message.
func payload(frame []byte) []byte {
	switch frame[1] {
	case length64:
		return frame[1+1+8:]
	case length16:
		return frame[1+1+2:]
	}
	return frame[1+1:]
}

// form returns the encoding of events on the connection and the type of its messages.
func (s *sender) form() (form stream.Form, kind int) {
	switch {
	case s.from.read != nil:
		return stream.FormRaw, websocket.BinaryMessage
	case s.socket.viewer.Binary:
		return stream.FormBinary, websocket.BinaryMessage
	}
	return stream.FormJSON, websocket.TextMessage
}

// sendLarge sends a large snapshot in the pieces of one message (RFC 6455, 5.4).
func (s *sender) sendLarge(m *stream.Message) error {
	form, kind := s.form()
	w, err := s.ws.NextWriter(kind)
	if err != nil {
		return err
	}
	out := io.Writer(pieces{s, w})
	if !s.from.met {
		s.from.met = true
		out = &introducer{out, s.from.sub}
	}
	if err := m.WriteLarge(s.socket.ctx, out, form); err != nil {
		return err // the message is not whole: the connection ends
	}
	return w.Close()
}

// pieces writes to a message and waits until the viewer has taken each piece.
type pieces struct {
	s *sender
	w io.Writer
}

func (p pieces) Write(b []byte) (n int, err error) {
	if n, err = p.w.Write(b); err == nil {
		err = p.s.flush(true)
	}
	return n, err
}

// introducer adds the id of a viewer to its first event, in the first piece. sub is nil behind that.
type introducer struct {
	w   io.Writer
	sub *stream.Subscription
}

func (i *introducer) Write(b []byte) (n int, err error) {
	if i.sub == nil {
		return i.w.Write(b)
	}
	own, rest := i.sub.Introduce(b)
	i.sub = nil
	if _, err = i.w.Write(append(own, rest...)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *sender) sendPing(bool) error {
	return s.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(hurriedClose))
}

func (s *sender) sendList(bool) error {
	s.mu.Lock()
	b := s.list
	s.list = nil
	s.mu.Unlock()
	return s.control(b)
}

func (s *sender) sendAnswer(bool) error {
	s.mu.Lock()
	b := s.answers[0]
	s.answers, s.pending = s.answers[1:], s.pending-len(s.answers[0])
	s.mu.Unlock()
	s.answered.Signal()
	return s.control(b)
}

// control sends JSON that is no event of a terminal.
func (s *sender) control(b []byte) error {
	kind := websocket.TextMessage
	if s.socket.viewer.Binary {
		kind, b = websocket.BinaryMessage, append([]byte{stream.FrameControl}, b...)
	}
	return s.ws.WriteMessage(kind, b)
}

// answer queues a control message. It waits while maxPending wait for a viewer that reads slowly; one
// that does not read is closed (conn.flush), as is one for which maxPendingBytes wait.
func (s *sender) answer(v any) {
	b, _ := json.Marshal(v) // cannot fail: strings, numbers and raw JSON that was parsed
	s.mu.Lock()
	for len(s.answers) >= maxPending && s.pending+len(b) <= maxPendingBytes && s.socket.ctx.Err() == nil {
		s.answered.Wait()
	}
	room := s.pending+len(b) <= maxPendingBytes
	if room {
		s.answers, s.pending = append(s.answers, b), s.pending+len(b)
	}
	s.mu.Unlock()
	if !room {
		s.end(websocket.ClosePolicyViolation, "more answers wait than are kept; read them", hurriedClose)
		s.socket.cancel()
		return
	}
	s.kick()
}

// tryAnswer is answer where it does not wait; false, and nothing is queued, where it would.
func (s *sender) tryAnswer(v any) (ok bool) {
	b, _ := json.Marshal(v) // as in answer
	s.mu.Lock()
	ok = len(s.answers) < maxPending && s.pending+len(b) <= maxPendingBytes
	if ok {
		s.answers, s.pending = append(s.answers, b), s.pending+len(b)
	}
	s.mu.Unlock()
	if ok {
		s.kick()
	}
	return ok
}

// setList queues the list of terminals in place of one that was not sent.
func (s *sender) setList(b []byte) {
	s.mu.Lock()
	s.list = b
	s.mu.Unlock()
	s.kick()
}

func (s *sender) ping() {
	s.mu.Lock()
	s.pinging = true
	s.mu.Unlock()
	s.kick()
}

// handlePing answers a ping of the protocol. One of a viewer that does not read is dropped.
func (s *sender) handlePing(data string) error {
	if s.out.Waiting() > maxPendingBytes {
		return nil
	}
	err := s.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(hurriedClose))
	s.kick()
	if errors.Is(err, websocket.ErrCloseSent) {
		return nil
	}
	return err
}

// end has a close frame with the reason sent behind what is being sent, and closes the connection when the peer closes
// too (RFC 6455, 7.1.1), or limit later. Closing at once would reset it at the peer's next message, a pong for example,
// and lose unread output.
func (s *sender) end(code int, text string, limit time.Duration) {
	s.mu.Lock()
	first := s.farewell == nil
	if first {
		s.farewell = &farewell{code: code, reason: text, limit: limit}
	}
	s.mu.Unlock()
	if first {
		s.kick()
	}
}

// endSoon is end for a viewer that has until limit from now, also for what is being sent.
func (s *sender) endSoon(code int, text string, limit time.Duration) {
	s.end(code, text, limit)
	time.AfterFunc(limit, func() { _ = s.out.Close() })
}

func (s *sender) sendFarewell(bool) error {
	s.mu.Lock()
	f := s.farewell
	f.sent = true
	s.mu.Unlock()
	code := f.code
	if p := s.socket.viewer.Protocol; p != nil {
		var last [][]byte
		last, code = p.Last(code, f.reason)
		if err := s.sendEach(last); err != nil {
			return err
		}
	}
	return s.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, f.reason),
		time.Now().Add(hurriedClose))
}

// leave returns when nothing is sent any more, and nothing will be. The connection is closed.
func (s *sender) leave() {
	s.mu.Lock()
	s.left = true
	s.mu.Unlock()
	s.long.Wait()
}
