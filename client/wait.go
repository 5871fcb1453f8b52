package client

import (
	"context"
	"time"

	"github.com/evertty/evertty/wire"
)

// WaitCondition is a condition to wait for.
type WaitCondition struct {
	For     string        // text, regex, idle, exit, prompt, title, cursor, alt_screen or mode
	Pattern string        // of text, regex and title
	Idle    time.Duration // of idle; 0: the server's default
	// Not waits for absence: of text, regex, title, cursor, alt_screen, mode or prompt.
	Not        bool
	ScreenOnly bool   // text and regex leave the history out
	X, Y       *int   // of cursor, from 0; nil: any
	Mode       string // of mode: a name of the modes in the snapshot as JSON
	Value      any    // of mode; nil is true
}

// WaitRequest says what to wait for. The fields up to Value are a WaitCondition; they are empty when
// there is Any.
type WaitRequest struct {
	For        string
	Pattern    string
	Idle       time.Duration
	Not        bool
	ScreenOnly bool
	X, Y       *int
	Mode       string
	Value      any

	Any     []WaitCondition // the first that is true ends the wait; Index of the reply says which
	Timeout time.Duration   // 0: the server's default
	// Since makes only what was printed or changed behind this position count: Seq of what was sent,
	// or of the wait before. nil: text on the screen counts too.
	Since      *uint64
	IgnoreEcho bool // the echo of what was sent does not count as text
}

func (r WaitCondition) body() wire.WaitCondition {
	return wire.WaitCondition{
		For: r.For, Pattern: r.Pattern, IdleMS: r.Idle.Milliseconds(), Not: r.Not, ScreenOnly: r.ScreenOnly,
		X: r.X, Y: r.Y, Mode: r.Mode, Value: r.Value,
	}
}

func (r WaitRequest) body() wire.Wait {
	w := wire.Wait{
		WaitCondition: WaitCondition{r.For, r.Pattern, r.Idle, r.Not, r.ScreenOnly, r.X, r.Y, r.Mode, r.Value}.body(),
		TimeoutMS:     r.Timeout.Milliseconds(), Since: r.Since, IgnoreEcho: r.IgnoreEcho,
	}
	for _, one := range r.Any {
		w.Any = append(w.Any, one.body())
	}
	return w
}

// Wait returns when the condition holds. When it does not in time, the error matches ErrTimeout. ctx
// should live longer than r.Timeout. Seq of the reply is the Since of a next wait that misses
// nothing.
func (t terminals) Wait(ctx context.Context, id string, r WaitRequest) (wire.Waited, error) {
	body := r.body()
	body.ID = id
	return t.API().WaitFor(ctx, body)
}
