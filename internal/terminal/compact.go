package terminal

import "time"

const (
	// compactInterval is how long a terminal must be quiet before its history is compressed.
	compactInterval = 100 * time.Millisecond
	// compactFrom is from how much new output on a history is compressed, in bytes. A terminal that prints less in an
	// interval is quiet: compressing one block of history takes as long as applying a tenth of that.
	compactFrom = 32 << 10
)

// grew counts n bytes of output. Its only caller is who shows them.
func (p *program) grew(n int) {
	if p.loose += n; p.loose >= compactFrom {
		p.loose = 0
		p.t.registry.loose.add(p.t)
	}
}

// compactQuiet compresses the histories of terminals that have printed much and are quiet now: a flood replaces its own
// soon. Its only caller is one goroutine.
func (r *Registry) compactQuiet() {
	for _, t := range r.loose.take() {
		hub := t.now()
		if hub == nil {
			continue
		}
		seq := hub.Stats().Seq
		if seq-t.compacted >= compactFrom {
			r.loose.add(t)
		} else {
			r.parking.free(hub.Compact())
		}
		t.compacted = seq
	}
}
