package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/wire"
)

const (
	// loginTime is how long a page may take to say who it is.
	loginTime = 5 * time.Second
	// maxLogin bounds that message, in bytes.
	maxLogin = 4 << 10
)

// connKey holds in a request's context the connection that Login has upgraded it to.
type connKey struct{}

// Login upgrades a request. Its first message must have the page's secret, which show checks. Login returns the request
// for OpenPage or OpenWebSocket, and done, which the caller calls when neither has opened it. With an error it has
// answered, and the viewer has got nothing else.
func Login(w http.ResponseWriter, r *http.Request, show func(page string) error) (in *http.Request, done func(),
	err error) {
	conn, err := upgrader.Upgrade(hijacker{w}, r, nil)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(r.Context(), func() { _ = conn.NetConn().SetReadDeadline(time.Now()) })
	defer stop()
	var page string
	if err = conn.SetReadDeadline(time.Now().Add(loginTime)); err == nil && r.Context().Err() == nil {
		page, err = readLogin(conn)
	}
	if err == nil {
		err = show(page)
	}
	if err != nil {
		closeNow(conn, wire.CloseUnauthorized, "log in first: run evertty url on the server")
		return nil, nil, err
	}
	return r.WithContext(context.WithValue(r.Context(), connKey{}, conn)), func() { _ = conn.Close() }, nil
}

var errNoLogin = errors.New("the first message is not {\"type\":\"auth\",\"page\":…}")

// readLogin returns the page's secret.
func readLogin(conn *websocket.Conn) (string, error) {
	_, message, err := conn.NextReader()
	if err != nil {
		return "", err
	}
	p, err := io.ReadAll(io.LimitReader(message, maxLogin)) // SetReadLimit would close with 1009
	if err != nil {
		return "", err
	}
	var c wire.CommandAuth
	if json.Unmarshal(bytes.TrimPrefix(p, []byte{stream.FrameControl}), &c) != nil || c.Type != "auth" {
		return "", errNoLogin
	}
	return c.Page, nil
}

// Refuse sends err to the viewer of a request that Login has returned, and closes the connection.
func Refuse(r *http.Request, err error, name Refusal) {
	conn, ok := r.Context().Value(connKey{}).(*websocket.Conn)
	if !ok || conn.SetWriteDeadline(time.Now().Add(hurriedClose)) != nil {
		return
	}
	text, code, details := name(err)
	if conn.WriteJSON(wire.EventError{Event: "error", Error: text, Code: code, Details: details}) == nil {
		closeNow(conn, websocket.ClosePolicyViolation, code)
	}
}

// closeNow sends a close frame and waits for the viewer's, as long as hurriedClose.
func closeNow(conn *websocket.Conn, code int, text string) {
	defer conn.Close()
	limit := time.Now().Add(hurriedClose)
	err := conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), limit)
	if err != nil || conn.SetReadDeadline(limit) != nil {
		return
	}
	for err == nil {
		_, _, err = conn.NextReader()
	}
	if _, closed := errors.AsType[*websocket.CloseError](err); !closed { // what is unread would take the frame along
		_, _ = io.Copy(io.Discard, conn.NetConn())
	}
}

// upgraded returns the connection of a request, whose upgrade is answered with the header unless Login has answered it.
func upgraded(w http.ResponseWriter, r *http.Request, header http.Header) (*websocket.Conn, error) {
	if conn, ok := r.Context().Value(connKey{}).(*websocket.Conn); ok {
		err := conn.SetReadDeadline(time.Time{})
		if err != nil {
			_ = conn.Close()
		}
		return conn, err
	}
	return upgrader.Upgrade(hijacker{w}, r, header) // it has answered an error
}

// ended reports whether the ticket or the login of a viewer has ended.
func ended(ctx context.Context) bool { return errors.Is(context.Cause(ctx), httpapi.ErrEnded) }
