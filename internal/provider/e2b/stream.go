package e2b

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/service"
)

// Bounds of a stream.
const (
	frameHead    = 5 // bytes: flags, length
	maxFrame     = 4 << 20
	streamPing   = 50 * time.Second // the daemon is asked for a sign of life that often
	streamSilent = 3 * streamPing   // without one the connection counts as lost
)

// Flags of a frame (Connect protocol, "streaming").
const (
	frameCompressed = 0x01
	frameEnd        = 0x02
)

// frames is a reply in the Connect protocol's streaming form with the JSON codec: frames of a flag,
// a length and a message. The last frame has no message but perhaps an error. It has one reader.
type frames struct {
	client  *service.Client
	body    io.ReadCloser
	cancel  context.CancelCauseFunc
	silence *time.Timer // ends the stream
}

// frame is a message with its five bytes.
func frame(flags byte, message []byte) []byte {
	b := make([]byte, frameHead, frameHead+len(message))
	b[0] = flags
	binary.BigEndian.PutUint32(b[1:], uint32(len(message)))
	return append(b, message...)
}

// rpcError is an error of the Connect protocol: of a stream's last frame.
type rpcError struct{ code, text string }

func (e *rpcError) Error() string { return fmt.Sprintf("e2b: %s: %s", e.code, e.text) }

// sentinels are the errors of codes (Connect protocol, "error codes"). That of any other code is
// ErrProvider.
var sentinels = map[string]error{"unauthenticated": provider.ErrRefused, "permission_denied": provider.ErrRefused,
	"not_found": provider.ErrNotFound, "unavailable": provider.ErrUnreachable,
	"deadline_exceeded": provider.ErrUnreachable, "canceled": provider.ErrUnreachable}

func (e *rpcError) Unwrap() error { return cmp.Or(sentinels[e.code], provider.ErrProvider) }

// refusal reports whether the code says that the call was not begun (Connect protocol, "error
// codes").
func (e *rpcError) refusal() bool {
	return slices.Contains([]string{"unauthenticated", "permission_denied", "not_found", "invalid_argument",
		"unimplemented", "already_exists", "resource_exhausted", "failed_precondition"}, e.code)
}

var errSilent = fmt.Errorf("%w: no sign of life for too long", provider.ErrUnreachable)

// openStream begins a streaming call. It lives until it is closed, ctx ends or nothing has come for
// streamSilent. It is repeated only where nothing can have happened.
func openStream(ctx context.Context, client *service.Client, url string, h http.Header, in any) (*frames, error) {
	message, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("e2b: %w", err)
	}
	h.Set("Connect-Protocol-Version", "1")
	h.Set("Keepalive-Ping-Interval", fmt.Sprint(int(streamPing/time.Second)))
	ctx, cancel := context.WithCancelCause(ctx)
	f := &frames{client: client, cancel: cancel, silence: time.AfterFunc(streamSilent, func() { cancel(errSilent) })}
	f.body, err = client.Open(ctx, service.Call{Method: http.MethodPost, URL: url, Header: h, Body: frame(0, message),
		ContentType: "application/connect+json"})
	if err != nil {
		f.silence.Stop()
		cancel(nil)
		return nil, err
	}
	return f, nil
}

func (f *frames) close() {
	f.silence.Stop()
	f.cancel(nil)
	_ = f.body.Close()
}

// next reads a message into v. After the last one it is io.EOF, or the call's *rpcError; a
// connection that ends before is ErrUnreachable.
func (f *frames) next(v any) error {
	var head [frameHead]byte
	if _, err := io.ReadFull(f.body, head[:]); err != nil {
		return f.lost(err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return fmt.Errorf("e2b: %w: a message of %d bytes", provider.ErrTooLarge, n)
	}
	if head[0]&frameCompressed != 0 {
		return fmt.Errorf("e2b: %w: a compressed message, which was not agreed", provider.ErrProvider)
	}
	message := make([]byte, n)
	if _, err := io.ReadFull(f.body, message); err != nil {
		return f.lost(err)
	}
	f.silence.Reset(streamSilent)
	if head[0]&frameEnd != 0 {
		return f.end(message)
	}
	if err := json.Unmarshal(message, v); err != nil {
		return fmt.Errorf("e2b: %w: a message that is not what was agreed", provider.ErrProvider)
	}
	return nil
}

func (f *frames) end(message []byte) error {
	var end struct {
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal(message, &end); err != nil {
		return fmt.Errorf("e2b: %w: the last message is not what was agreed", provider.ErrProvider)
	}
	if end.Error != nil {
		return &rpcError{end.Error.Code, f.client.Redact(end.Error.Message)}
	}
	return io.EOF
}

func (f *frames) lost(err error) error {
	return fmt.Errorf("e2b: %w: the connection ended: %s", provider.ErrUnreachable, f.client.Redact(err.Error()))
}
