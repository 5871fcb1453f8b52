package wait

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// Limits and defaults of a Request.
const (
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = time.Hour // a caller that wants longer asks again
	DefaultIdle    = 500 * time.Millisecond
	maxPattern     = 4096 // bytes
	// MaxConditions is how many conditions a Request has: they are checked one by one.
	MaxConditions = 16
)

// Condition is what Wait waits for.
type Condition struct {
	// For is text, regex, idle, exit, prompt, title, cursor, alt_screen or mode.
	For     string
	Pattern string        // of text, regex and title (contained text)
	Idle    time.Duration // silence of idle; 0 is DefaultIdle
	// Not waits for the absence of text, regex, title, cursor, alt_screen, mode or
	// prompt. Text is absent when the screen does not show it; history does not count.
	Not bool
	// ScreenOnly has text and regex ignore the history at the beginning of the wait.
	ScreenOnly bool
	X, Y       *int   // of cursor, from 0; nil: any
	Mode       string // of mode: a name of snapshot.Modes
	Value      any    // of mode: the wanted value; nil is true
}

// Request says what to wait for, and until when.
type Request struct {
	Any     []Condition // Wait ends with the first that is met; 1 to MaxConditions
	Timeout time.Duration
	// Since is a position in the output: only what was printed or changed after it counts.
	// Nil is what is shown now and what follows.
	Since *uint64
	// IgnoreEcho has the echo of input not count, nor text that an echo is part of.
	IgnoreEcho bool
}

// condition is a Condition that was checked and compiled.
type condition struct {
	Condition
	pattern *pattern // of text and regex
}

// check checks r, fills in its defaults and compiles it. Errors: terminal.ErrInvalid.
func (r *Request) check() ([]condition, error) {
	if r.Timeout == 0 {
		r.Timeout = DefaultTimeout
	}
	if err := checkDuration("timeout_ms", r.Timeout); err != nil {
		return nil, err
	}
	if len(r.Any) == 0 || len(r.Any) > MaxConditions {
		return nil, invalid("%d conditions: 1 to %d are allowed", len(r.Any), MaxConditions)
	}
	list, size := make([]condition, len(r.Any)), 0
	for i, c := range r.Any {
		list[i] = condition{Condition: c}
		if err := list[i].check(); err != nil {
			return nil, err
		}
		if list[i].pattern != nil {
			size += list[i].pattern.size
		}
	}
	if size > maxInstructions {
		return nil, invalid("pattern: the regular expressions of a wait may need %d instructions in all, these need "+
			"about %d", maxInstructions, size)
	}
	return list, nil
}

func (c *condition) check() (err error) {
	if c.Idle == 0 {
		c.Idle = DefaultIdle
	}
	if err := checkDuration("idle_ms", c.Idle); err != nil {
		return err
	}
	switch c.For {
	case "text", "regex":
		c.pattern, err = newPattern(c.Pattern, c.For == "regex")
		return err
	case "title":
		return checkPattern(c.Pattern)
	case "cursor":
		if c.X == nil && c.Y == nil {
			return invalid("cursor needs x, y or both")
		}
	case "mode":
		return c.checkMode()
	case "idle", "exit":
		if c.Not {
			return invalid("for %q: not is allowed for text, regex, title, cursor, alt_screen, mode and prompt", c.For)
		}
	case "prompt", "alt_screen":
	default:
		return invalid("for %q: text, regex, idle, exit, prompt, title, cursor, alt_screen or mode are allowed", c.For)
	}
	return nil
}

// invalid is a terminal.ErrInvalid that says why.
func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %w", terminal.ErrInvalid, fmt.Errorf(format, args...))
}

func checkDuration(name string, d time.Duration) error {
	if d < 0 || d > MaxTimeout {
		return invalid("%s %d: 0 to %d are allowed", name, d.Milliseconds(), MaxTimeout.Milliseconds())
	}
	return nil
}

func checkPattern(p string) error {
	if p == "" || len(p) > maxPattern {
		return invalid("pattern has %d bytes: 1 to %d are allowed", len(p), maxPattern)
	}
	return nil
}

// modeValues has the modes that can be waited for, under the names of snapshot.Modes.
var modeValues = map[string]func(snapshot.Modes) any{
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

// checkMode checks that the mode can have the value.
func (c *condition) checkMode() error {
	get, ok := modeValues[c.Mode]
	if !ok {
		return invalid("mode %q: allowed are %s", c.Mode, strings.Join(slices.Sorted(maps.Keys(modeValues)), ", "))
	}
	example := get(snapshot.Modes{})
	if c.Value == nil {
		if _, ok := example.(bool); !ok {
			return invalid("mode %s needs a value", c.Mode)
		}
		c.Value = true
	}
	switch v := c.Value.(type) {
	case bool:
		_, ok = example.(bool)
	case string:
		_, ok = example.(string)
	case float64:
		_, ok = example.(float64)
		ok = ok && v >= 0
	default:
		ok = false
	}
	if !ok {
		return invalid("value %v of mode %s: a value like %v is allowed", c.Value, c.Mode, example)
	}
	return nil
}

// onText reports whether the condition is about shown text, or its absence.
func (c *condition) onText() bool { return c.pattern != nil }

// forText reports whether the condition is met by shown text.
func (c *condition) forText() bool { return c.pattern != nil && !c.Not }

// onModes reports whether the condition is about modes or the screen shown.
func (c *condition) onModes() bool { return c.For == "mode" || c.For == "alt_screen" }

// onScreen reports whether the condition is about anything that output changes.
func (c *condition) onScreen() bool {
	return c.onText() || c.onModes() || c.For == "title" || c.For == "cursor"
}

// state is the part of a screen that conditions without text are about.
type state struct {
	title string
	x, y  int
	alt   bool
	modes vt.Modes
}

// holds reports whether a condition about the state is true, without Not.
func (c *condition) holds(s state) bool {
	switch c.For {
	case "title":
		return strings.Contains(s.title, c.Pattern)
	case "cursor":
		return (c.X == nil || *c.X == s.x) && (c.Y == nil || *c.Y == s.y)
	case "alt_screen":
		return s.alt
	case "mode":
		return modeValues[c.Mode](snapshot.ModesOf(s.modes)) == c.Value
	}
	return false
}

func stateOf(f *vt.Frame) state {
	s := f.Active()
	return state{title: f.Title, x: s.X, y: s.Y, alt: f.Alt != nil, modes: f.Modes}
}
