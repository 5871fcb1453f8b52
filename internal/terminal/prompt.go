package terminal

import (
	"github.com/evertty/evertty/vt"
)

// PromptMark is a mark of shell integration (OSC 133, OSC 633).
type PromptMark struct {
	Kind  byte   // A to D
	Seq   uint64 // position after it
	Group int    // process group in the foreground when the last prompt was marked
}

// PromptMark returns the newest mark of the program; nil for none, or none since this server came.
func (p *program) PromptMark() *PromptMark { return p.mark.Load() }

// marked notes a mark. The hub calls it with its lock held.
func (p *program) marked(m vt.PromptMark, seq uint64) {
	if p.t.replaying.Load() || p.process == nil {
		return // its process group is not known
	}
	group := 0
	if m.Kind == 'A' || m.Kind == 'B' {
		group, _ = p.process.Foreground() // 0 with an error, which is no group's number
	} else if old := p.mark.Load(); old != nil {
		group = old.Group // the command may have the foreground already
	}
	p.mark.Store(&PromptMark{m.Kind, seq, group})
}
