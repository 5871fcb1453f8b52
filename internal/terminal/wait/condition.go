package wait

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Limits and defaults of a wait.
const (
	defaultTimeout = 30 * time.Second
	maxTimeout     = time.Hour // a caller that wants longer asks again
	defaultIdle    = 500 * time.Millisecond
	maxPattern     = 4096 // bytes
	// maxConditions is how many conditions a wait has: they are checked one by one.
	maxConditions = 16
)

// condition is a checked and compiled condition of a wait.
type condition struct {
	wire.WaitCondition
	idle    time.Duration // IdleMS, or its default
	pattern *pattern      // of text and regex
}

// conditions belong to one wait, which ends with the first that is met.
type conditions []*condition

// requestError is a terminal.ErrInvalid of fields that exclude each other or are out of range.
type requestError string

func (e requestError) Error() string { return string(e) }

func (e requestError) Is(target error) bool { return target == terminal.ErrInvalid }

// checkRequest fills in the defaults of r and compiles its conditions. Errors: terminal.ErrInvalid.
func checkRequest(r wire.Wait) (list conditions, timeout time.Duration, err error) {
	if timeout, err = duration("timeout_ms", r.TimeoutMS, defaultTimeout); err != nil {
		return nil, 0, err
	}
	asked := r.Any
	switch {
	case asked == nil:
		asked = []wire.WaitCondition{r.WaitCondition}
	case r.WaitCondition != wire.WaitCondition{}:
		return nil, 0, requestError(`"any" has all conditions: the others belong into it`)
	}
	for _, c := range asked {
		idle, err := duration("idle_ms", c.IdleMS, defaultIdle)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, &condition{WaitCondition: c, idle: idle})
	}
	if len(list) == 0 || len(list) > maxConditions {
		return nil, 0, invalid("%d conditions: 1 to %d are allowed", len(list), maxConditions)
	}
	for _, c := range list {
		if err := c.check(); err != nil {
			return nil, 0, err
		}
	}
	if n := list.instructions(); n > maxInstructions {
		return nil, 0, invalid("pattern: the regular expressions of a wait may need %d instructions in all, these "+
			"need about %d", maxInstructions, n)
	}
	return list, timeout, nil
}

// instructions is about how many instructions the regular expressions need in all.
func (l conditions) instructions() (n int) {
	for _, c := range l {
		if c.pattern != nil {
			n += c.pattern.size
		}
	}
	return n
}

// duration is a number of milliseconds, preset for 0.
func duration(name string, ms int64, preset time.Duration) (time.Duration, error) {
	if most := maxTimeout.Milliseconds(); ms < 0 || ms > most {
		return 0, requestError(fmt.Sprintf("%s %d: 0 to %d are allowed", name, ms, most))
	}
	return cmp.Or(time.Duration(ms)*time.Millisecond, preset), nil
}

func (c *condition) check() (err error) {
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

func checkPattern(p string) error {
	if p == "" || len(p) > maxPattern {
		return invalid("pattern has %d bytes: 1 to %d are allowed", len(p), maxPattern)
	}
	return nil
}

// modeValues has the modes that can be waited for, under the names of wire.Modes.
var modeValues = map[string]func(wire.Modes) any{
	"application_cursor":  func(m wire.Modes) any { return m.ApplicationCursor },
	"application_keypad":  func(m wire.Modes) any { return m.ApplicationKeypad },
	"origin":              func(m wire.Modes) any { return m.Origin },
	"autowrap":            func(m wire.Modes) any { return m.Autowrap },
	"reverse_wrap":        func(m wire.Modes) any { return m.ReverseWrap },
	"insert":              func(m wire.Modes) any { return m.Insert },
	"linefeed":            func(m wire.Modes) any { return m.Linefeed },
	"reverse_video":       func(m wire.Modes) any { return m.ReverseVideo },
	"bracketed_paste":     func(m wire.Modes) any { return m.BracketedPaste },
	"focus_events":        func(m wire.Modes) any { return m.FocusEvents },
	"mouse":               func(m wire.Modes) any { return m.Mouse },
	"mouse_encoding":      func(m wire.Modes) any { return m.MouseEncoding },
	"synchronized_output": func(m wire.Modes) any { return m.SynchronizedOutput },
	"kitty_keyboard":      func(m wire.Modes) any { return float64(m.KittyKeyboard) },
}

// checkMode checks that the mode can have the value.
func (c *condition) checkMode() error {
	get, ok := modeValues[c.Mode]
	if !ok {
		return invalid("mode %q: allowed are %s", c.Mode, strings.Join(slices.Sorted(maps.Keys(modeValues)), ", "))
	}
	example := get(wire.Modes{})
	if c.Value == nil {
		if _, ok := example.(bool); !ok {
			return invalid("mode %s needs a value", c.Mode)
		}
		c.Value = true
	}
	n, _ := c.Value.(float64)
	if reflect.TypeOf(c.Value) != reflect.TypeOf(example) || n < 0 {
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
