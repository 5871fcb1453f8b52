package terminal

import "github.com/evertty/evertty/vt"

// PromptMark is a mark of shell integration (OSC 133, OSC 633).
type PromptMark struct {
	Kind  byte   // A to D
	Seq   uint64 // position after it
	Group int    // process group in the foreground when the last prompt was marked
}

// PromptMark returns the newest mark of the program; nil for none, or none since this server came.
func (t *Terminal) PromptMark() *PromptMark { return t.mark.Load() }

// marked notes a mark. The hub calls it with its lock held.
func (t *Terminal) marked(m vt.PromptMark, seq uint64) {
	if t.replaying || t.process == nil {
		return // its process group is not known
	}
	group := 0
	if m.Kind == 'A' || m.Kind == 'B' {
		group, _ = t.process.Foreground() // 0 with an error, which is no group's number
	} else if old := t.mark.Load(); old != nil {
		group = old.Group // the command may have the foreground already
	}
	t.mark.Store(&PromptMark{m.Kind, seq, group})
}
