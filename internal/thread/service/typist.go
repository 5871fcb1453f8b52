package service

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// Typist is a terminal as one connection has it: it types as far as the permissions of the thread allow it. They are looked at for every message, in memory; the thread's events get
// each kind of decision once. Where they ask, somebody approves that this terminal is typed into, and the connection that comes first types for conversation.ApprovedFor.
type Typist struct {
	service *Service
	*terminal.Terminal
	mu    sync.Mutex // a leaf
	told  map[string]bool
	until time.Time // may type so long, where permissions ask
}

var _ stream.Terminal = (*Typist)(nil)

// Typist is the terminal for a new connection.
func (d *Service) Typist(t *terminal.Terminal) *Typist {
	return &Typist{service: d, Terminal: t, told: map[string]bool{}}
}

// InputCall is what is told of input to a terminal. B64 is Data where that is not UTF-8.
type InputCall struct {
	Terminal string         `json:"terminal"`
	Data     string         `json:"data,omitempty"`
	B64      []byte         `json:"data_b64,omitempty"`
	Keys     []string       `json:"keys,omitempty"`
	Mouse    *vt.MouseEvent `json:"mouse,omitempty"`
}

// NewInputCall is that of bytes.
func NewInputCall(terminal string, p []byte) InputCall {
	c := InputCall{Terminal: terminal, Data: string(p)}
	if !utf8.Valid(p) {
		c.B64 = p
	}
	return c
}

// Input is Terminal.Input, if it may. Errors: also conversation.ErrDenied, *conversation.NeedsApproval.
func (v *Typist) Input(ctx context.Context, p []byte) error {
	if err := v.permit(ctx, conversation.ToolInput, func() InputCall { return NewInputCall(v.ID, p) }); err != nil {
		return err
	}
	_, err := v.Terminal.Input(ctx, p)
	return err
}

// Keys is Terminal.Keys, if it may.
func (v *Typist) Keys(ctx context.Context, names []string) error {
	if err := v.permit(ctx, conversation.ToolKeys, func() InputCall { return InputCall{Terminal: v.ID, Keys: names} }); err != nil {
		return err
	}
	_, err := v.Terminal.Keys(ctx, names)
	return err
}

// Paste is Terminal.Paste, if it may.
func (v *Typist) Paste(ctx context.Context, text string) error {
	if err := v.permit(ctx, conversation.ToolPaste, func() InputCall { return InputCall{Terminal: v.ID, Data: text} }); err != nil {
		return err
	}
	_, err := v.Terminal.Paste(ctx, text)
	return err
}

// Wish is Terminal.Wish. Who may not resize has no wish, as any viewer that only looks.
func (v *Typist) Wish(sub *stream.Subscription, cols, rows int) error {
	if g := v.service.guard; g.Guards(v.Thread()) {
		d, err := g.Judge(v.Thread(), callOf(conversation.ToolResize, ResizeCall{v.ID, cols, rows}))
		if err != nil || d.Decision == conversation.Deny || d.Decision == conversation.Ask && !v.approved() {
			return nil //nolint:nilerr // nobody is told, as nobody has asked for it
		}
	}
	return v.Terminal.Wish(sub, cols, rows)
}

// ResizeCall is what is told of a resize.
type ResizeCall struct {
	Terminal string `json:"terminal"`
	Cols     int    `json:"cols"`
	Rows     int    `json:"rows"`
}

// approved tells whether somebody has approved that this connection types.
func (v *Typist) approved() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return time.Now().Before(v.until)
}

// permit decides about a message.
func (v *Typist) permit(ctx context.Context, tool string, args func() InputCall) error {
	if !v.service.guard.Guards(v.Thread()) {
		return nil
	}
	if !v.Running() {
		return v.ExitError()
	}
	d, err := v.service.guard.Judge(v.Thread(), callOf(tool, args()))
	switch {
	case err != nil:
		return err
	case d.Decision == conversation.Ask && v.approved():
		return nil
	case d.Decision == conversation.Ask:
		return v.ask(ctx, d)
	}
	if err := v.tell(ctx, d); err != nil {
		return err
	}
	if d.Decision == conversation.Deny {
		return fmt.Errorf("%w: %s", conversation.ErrDenied, d.Reason)
	}
	return nil
}

// role is the call that is approved and told of: what is typed is nobody's business.
func (v *Typist) role() conversation.Call {
	return callOf(conversation.ToolInput, InputCall{Terminal: v.ID})
}

func (v *Typist) ask(ctx context.Context, d conversation.Decision) error {
	err := v.service.WriteRecord(ctx, v.Thread(), func(r *conversation.Manager) error { return r.Ask(v.Thread(), v.role(), d) })
	if errors.Is(err, ErrNoRecords) {
		return unasked(d)
	}
	if err == nil {
		v.mu.Lock()
		v.until = time.Now().Add(conversation.ApprovedFor)
		v.mu.Unlock()
	}
	return err
}

// tell adds a decision to the thread's events unless this connection has had the same.
func (v *Typist) tell(ctx context.Context, d conversation.Decision) error {
	v.mu.Lock()
	told := v.told[d.Decision]
	v.told[d.Decision] = true
	v.mu.Unlock()
	if told {
		return nil
	}
	err := v.service.ChangeRecord(ctx, v.Thread(), func(r *conversation.Manager) error { return r.Note(v.Thread(), v.role(), d) })
	if errors.Is(err, ErrNoRecords) || errors.Is(err, thread.ErrNotFound) {
		return nil
	}
	if err != nil {
		v.mu.Lock()
		delete(v.told, d.Decision)
		v.mu.Unlock()
	}
	return err
}
