package terminal

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// Limits and defaults of Wait.
const (
	DefaultWait = 30 * time.Second
	MaxWait     = time.Hour // a caller that wants longer asks again
	DefaultIdle = 500 * time.Millisecond
	maxPattern  = 4096 // bytes
	// MaxAny is how many conditions a wait has.
	MaxAny = 16
)

// Condition is what Wait waits for.
type Condition struct {
	// For is text, regex, idle, exit, prompt, title, cursor, alt_screen or mode.
	For     string
	Pattern string        // of text, regex and title (contained text)
	Idle    time.Duration // silence of idle
	// Not waits for the absence of text, regex, title, cursor, alt_screen, mode or
	// prompt. Text is absent when the screen does not show it; history does not count.
	Not bool
	// ScreenOnly leaves the history out of what text and regex find at the start.
	ScreenOnly bool
	X, Y       *int   // of cursor, from 0; nil: any
	Mode       string // of mode: a name of snapshot.Modes
	Value      any    // of mode: what it is; nil is true
}

// Wait says what to wait for, and until when.
type Wait struct {
	Any     []Condition // the first that is true, 1 to MaxAny
	Timeout time.Duration
	// Since has only what was printed or changed after this position count.
	Since *uint64
	// IgnoreEcho has the echo of input not count, nor any text it is part of.
	IgnoreEcho bool
}

// awaited is a condition that is being waited for.
type awaited struct {
	Condition
	pattern *pattern // of text and regex
}

// check checks w, fills in its defaults and compiles it. Errors wrap ErrInvalid.
func (w *Wait) check() ([]awaited, error) {
	if w.Timeout == 0 {
		w.Timeout = DefaultWait
	}
	if w.Timeout < 0 || w.Timeout > MaxWait {
		return nil, fmt.Errorf("%w: timeout_ms %d: 0 to %d are allowed", ErrInvalid, w.Timeout.Milliseconds(), MaxWait.Milliseconds())
	}
	if len(w.Any) == 0 || len(w.Any) > MaxAny {
		return nil, fmt.Errorf("%w: %d conditions: 1 to %d are allowed", ErrInvalid, len(w.Any), MaxAny)
	}
	list := make([]awaited, len(w.Any))
	for i, c := range w.Any {
		list[i] = awaited{Condition: c}
		if err := list[i].check(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (c *awaited) check() (err error) {
	if c.Idle == 0 {
		c.Idle = DefaultIdle
	}
	if c.Idle < 0 || c.Idle > MaxWait {
		return fmt.Errorf("%w: idle_ms %d: 0 to %d are allowed", ErrInvalid, c.Idle.Milliseconds(), MaxWait.Milliseconds())
	}
	switch c.For {
	case "text", "regex":
		c.pattern, err = newPattern(c.Pattern, c.For == "regex")
		return err
	case "title":
		if c.Pattern == "" || len(c.Pattern) > maxPattern {
			return fmt.Errorf("%w: pattern has %d bytes: 1 to %d are allowed", ErrInvalid, len(c.Pattern), maxPattern)
		}
	case "cursor":
		if c.X == nil && c.Y == nil {
			return fmt.Errorf("%w: cursor needs x, y or both", ErrInvalid)
		}
	case "mode":
		return c.checkMode()
	case "idle", "exit":
		if c.Not {
			return fmt.Errorf("%w: for %q: not is allowed for text, regex, title, cursor, alt_screen, mode and prompt", ErrInvalid, c.For)
		}
	case "prompt", "alt_screen":
	default:
		return fmt.Errorf("%w: for %q: text, regex, idle, exit, prompt, title, cursor, alt_screen or mode are allowed", ErrInvalid, c.For)
	}
	return nil
}

// modeNames are the modes that can be waited for, under the names of snapshot.Modes.
var modeNames = map[string]func(snapshot.Modes) any{
	"application_cursor":  func(m snapshot.Modes) any { return m.ApplicationCursor },
	"application_keypad":  func(m snapshot.Modes) any { return m.ApplicationKeypad },
	"origin":              func(m snapshot.Modes) any { return m.Origin },
	"autowrap":            func(m snapshot.Modes) any { return m.Autowrap },
	"reverse_wrap":        func(m snapshot.Modes) any { return m.ReverseWrap },
	"insert":              func(m snapshot.Modes) any { return m.Insert },
	"linefeed":            func(m snapshot.Modes) any { return m.Linefeed },
	"reverse_video":       func(m snapshot.Modes) any { return m.ReverseVideo },
	"bracketed_paste":     func(m snapshot.Modes) any { return m.BracketedPaste },
	"focus_events":        func(m snapshot.Modes) any { return m.FocusEvents },
	"mouse":               func(m snapshot.Modes) any { return m.Mouse },
	"mouse_encoding":      func(m snapshot.Modes) any { return m.MouseEncoding },
	"synchronized_output": func(m snapshot.Modes) any { return m.SynchronizedOutput },
	"kitty_keyboard":      func(m snapshot.Modes) any { return float64(m.KittyKeyboard) },
}

// checkMode checks that the value is one that the mode can have.
func (c *awaited) checkMode() error {
	get, ok := modeNames[c.Mode]
	if !ok {
		names := make([]string, 0, len(modeNames))
		for name := range modeNames {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Errorf("%w: mode %q: allowed are %s", ErrInvalid, c.Mode, strings.Join(names, ", "))
	}
	is := get(snapshot.Modes{})
	switch v := c.Value.(type) {
	case nil:
		if _, ok := is.(bool); ok {
			c.Value = true
			return nil
		}
		return fmt.Errorf("%w: mode %s needs a value", ErrInvalid, c.Mode)
	case bool:
		_, ok = is.(bool)
	case string:
		_, ok = is.(string)
	case float64:
		_, ok = is.(float64)
		ok = ok && v >= 0
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("%w: value %v of mode %s: a value like %v is allowed", ErrInvalid, c.Value, c.Mode, is)
	}
	return nil
}

// onText tells whether the condition is about text that is shown.
func (c *awaited) onText() bool { return c.pattern != nil }

// onScreen tells whether the condition is about the screen.
func (c *awaited) onScreen() bool {
	return c.onText() || c.For == "title" || c.For == "cursor" || c.For == "alt_screen" || c.For == "mode"
}

// state is what conditions besides text are about.
type state struct {
	title string
	x, y  int
	alt   bool
	modes vt.Modes
}

// holds tells whether a condition about the state is true, Not aside.
func (c *awaited) holds(s state) bool {
	switch c.For {
	case "title":
		return strings.Contains(s.title, c.Pattern)
	case "cursor":
		return (c.X == nil || *c.X == s.x) && (c.Y == nil || *c.Y == s.y)
	case "alt_screen":
		return s.alt
	case "mode":
		return modeNames[c.Mode](snapshot.ModesOf(s.modes)) == c.Value
	}
	return false
}

func stateOf(f *vt.Frame) state {
	s := f.Active()
	return state{title: f.Title, x: s.X, y: s.Y, alt: f.Alt != nil, modes: f.Modes}
}
