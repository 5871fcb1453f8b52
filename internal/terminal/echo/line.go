package echo

import "strings"

// maxLineText bounds what is kept of a line that is being typed, in bytes: its end is compared
// with the end of a line on the screen.
const maxLineText = 256

// line is what was typed and not submitted: since the last Enter, or ^C.
type line struct {
	open    bool
	where   Place  // where it began
	text    string // the end of it, as far as it may be echoed
	pasting bool   // inside the brackets of a paste, where Enter submits nothing
	begun   bool   // nothing was printed since it began
	before  string // the cursor's line and those below when it began, once something was printed
	known   bool   // before is known
}

// Place is who gets what is typed.
type Place struct {
	Group   int  // process group in the foreground
	Editing bool // the terminal is in the mode of a line editor
}

// NoteLine notes that p is typed at a place. With text false it may be a password, and is not
// kept.
func (y *Typed) NoteLine(p []byte, where Place, text bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	l := &y.line
	if l.open && l.where != where {
		old := l.text
		if *l = (line{}); where.Editing {
			l.start(where)
			l.text = old // typed ahead
		}
	}
	for rest := string(p); rest != ""; {
		n := keyLength(rest)
		key := rest[:n]
		rest = rest[n:]
		switch {
		case key == "\x1b[200~" || key == "\x1b[201~":
			l.pasting = key == "\x1b[200~"
		case !l.pasting && (key == "\r" || key == "\n" || key == "\x03"), !l.open && key == "\x04":
			*l = line{}
		default:
			l.add(key, where, text)
		}
	}
}

// start begins a line.
func (l *line) start(where Place) {
	*l = line{open: true, begun: true, where: where, pasting: l.pasting}
}

// keyLength is the length of the text without controls at the start of s, or of the control.
func keyLength(s string) int {
	if n := printable(s); n > 0 {
		return n
	}
	return unprintable(s)
}

func (l *line) add(key string, where Place, text bool) {
	if !l.open {
		l.start(where)
	}
	switch {
	case printable(key) != len(key):
		l.text = "" // it may have changed what was typed before
	case text:
		l.text += key
		l.text = l.text[max(0, len(l.text)-maxLineText):]
	}
}

// LineBegun reports whether a line was begun and nothing was printed since: then the next
// output has to be told of by Before.
func (y *Typed) LineBegun() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.line.begun
}

// Before notes the text of the cursor's line and of those below it before the output that follows the beginning of a
// line.
func (y *Typed) Before(text []byte) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.line.begun {
		y.line.begun, y.line.known, y.line.before = false, true, string(text)
	}
}

// LineOpen reports whether something was typed and not submitted.
func (y *Typed) LineOpen() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.line.open
}

// TypedAhead reports whether the text left of the cursor ends with what was typed before the
// prompt was shown, and not submitted.
func (y *Typed) TypedAhead(left []byte) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.line.ahead(left)
}

func (l *line) ahead(left []byte) bool {
	return l.open && l.text != "" && strings.HasSuffix(string(left), l.text)
}

// Unsubmitted reports whether the cursor's line, given as in Before and left of the cursor, has
// something that was typed and not submitted, while a process group has the foreground. Of a
// line that was begun in the editor of that group it is anything that differs from the line as
// it was. What was typed elsewhere may have been read: it is that text itself.
func (y *Typed) Unsubmitted(group int, whole, left []byte) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	l := &y.line
	if !l.open || l.where != (Place{group, true}) {
		return l.ahead(left)
	}
	return !l.known || string(whole) != l.before
}
