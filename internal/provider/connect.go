package provider

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
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

// frames is a reply in the Connect protocol's streaming form with the JSON codec: frames of a flag, a length and a message, of which the last has no message but perhaps
// an error. It has one reader.
type frames struct {
	service *service
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
type rpcError struct {
	service, code, text string
}

func (e *rpcError) Error() string { return fmt.Sprintf("%s: %s: %s", e.service, e.code, e.text) }

func (e *rpcError) Unwrap() error {
	switch e.code {
	case "unauthenticated", "permission_denied":
		return ErrRefused
	case "not_found":
		return ErrNotFound
	case "unavailable", "deadline_exceeded", "canceled":
		return ErrUnreachable
	}
	return ErrProvider
}

// refusal tells whether the code says that the call was not begun (Connect protocol, "error codes").
func (e *rpcError) refusal() bool {
	return slices.Contains([]string{"unauthenticated", "permission_denied", "not_found", "invalid_argument", "unimplemented", "already_exists", "resource_exhausted", "failed_precondition"}, e.code)
}

var errSilent = errors.New("no sign of life for too long")

// stream begins a streaming call. It lives until it is closed, ctx ends or nothing has come for streamSilent. It is begun again only where nothing can have happened.
func (s *service) stream(ctx context.Context, url string, h http.Header, in any) (*frames, error) {
	message, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	h.Set("Connect-Protocol-Version", "1")
	h.Set("Keepalive-Ping-Interval", fmt.Sprint(int(streamPing/time.Second)))
	c := call{method: http.MethodPost, url: url, header: h, body: frame(0, message), kind: "application/connect+json"}
	ctx, cancel := context.WithCancelCause(ctx)
	f := &frames{service: s, cancel: cancel, silence: time.AfterFunc(streamSilent, func() { cancel(errSilent) })}
	certain := true
	for attempt := 1; ; attempt++ {
		resp, err := s.send(ctx, c) //nolint:bodyclose // frames.close does
		if err == nil {
			f.body = resp.Body
			return f, nil
		}
		certain = certain && nothingDone(err)
		pause, again := s.again(c, err, attempt)
		if again && sleep(ctx, pause) {
			continue
		}
		f.silence.Stop()
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errSilent) {
			err, certain = fmt.Errorf("%s: %w", s.name, cause), false
		}
		cancel(nil)
		return nil, s.last(err, certain)
	}
}

func (f *frames) close() {
	f.silence.Stop()
	f.cancel(nil)
	_ = f.body.Close()
}

// next reads a message into v. After the last one it is io.EOF, or the call's *rpcError; a connection that ends before is ErrUnreachable.
func (f *frames) next(v any) error {
	var head [frameHead]byte
	if _, err := io.ReadFull(f.body, head[:]); err != nil {
		return f.lost(err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return fmt.Errorf("%s: %w: a message of %d bytes", f.service.name, ErrTooLarge, n)
	}
	if head[0]&frameCompressed != 0 {
		return fmt.Errorf("%s: %w: a compressed message, which was not agreed", f.service.name, ErrProvider)
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
		return fmt.Errorf("%s: %w: a message that is not what was agreed", f.service.name, ErrProvider)
	}
	return nil
}

func (f *frames) end(message []byte) error {
	var end struct {
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal(message, &end); err != nil {
		return fmt.Errorf("%s: %w: the last message is not what was agreed", f.service.name, ErrProvider)
	}
	if end.Error != nil {
		return &rpcError{f.service.name, end.Error.Code, f.service.clean(end.Error.Message)}
	}
	return io.EOF
}

func (f *frames) lost(err error) error {
	return fmt.Errorf("%s: %w: the connection ended: %s", f.service.name, ErrUnreachable, f.service.clean(err.Error()))
}
