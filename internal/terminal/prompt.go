package terminal

import (
	"regexp"
	"slices"
	"time"

	"github.com/evertty/evertty/vt"
)

// promptIdle is the silence after which a line editor counts as waiting for a
// command. What follows a prompt (a redrawn line, the next command of a paste) comes
// within some milliseconds.
const promptIdle = 150 * time.Millisecond

// shellNames are the programs whose line editor reads commands.
var shellNames = []string{"bash", "rbash", "sh", "zsh", "fish", "ksh", "ksh93", "mksh", "oksh", "tcsh", "csh", "dash", "ash",
	"busybox", "yash", "elvish", "nu", "xonsh", "pwsh"}

// continues is the usual prompt for the rest of a command (POSIX PS2), with what
// zsh writes before it.
var continues = regexp.MustCompile(`^[a-z ]*> ?$`)

// promptMark is the newest mark of shell integration (OSC 133, 633).
type promptMark struct {
	kind  byte
	seq   uint64 // position behind it
	group int    // process group in the foreground when the last prompt was marked
}

// marked is told of a mark, with the hub's lock held.
func (t *Terminal) marked(m vt.PromptMark, seq uint64) {
	if t.replaying || t.process == nil {
		return // whose it was nobody knows
	}
	group := 0
	if m.Kind == 'A' || m.Kind == 'B' {
		group, _ = t.process.Foreground() // 0 with an error, which is no group's number
	} else if old := t.mark.Load(); old != nil {
		group = old.group // the command may have the foreground already
	}
	t.mark.Store(&promptMark{m.Kind, seq, group})
}

// prompt tells whether a shell waits for a command. A program that marks its
// prompts is believed, and nothing but its marks: the last one begins or ends a prompt,
// nothing was typed since, and the same program has the foreground. Any other one has to be
// a shell that edits a line, see editing.
func (a *waiting) prompt(finished bool) (bool, time.Duration) {
	t := a.t
	facts := t.Hub().Facts()
	if finished || !t.Running() || facts.Seq == 0 || a.Since != nil && facts.Seq <= *a.Since {
		return false, 0
	}
	f, err := t.process.Master().ForegroundProgram()
	if err != nil {
		return false, 0
	}
	typed, at := t.typed.when()
	if m := t.mark.Load(); m != nil && m.group == f.Group {
		if m.kind != 'A' && m.kind != 'B' || !typed.IsZero() && m.seq <= at || a.Since != nil && m.seq <= *a.Since {
			return false, 0 // the next mark says more
		}
		return true, 0
	}
	if typed.After(facts.Output) {
		return false, 0 // it has not seen yet what was typed
	}
	last := facts.Output
	if typed.After(last) {
		last = typed
	}
	if in := promptIdle - time.Since(last); in > 0 {
		return false, in
	}
	mode, err := t.process.Master().LineMode()
	if err != nil || mode.Canonical || mode.Echo || !f.Sleeping || !slices.Contains(shellNames, f.Name) {
		return false, promptIdle
	}
	return a.editing(), promptIdle
}

// editing tells whether what stands before the cursor looks like the prompt of a
// line editor that reads a command: it is not the prompt for the rest of one, and
// with a position a part of it was printed behind that which is no echo.
func (a *waiting) editing() bool {
	if a.follow == nil {
		return !continues.Match(vt.TextBeforeCursor(a.t.Hub().Shot().Frame).Text)
	}
	l := a.follow.screen.BeforeCursor()
	if continues.Match(l.Text) {
		return false
	}
	if a.Since == nil {
		return true
	}
	text := a.echo.mask(l)
	for i, at := range l.Offsets {
		if at > *a.Since && text[i] != masked && text[i] != ' ' {
			return true
		}
	}
	return false
}
