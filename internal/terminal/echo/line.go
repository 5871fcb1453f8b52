package echo

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxLineText bounds what is kept of a line that is being typed, in bytes: its end is compared
// with the end of a line on the screen.
const maxLineText = 256

// line is what was typed and not submitted: since the last Enter, or ^C.
type line struct {
	open    bool
	where   Place  // where it began
	text    string // the end of it, as far as it may be echoed
	sure    bool   // text is all of it
	atEnd   bool   // the cursor is behind all of it
	ahead   string // text when where took over what was typed elsewhere
	pasting bool   // inside the brackets of a paste, where Enter submits nothing
	begun   bool   // nothing was printed since it began
	empty   Look   // when nothing of it was shown; 0: unknown
}

// Place is who gets typed input.
type Place struct {
	Group   int  // process group in the foreground
	Editing bool // the terminal is in the mode of a line editor
}

// Look stands for the text of the cursor's line and of those below it, without blanks: equal
// texts have equal ones, in every process. 0 is unknown.
type Look uint64

// lookOf is the Look of text; without any text it is unknown.
func lookOf(text string) Look {
	h := fnv.New64a()
	for word := range strings.FieldsSeq(text) {
		_, _ = h.Write([]byte(word)) // never fails
	}
	if strings.TrimSpace(text) == "" {
		return 0
	}
	return Look(h.Sum64())
}

// NoteLine notes that p is typed at a place. With text false it may be a password, and is not
// kept.
func (t *Typed) NoteLine(p []byte, where Place, text bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.line
	if l.open && l.where != where {
		l.takeOver(where)
	}
	for rest := string(p); rest != ""; {
		n := keyLength(rest)
		key := rest[:n]
		rest = rest[n:]
		switch {
		case key == "\x1b[200~" || key == "\x1b[201~":
			l.pasting = key == "\x1b[200~"
		case !l.pasting && (key == "\r" || key == "\n"):
			*l, t.entered = line{}, t.lastSeq
		case !l.pasting && key == "\x03", !l.open && key == "\x04":
			*l = line{}
		default:
			l.add(key, where, text)
		}
	}
}

// takeOver has a line editor continue what was typed ahead; anybody else begins anew.
func (l *line) takeOver(where Place) {
	old := *l
	if *l = (line{}); where.Editing {
		l.start(where)
		l.text, l.ahead, l.sure, l.atEnd, l.begun = old.text, old.text, old.sure, old.atEnd, old.sure
	}
}

// start begins a line.
func (l *line) start(where Place) {
	*l = line{open: true, sure: true, atEnd: true, begun: true, where: where, pasting: l.pasting}
}

// keyLength is the length of the text without controls at the start of s, or of the control.
func keyLength(s string) int {
	if n := printable(s); n > 0 {
		return n
	}
	return unprintable(s)
}

// keysAtEnd are keys that may change the line and leave the cursor at its end: TAB, and the keys of the
// history.
var keysAtEnd = []string{"\t", "\x10", "\x0e", "\x1b[A", "\x1b[B", "\x1bOA", "\x1bOB"}

// add follows the keys that mean the same in every line editor and in canonical mode.
func (l *line) add(key string, where Place, text bool) {
	if !l.open {
		l.start(where)
	}
	switch {
	case printable(key) == len(key) && text:
		l.text += key
	case printable(key) == len(key):
		l.sure = false
	case key == "\x7f" || key == "\b":
		l.erase(len(l.text) - 1)
	case key == "\x17": // ^W
		end := strings.TrimRight(l.text, " ")
		l.erase(strings.LastIndexByte(end, ' ') + 1)
	case key == "\x15": // ^U
		l.text, l.sure = "", l.atEnd
	case key == "\x0c": // ^L shows it again
	default: // it may have changed what was typed before
		l.text, l.sure, l.atEnd = "", false, l.atEnd && slices.Contains(keysAtEnd, key)
	}
	if cut := len(l.text) - maxLineText; cut > 0 {
		l.text, l.sure = l.text[cut:], false
	}
}

// erase removes the text from an index on. How much an editor removes of what is no letter and
// no digit of ASCII is its own matter.
func (l *line) erase(from int) {
	if l.text == "" {
		return
	}
	own := func(r rune) bool {
		return r >= utf8.RuneSelf || r != ' ' && !('0' <= r && r <= '9') && !('a' <= r|0x20 && r|0x20 <= 'z')
	}
	if last := l.text[from:]; len(last) == 1 && last[0] < utf8.RuneSelf || !strings.ContainsFunc(last, own) {
		l.text = l.text[:from]
	} else {
		l.text, l.sure = "", false
	}
}

// LineBegun reports whether a line was begun and nothing was printed since: then the next
// output has to be told of by Before.
func (t *Typed) LineBegun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.line.begun
}

// Before notes what is shown before the output that follows the beginning of a line: the text of
// the cursor's line and of those below it, and of the part left of the cursor. What was typed
// ahead and is shown there belongs to the line; else some program has read it.
func (t *Typed) Before(whole, left []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.line
	if !l.begun {
		return
	}
	l.begun = false
	empty, found := strings.CutSuffix(string(left), l.ahead)
	if below := min(len(left), len(whole)); found {
		empty += string(whole[below:])
	} else {
		empty = string(whole)
		l.text, l.sure = strings.CutPrefix(l.text, l.ahead)
	}
	l.empty = lookOf(empty)
}

// LineOpen reports whether something was typed and not submitted.
func (t *Typed) LineOpen() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.line.open
}

// Entered is the position of the output when Enter was typed last, 0 for never.
func (t *Typed) Entered() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entered
}

// Unfinished is a line that was begun and not submitted. The zero value is none.
type Unfinished struct {
	Group int    `json:"group"` // process group of the editor that it was begun in
	Empty Look   `json:"empty"` // before the line was begun
	Ahead string `json:"ahead"` // what was typed, when it was begun in no editor
}

// Unfinished is what the next server needs to know of the line.
func (t *Typed) Unfinished() (u Unfinished) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch l := &t.line; {
	case l.open && l.where.Editing && l.empty != 0:
		u.Group, u.Empty = l.where.Group, l.empty
	case l.open && !l.where.Editing && l.sure:
		u.Ahead = l.text
	}
	return u
}

// Resume goes on with a line that was typed under another server.
func (t *Typed) Resume(u Unfinished) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line = line{open: u != (Unfinished{}), where: Place{u.Group, u.Empty != 0}, empty: u.Empty,
		text: u.Ahead, sure: u.Ahead != "", atEnd: u.Ahead != ""}
}

// shown reports whether the text left of the cursor ends with the line.
func (l *line) shown(left []byte) bool {
	return l.open && l.text != "" && strings.HasSuffix(string(left), l.text)
}

// Unsubmitted reports whether the cursor's line, given as in Before, has something that was typed
// and not submitted, while a process group has the foreground. Where the line was begun in the
// editor of that group it differs then from the line as it was. What the keys tell is shown too,
// unless other output has taken the prompt's place; else it was read by something else than the
// shell. Where they tell nothing, a line without a prompt counts as empty. What was typed ahead may
// have been read: it has to be shown.
func (t *Typed) Unsubmitted(group int, whole, left []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &t.line
	now, bare := lookOf(string(whole)), strings.TrimSpace(string(left)) == ""
	switch {
	case !l.open || l.where != (Place{group, true}):
		return l.shown(left)
	case l.sure && l.text == "":
		l.empty = now
		return false
	case l.sure && strings.TrimSpace(l.text) == "":
		return true
	case l.sure:
		return bare || now != l.empty && strings.Contains(string(whole), strings.TrimRight(l.text, " "))
	case l.empty == 0:
		return l.shown(left)
	}
	return now != l.empty && !bare
}
