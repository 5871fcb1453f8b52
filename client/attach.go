package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/wire"
)

const (
	// writeTimeout is how long one message to the server may take.
	writeTimeout = 10 * time.Second
	// pingEvery and pongTimeout find a connection that is gone without a word: a
	// network that changed, a machine that slept.
	pingEvery   = 10 * time.Second
	pongTimeout = 3 * pingEvery
	// byeTimeout is how long the server may take, after our goodbye, to take what was typed before it.
	byeTimeout = time.Second
	// inputFrame bounds one frame of input, in bytes; the server takes up to 1 MiB.
	inputFrame = 64 << 10
	// frameBuffer is the size of the connection's buffers, in bytes.
	frameBuffer = 64 << 10
)

// AttachOptions are the options of an attachment. The zero value types with the
// client's own rights and gets snapshots without history.
type AttachOptions struct {
	// Scrollback is how many lines of history the snapshots of this connection
	// carry; negative (AllHistory) means all.
	Scrollback int
	// Since is the Seq of the last event that the caller has shown: if the server
	// still has what followed, the first event is of KindResume and not a snapshot.
	// nil: it is a snapshot.
	Since *uint64
	// HistoryOnce has the history in the first snapshot only; each resize brings a
	// snapshot then.
	HistoryOnce bool
	// Cols and Rows are the size of the viewer's screen, as Attachment.Resize says it:
	// the first snapshot has the size that the size policy makes of it. 0: no request.
	Cols, Rows int
	// Inside says where the viewer runs itself.
	Inside Inside
	// Name is what other viewers see; "" is the user's name.
	Name string
	// Key is a secret of the viewer's choice, the same on each of its connections: with that of the holder of a locked
	// terminal it is the holder again. "" is none.
	Key string
	// Ticket is used instead of the client's token when it is not "".
	Ticket string
}

// Inside says in which terminals a viewer's own process runs, so that the server
// can refuse to show a terminal inside itself. The zero value is none.
type Inside struct {
	Terminals []string // ids, as EVERTTY_PTY of the process and its ancestors says them
	// Devices are the viewer's terminal devices, each as the kernel's boot id, the
	// number of the file system and the number of the device: BOOT_ID:HEX:HEX.
	Devices []string
	Nested  bool // showing a terminal inside another one is meant
}

func (i Inside) query(q url.Values) {
	for _, id := range i.Terminals {
		q.Add("inside", id)
	}
	for _, name := range i.Devices {
		q.Add("tty", name)
	}
	if i.Nested {
		q.Set("nested", "1")
	}
}

func (o AttachOptions) query() url.Values {
	q := url.Values{"format": {"binary"}, "scrollback": {strconv.Itoa(max(o.Scrollback, AllHistory))}}
	if o.Since != nil {
		q.Set("since", strconv.FormatUint(*o.Since, 10))
	}
	if o.HistoryOnce {
		q.Set("history", "first")
	}
	if o.Cols > 0 && o.Rows > 0 {
		q.Set("cols", strconv.Itoa(o.Cols))
		q.Set("rows", strconv.Itoa(o.Rows))
	}
	o.who(q)
	return q
}

// who adds what says who the viewer is, and where it runs.
func (o AttachOptions) who(q url.Values) {
	q.Set("client", "attach")
	for name, value := range map[string]string{"name": o.Name, "key": o.Key} {
		if value != "" {
			q.Set(name, value)
		}
	}
	o.Inside.query(q)
}

// Attachment is a viewer that looks and types, by WebSocket. Next has one caller
// at a time; the other methods may be called from any goroutine.
type Attachment struct {
	conn  *websocket.Conn
	ctx   context.Context
	stop  func() bool // of closing when ctx ends
	write sync.Mutex  // one writer at a time, as gorilla asks
	quit  chan struct{}
	once  sync.Once
	pings sync.WaitGroup
	// reading is held by who reads conn; when leaving is set that is Close alone.
	reading sync.Mutex
	leaving atomic.Bool
	ended   bool // the exit event was taken; belongs to Next's caller
	began   time.Time
	rtt     atomic.Int64 // as RTT, in nanoseconds
}

// Attach connects to a terminal. The first event is a snapshot, or with
// AttachOptions.Since perhaps one of KindResume. ctx governs the
// whole life of the attachment, and the caller must Close it. Errors: ErrNested
// and ErrCycle for a viewer inside a terminal, see Inside.
func (t terminals) Attach(ctx context.Context, id string, o AttachOptions) (*Attachment, error) {
	conn, err := t.dialTerminal(ctx, id, o.Ticket, o.query())
	if err != nil {
		return nil, err
	}
	a := &Attachment{conn: conn, ctx: ctx, quit: make(chan struct{}), began: time.Now()}
	conn.SetReadLimit(maxEvent)
	conn.SetPongHandler(a.ponged)
	conn.SetPingHandler(a.pong)
	_ = a.pingNow() // a broken connection shows in Next
	a.stop = context.AfterFunc(ctx, a.close)
	a.pings.Go(a.ping)
	return a, nil
}

// dialTerminal opens the WebSocket of a terminal.
func (t terminals) dialTerminal(ctx context.Context, id, ticket string, q url.Values) (*websocket.Conn, error) {
	header := t.header()
	if ticket != "" {
		q.Set("ticket", ticket)
		header.Del("Authorization")
	}
	d := websocket.Dialer{
		NetDialContext: t.dial, Proxy: t.proxy, HandshakeTimeout: dialTimeout,
		ReadBufferSize: frameBuffer, WriteBufferSize: 4 << 10,
	}
	// "ws" + "://…" or "ws" + "s://…".
	target := "ws" + t.at(q, "pty", id, "ws")[len("http"):]
	conn, resp, err := d.DialContext(ctx, target, header) //nolint:bodyclose // an upgraded response has no body
	if err != nil {
		return nil, refused(ctx, resp, err)
	}
	return conn, nil
}

// refused is why an upgrade failed. gorilla keeps the reply's first bytes only,
// which is enough for the error's sentence.
func refused(ctx context.Context, resp *http.Response, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case resp != nil && errors.Is(err, websocket.ErrBadHandshake):
		return problem(resp)
	case errors.Is(err, ErrNoServer):
		return err
	}
	return fmt.Errorf("client: attach: %w", err)
}

// Next returns the next event. After the exit event it returns io.EOF; when the
// connection ends before it, an error that matches ErrClosed or is ctx's; when the
// ticket ends, one that matches ErrUnauthorized; when somebody removes this viewer, ErrKicked.
func (a *Attachment) Next() (Event, error) {
	for !a.ended {
		kind, p, err := a.read()
		if err != nil {
			return Event{}, a.lost(err)
		}
		if kind != websocket.BinaryMessage {
			continue
		}
		e, known, err := decodeFrame(p)
		if err != nil {
			return Event{}, err
		}
		if known {
			a.ended = e.Kind == KindExit
			return e, nil
		}
	}
	return Event{}, io.EOF
}

func (a *Attachment) read() (kind int, p []byte, err error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	if err := a.alive(); err != nil {
		return 0, nil, err
	}
	return a.conn.ReadMessage()
}

// alive moves the moment at which the connection counts as broken; while Close waits for Next that is now.
func (a *Attachment) alive() error {
	err := a.conn.SetReadDeadline(time.Now().Add(pongTimeout))
	if a.leaving.Load() {
		err = a.conn.SetReadDeadline(time.Now())
	}
	return err
}

// pong answers the server's ping (RFC 6455, 5.5.3), which shows that it lives even
// while it cannot answer ours: it takes input no faster than the program does.
func (a *Attachment) pong(data string) error {
	_ = a.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(writeTimeout))
	return a.alive()
}

// ponged hears the answer to one of our pings, which has what the ping had: when it was sent.
func (a *Attachment) ponged(data string) error {
	if sent, err := strconv.ParseInt(data, 10, 64); err == nil && sent >= 0 {
		if took := time.Since(a.began) - time.Duration(sent); took > 0 {
			a.rtt.Store(int64(took))
		}
	}
	return a.alive()
}

// RTT is how long the newest answer to a ping took, there and back: the first ping goes out right behind the
// connection, the others 10 seconds apart. 0: there is none yet. Answers count when Next comes to them, and wait behind
// what the server sends: one can be far longer than the line needs.
func (a *Attachment) RTT() time.Duration { return time.Duration(a.rtt.Load()) }

func (a *Attachment) lost(err error) error {
	if a.ctx.Err() != nil {
		return context.Cause(a.ctx)
	}
	switch {
	case websocket.IsCloseError(err, wire.CloseUnauthorized):
		return errExpired()
	case websocket.IsCloseError(err, wire.CloseKicked):
		return errKicked()
	}
	return fmt.Errorf("%w: %w", ErrClosed, err)
}

// Input sends what was typed. It returns when it is on its way; a program that
// has ended is reported as an event of KindError.
func (a *Attachment) Input(p []byte) error {
	for len(p) > 0 {
		n := pieceOf(p, inputFrame)
		if err := a.send(append([]byte{frameInput}, p[:n]...)); err != nil {
			return err
		}
		p = p[n:]
	}
	return nil
}

// Resize says how large this viewer's screen is; the terminal's size policy
// decides what comes of it.
func (a *Attachment) Resize(cols, rows int) error {
	return a.send(controlFrame(wire.CommandResize{Type: "resize", Cols: cols, Rows: rows}))
}

// Colors says which colours this viewer draws with; the server answers programs with the colors of the viewer
// whose size counts.
func (a *Attachment) Colors(c wire.CommandColors) error {
	c.Type = "colors"
	return a.send(controlFrame(c))
}

// Control changes who types: lock, unlock, request, grant or deny, see wire.ControlTerminal. viewer is whom it is
// granted or denied to, "" who asked first. A refusal is an event of KindError.
func (a *Attachment) Control(action, viewer string) error {
	return a.send(controlFrame(wire.CommandControl{Type: "control", Action: action, Viewer: viewer}))
}

// Keys presses named keys, as Client.Keys does.
func (a *Attachment) Keys(keys ...string) error {
	return a.send(controlFrame(wire.CommandKeys{Type: "keys", Keys: keys}))
}

// Paste inserts text, as Client.Paste does.
func (a *Attachment) Paste(text string) error {
	return a.send(controlFrame(wire.CommandPaste{Type: "paste", Data: text}))
}

func (a *Attachment) send(frame []byte) error {
	a.write.Lock()
	defer a.write.Unlock()
	err := a.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err == nil {
		err = a.conn.WriteMessage(websocket.BinaryMessage, frame)
	}
	if err != nil {
		return a.lost(err)
	}
	return nil
}

// ping keeps the connection alive until Close, and measures it.
func (a *Attachment) ping() {
	beat := time.NewTicker(pingEvery)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			if a.pingNow() != nil {
				_ = a.conn.Close() // wakes Next, which says so
				return
			}
		case <-a.quit:
			return
		}
	}
}

// pingNow sends a ping that says when, for ponged.
func (a *Attachment) pingNow() error {
	now := strconv.AppendInt(nil, int64(time.Since(a.began)), 10)
	return a.conn.WriteControl(websocket.PingMessage, now, time.Now().Add(writeTimeout))
}

// Close says goodbye, waits until the server has taken what was typed before, ends the connection and waits until
// nothing of it is left. A pending Next returns. Close may be called more than once.
func (a *Attachment) Close() error {
	a.stop()
	a.close()
	a.pings.Wait()
	return nil
}

func (a *Attachment) close() {
	a.once.Do(func() {
		bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		if a.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(time.Second)) == nil {
			a.hearOut()
		}
		_ = a.conn.Close()
		close(a.quit)
	})
}

// hearOut reads until the server ends the connection, which it does when it has come to our goodbye (RFC 6455, 7.1.1),
// or byeTimeout is over. Closing with something unread resets the connection: input that the server has not taken would
// be lost.
func (a *Attachment) hearOut() {
	limit := time.Now().Add(byeTimeout)
	a.leaving.Store(true)
	_ = a.conn.SetReadDeadline(time.Now())
	a.reading.Lock() // Next has returned
	defer a.reading.Unlock()
	conn := a.conn.NetConn()
	if conn.SetReadDeadline(limit) == nil {
		_, _ = io.Copy(io.Discard, conn)
	}
}
