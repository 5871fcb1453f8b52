package viewer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
)

// raw is a connection that has the program's bytes and nothing else: each binary message of the server is output as the
// journal has it, each message of the viewer is input. It is for programs that speak with the program itself, such as
// file transfers.
type raw struct {
	*socket
	term   stream.Terminal
	sub    *stream.Subscription
	reader *journal.Reader // belongs to the goroutine that sends
	seq    uint64          // position behind what was read; likewise
}

// OpenRaw is OpenWebSocket of a connection that begins where reader stands, which it closes.
func OpenRaw(w http.ResponseWriter, r *http.Request, t stream.Terminal, reader *journal.Reader, v Viewer) (ok bool) {
	s, err := open(w, r, v)
	if err != nil {
		_ = reader.Close()
		return false
	}
	s.begun = true // nothing has to be first
	x := &raw{socket: s, term: t, reader: reader, seq: reader.Seq()}
	f := s.watch(t, stream.SubscribeOptions{Who: v.Who, Reads: true, Kicked: s.kicked}, s.finish)
	x.sub, f.read = f.sub, x.read
	if v.Cols > 0 && v.Rows > 0 && !v.ReadOnly {
		_ = t.RequestSize(x.sub, v.Cols, v.Rows) // a terminal that has ended has no size to change
	}
	go s.serve(x.readInput, func() {
		t.Detach(x.sub)
		_ = reader.Close()
	})
	s.begin(f)
	return true
}

// read returns the next piece of output.
func (x *raw) read() ([]*stream.Message, error) {
	finished := x.term.Hub().Stats().Finished // before the look: then all of it is there
	for {
		e, err := x.reader.Next()
		switch {
		case errors.Is(err, io.EOF) && !finished:
			return nil, nil
		case errors.Is(err, io.EOF):
			return nil, err
		case err != nil:
			x.end(websocket.ClosePolicyViolation, fmt.Sprintf("the output from %d on is not kept any more", x.seq),
				hurriedClose)
			return nil, err
		case e.Kind == journal.EntryOutput && len(e.Data) > 0:
			x.seq = e.Seq
			x.sub.Took(e.Seq)
			return []*stream.Message{stream.Raw(bytes.Clone(e.Data), e.Seq)}, nil
		}
	}
}

// readInput types what the viewer sends until the connection ends. A program that does not read holds the viewer up;
// nothing is left out. Input that is refused ends the connection, which has no other way to say so.
func (x *raw) readInput() {
	for {
		_, p, err := x.socket.read()
		if err != nil {
			return
		}
		if err := x.types(p); err != nil {
			text, _, _ := x.viewer.Refusal(err)
			x.end(websocket.ClosePolicyViolation, httpapi.ClipTo(text, maxCloseText), hurriedClose)
			return
		}
	}
}

// types writes all of p, however long the program takes to read it.
func (x *raw) types(p []byte) error {
	for len(p) > 0 {
		err := x.term.Input(x.ctx, x.sub, p)
		if err == nil {
			return x.term.RequestSize(x.sub, 0, 0)
		}
		_, code, details := x.viewer.Refusal(err)
		if code != "INPUT_BLOCKED" || details.Bytes == nil || x.ctx.Err() != nil {
			return err
		}
		p = p[*details.Bytes:]
		x.show() // its pongs wait behind its input
	}
	return nil
}

// maxCloseText bounds the reason of a close frame, in bytes, without the … of a longer one (RFC 6455, 5.5).
const maxCloseText = 123 - len("…")
