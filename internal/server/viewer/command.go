package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
)

// command is what a viewer sends on a WebSocket.
type command struct {
	Type string   `json:"type"`
	PTY  string   `json:"pty"` // on a page's connection
	Data *string  `json:"data"`
	B64  []byte   `json:"data_b64"`
	Cols int      `json:"cols"`
	Rows int      `json:"rows"`
	Keys []string `json:"keys"`
	// Since, of a page's attach, is the position up to which it has everything.
	Since *uint64 `json:"since"`
	// Hidden, of a page's attach, is "hide" from the beginning.
	Hidden bool `json:"hidden"`
	// History, of a page's attach, is "lazy" for SubscribeOptions.Lazy.
	History string          `json:"history"`
	Action  string          `json:"action"` // of control
	Viewer  string          `json:"viewer"`
	T       json.RawMessage `json:"t"`

	message []byte // all of it, of colors
}

// parseCommand reads a message. Text must be valid Unicode, as in a request: other text would be typed
// as something else. Errors: httpapi.ErrBadMessage.
func parseCommand(p []byte) (command, error) {
	if c, ok := parseKey(p); ok {
		return c, nil
	}
	var c command
	err := json.Unmarshal(p, &c)
	switch wrong, isType := errors.AsType[*json.UnmarshalTypeError](err); {
	case stream.InvalidUTF8(p) >= 0:
		err = fmt.Errorf("byte %d is not UTF-8; send bytes that are not text as data_b64", stream.InvalidUTF8(p)+1)
	case isType:
		err = fmt.Errorf("the field %q cannot be this: %s", wrong.Field, wrong.Value)
	case err == nil && stream.LoneSurrogate(p) >= 0:
		err = fmt.Errorf("byte %d begins half a surrogate pair, which is no character; send bytes that are not text "+
			"as data_b64", stream.LoneSurrogate(p)+1)
	}
	if err != nil {
		return command{PTY: c.PTY}, fmt.Errorf("%w: %w", httpapi.ErrBadMessage, err)
	}
	if c.Type == "colors" {
		c.message = bytes.Clone(p)
	}
	return c, nil
}

// keyForms are how clients write input that has nothing to unescape, around its text.
var keyForms = [][2][]byte{
	{[]byte(`{"type":"input","data":"`), []byte(`"}`)},
	{[]byte(`{"data":"`), []byte(`","type":"input"}`)},
}

// parseKey reads input in one of keyForms: it is on the way of every key.
func parseKey(p []byte) (c command, ok bool) {
	for _, form := range keyForms {
		text, begins := bytes.CutPrefix(p, form[0])
		text, ends := bytes.CutSuffix(text, form[1])
		if begins && ends && utf8.Valid(text) && !bytes.ContainsFunc(text, isEscaped) {
			data := string(text)
			return command{Type: "input", Data: &data}, true
		}
	}
	return command{}, false
}

// isEscaped reports whether JSON has another form of a character, or cannot have it as it is.
func isEscaped(r rune) bool { return r < ' ' || r == '"' || r == '\\' }

// actor handles a viewer's commands for one terminal.
type actor struct {
	term     stream.Terminal
	sub      *stream.Subscription
	readOnly bool
}

// try handles input by the caller's goroutine where that takes no time. ok is false where it is left to do.
func (a actor) try(ctx context.Context, c command, failed func(error)) (ok bool) {
	if c.Type != "input" || a.readOnly || ended(ctx) {
		return false
	}
	p, err := c.input()
	return err == nil && a.term.TryInput(a.sub, p, failed) && a.act(nil) == nil
}

// do handles one command. A read-only viewer may send focus, resize and colors, but they do not
// change the terminal.
func (a actor) do(ctx context.Context, c command) error {
	if ended(ctx) {
		return httpapi.ErrEnded
	}
	if c.Type == "hide" || c.Type == "show" {
		a.term.Hide(a.sub, c.Type == "hide")
		return nil
	}
	if c.Type == "colors" {
		return a.colors(c.message)
	}
	if c.Type == "history" {
		a.sub.History()
		return nil
	}
	if a.readOnly {
		if c.Type == "focus" || c.Type == "resize" {
			return nil
		}
		return httpapi.ErrViewerReadOnly
	}
	switch c.Type {
	case "input":
		p, err := c.input()
		if err != nil {
			return err
		}
		return a.act(a.term.Input(ctx, a.sub, p))
	case "keys":
		if len(c.Keys) == 0 {
			return fmt.Errorf("%w: keys needs \"keys\", a list such as [\"C-c\", \"Up\", \"text:abc\"]",
				httpapi.ErrBadMessage)
		}
		return a.act(a.term.Keys(ctx, a.sub, c.Keys))
	case "paste":
		if c.Data == nil {
			return fmt.Errorf("%w: paste needs \"data\"", httpapi.ErrBadMessage)
		}
		return a.act(a.term.Paste(ctx, a.sub, *c.Data))
	case "resize":
		if c.Cols < 1 || c.Rows < 1 {
			return fmt.Errorf("%w: resize needs \"cols\" and \"rows\" of at least 1, got %d x %d",
				httpapi.ErrBadMessage, c.Cols, c.Rows)
		}
		return a.term.RequestSize(a.sub, c.Cols, c.Rows)
	case "focus":
		return a.term.RequestSize(a.sub, 0, 0)
	case "control":
		_, err := a.term.Hub().Control(stream.Act{Action: c.Action, By: a.sub, Viewer: c.Viewer})
		return err
	}
	return fmt.Errorf("%w: type %q; allowed are input, keys, paste, resize, focus, control, history, colors, hide, "+
		"show, ping", httpapi.ErrBadMessage, c.Type)
}

// input is what an input command types. Errors: httpapi.ErrBadMessage.
func (c command) input() ([]byte, error) {
	switch {
	case c.Data != nil && c.B64 == nil:
		return []byte(*c.Data), nil
	case c.B64 != nil && c.Data == nil:
		return c.B64, nil
	}
	return nil, fmt.Errorf("%w: input needs \"data\" or \"data_b64\"", httpapi.ErrBadMessage)
}

// act notes the viewer's activity, which decides the size under stream.PolicyLatest, unless err.
func (a actor) act(err error) error {
	if err != nil {
		return err
	}
	return a.term.RequestSize(a.sub, 0, 0)
}
