package wait

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/terminal/echo"
	"github.com/evertty/evertty/vt"
)

// promptIdle is the silence after which a line editor counts as waiting for a
// command. What follows a prompt (a redrawn line, the next command of a paste) comes
// within some milliseconds.
const promptIdle = 150 * time.Millisecond

// shellNames are the programs whose line editor reads commands.
var shellNames = []string{"bash", "rbash", "sh", "zsh", "fish", "ksh", "ksh93", "mksh", "oksh", "tcsh", "csh",
	"dash", "ash", "busybox", "yash", "elvish", "nu", "xonsh", "pwsh"}

// continues is the usual prompt for the rest of a command (POSIX PS2), with what
// zsh writes before it.
var continues = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z ]*> ?$`) })

// prompt reports whether a shell waits for a command and nothing is typed at its prompt. The
// marks of a program that marks its prompts decide alone, see marked. Any other program has to be
// a shell that edits a line, see editing. in is after how long to look again, 0 for when
// something changes.
func (w *waiter) prompt(finished bool) (met bool, in time.Duration) {
	t := w.t
	facts := t.Hub().Stats()
	if finished || !t.Running() || facts.Seq == 0 || w.Since != nil && facts.Seq <= *w.Since {
		return false, 0
	}
	f, err := t.Process().Master().ForegroundProgram()
	if err != nil {
		return false, 0
	}
	typed, _ := t.Typed().Last()
	in = promptIdle - time.Since(latest(facts.Output, typed))
	switch m := t.PromptMark(); {
	case m != nil && m.Group == f.Group:
		return w.marked(m, in)
	case typed.After(facts.Output) && t.Typed().Entered() >= facts.Seq:
		return false, 0 // it has not read Enter yet, which shows something, as other keys may not
	case in > 0:
		return false, in
	}
	mode, err := t.Process().Master().LineMode()
	if err != nil || mode.Canonical || mode.Echo || !f.Sleeping || !slices.Contains(shellNames, f.Name) {
		return false, promptIdle
	}
	whole, left := cursorLine(w.t)
	if f.Name == "fish" && len(bytes.TrimSpace(left)) == 0 || t.Typed().Unsubmitted(f.Group, whole, left) {
		return false, promptIdle // fish continues a command on a line without a prompt
	}
	return w.editing(), promptIdle
}

// AtPrompt reports whether a shell is at its prompt, as far as that is known without a look at the screen: its last
// mark is one of a prompt, or it has the foreground, sleeps, and reads what is typed character by character.
func AtPrompt(t *terminal.Terminal) bool {
	master := t.Process().Master()
	f, err := master.ForegroundProgram()
	if err != nil {
		return false
	}
	typed, _ := t.Typed().Last()
	facts := t.Hub().Stats()
	switch m := t.PromptMark(); {
	case m != nil && m.Group == f.Group:
		return (m.Kind == 'A' || m.Kind == 'B') && m.Seq > t.Typed().Entered()
	case typed.After(facts.Output) && t.Typed().Entered() >= facts.Seq:
		return false
	}
	mode, err := master.LineMode()
	return err == nil && !mode.Canonical && !mode.Echo && f.Sleeping && slices.Contains(shellNames, f.Name)
}

// cursorLine returns the text of the cursor's line and of the lines below it, where some editors show
// a search, and of its part left of the cursor.
func cursorLine(t *terminal.Terminal) (whole, left []byte) {
	f := t.Hub().Snapshot().Frame
	return vt.TextFromCursorLine(f), vt.TextBeforeCursor(f).Text
}

// marked is prompt of a program with marks: the last one begins or ends a prompt behind the last
// Enter, and what was typed at it was removed again. in is how long that may not be shown yet.
func (w *waiter) marked(m *terminal.PromptMark, in time.Duration) (bool, time.Duration) {
	typed := w.t.Typed()
	_, last := typed.Last()
	switch {
	case m.Kind != 'A' && m.Kind != 'B', m.Seq <= typed.Entered(), w.Since != nil && m.Seq <= *w.Since:
		return false, 0 // the next mark says more
	case in > 0 && (typed.LineOpen() || m.Seq <= last):
		return false, in
	}
	whole, left := cursorLine(w.t)
	return !typed.Unsubmitted(m.Group, whole, left), promptIdle
}

// editing reports whether the text before the cursor looks like the prompt of a line editor
// that reads a command. It is not the prompt for the rest of a command. With Since, a part
// of it was printed after that and is no echo.
func (w *waiter) editing() bool {
	if w.follower == nil {
		return !continues().Match(vt.TextBeforeCursor(w.t.Hub().Snapshot().Frame).Text)
	}
	l := w.follower.screen.BeforeCursor()
	if continues().Match(l.Text) {
		return false
	}
	if w.Since == nil || w.follower.base > *w.Since || l.ErasedAt > *w.Since {
		return true // unknown behind lost output; or what was typed behind the prompt was erased
	}
	text := w.echo.Mask(l)
	for i, at := range l.Offsets {
		if at > *w.Since && text[i] != echo.Masked && text[i] != ' ' {
			return true
		}
	}
	return false
}
