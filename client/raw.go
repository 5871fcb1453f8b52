package client

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/wire"
)

// RawConn is a viewer that gets a program's output as the program writes it, and nothing else, and whose writes are the
// program's input as they are. Read and Write have one caller each at a time; Close may be called from any goroutine.
type RawConn struct {
	conn *websocket.Conn
	ctx  context.Context
	stop func() bool
	once sync.Once
	rest []byte // of the message that was read last
}

// Raw connects to a terminal. Output begins at since, nil is from now on. ctx governs the whole life of the connection,
// and the caller must Close it. Errors: *Error with status 410 for a position that is not kept any more.
func (t terminals) Raw(ctx context.Context, id string, since *uint64, o AttachOptions) (*RawConn, error) {
	q := url.Values{"format": {"raw"}}
	if since != nil {
		q.Set("since", strconv.FormatUint(*since, 10))
	}
	o.who(q)
	conn, err := t.dialTerminal(ctx, id, o.Ticket, q)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(maxEvent)
	r := &RawConn{conn: conn, ctx: ctx}
	r.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	return r, nil
}

// Read implements io.Reader. Errors: io.EOF when the program has ended; ErrKicked, ErrUnauthorized, ErrClosed, ctx's.
func (r *RawConn) Read(p []byte) (n int, err error) {
	for len(r.rest) == 0 {
		if _, r.rest, err = r.conn.ReadMessage(); err != nil {
			return 0, r.lost(err)
		}
	}
	n = copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *RawConn) lost(err error) error {
	switch {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case websocket.IsCloseError(err, websocket.CloseNormalClosure):
		return io.EOF
	case websocket.IsCloseError(err, wire.CloseUnauthorized):
		return errExpired()
	case websocket.IsCloseError(err, wire.CloseKicked):
		return errKicked()
	}
	return fmt.Errorf("%w: %w", ErrClosed, err)
}

// Write implements io.Writer. It waits for a program that does not read.
func (r *RawConn) Write(p []byte) (n int, err error) {
	for n < len(p) {
		piece := p[n:min(len(p), n+inputFrame)]
		if err := r.conn.WriteMessage(websocket.BinaryMessage, piece); err != nil {
			return n, r.lost(err)
		}
		n += len(piece)
	}
	return n, nil
}

// End says that no more is written. Read returns what comes until the server has taken all of it, and io.EOF then.
func (r *RawConn) End() error {
	bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
	return r.conn.WriteControl(websocket.CloseMessage, bye, time.Now().Add(writeTimeout))
}

// Close ends the connection. It may be called more than once.
func (r *RawConn) Close() error {
	r.once.Do(func() {
		r.stop()
		_ = r.conn.Close()
	})
	return nil
}
