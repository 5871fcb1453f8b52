package stream_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// rectangles is output that makes very much text for viewers: each sequence fills the
// screen with another character (DECFRA).
func rectangles(n int) (p []byte) {
	for i := range n {
		p = fmt.Appendf(p, "\x1b[%d;1;1;60;200$x", 'A'+i%26)
	}
	return p
}

// TestDroppedText: viewers get a snapshot for output that becomes far more text than it is, those
// who are there and those who come back. Nobody is given very much.
func TestDroppedText(t *testing.T) {
	const cols, rows, chunk = 200, 60, 200
	k := newKept(t, vt.NewEngine, cols, rows)
	there, slow, back := &follower{t: t}, &follower{t: t}, &follower{t: t}
	viewers := map[*follower]*stream.Subscription{}
	for _, f := range []*follower{there, slow, back} {
		viewers[f] = k.Subscribe(stream.SubscribeOptions{Scrollback: -1})
		defer viewers[f].Close()
		f.catchUp(viewers[f])
	}
	viewers[back].Close()
	size := 0
	for range few(100, 20) {
		p := rectangles(chunk)
		size += len(p)
		k.write(p)
		there.catchUp(viewers[there])
	}
	slow.catchUp(viewers[slow])
	if back.resume(k.Hub) {
		t.Error("a viewer that comes back got text that there is not")
	}
	for name, f := range map[string]*follower{"there": there, "slow": slow, "back": back} {
		if d := snapshot.Differences(k.Snapshot().Frame, f.engine.Freeze()); len(d) > 0 {
			t.Errorf("%s: %q", name, d)
		}
		if !slices.Contains(f.kinds[1:], stream.KindSnapshot) {
			t.Errorf("%s: events %v", name, f.kinds)
		}
		// 32 bytes for each byte and 128 KiB on top are text, and a chunk makes one snapshot.
		if most := 40*size + 256<<10; len(f.text) > most {
			t.Errorf("%s: %d bytes for %d, more than %d", name, len(f.text), size, most)
		}
	}
	there.catchUp(viewers[there]) // that others came and went
	k.write([]byte("\x1b[Hafter"))
	kinds := len(there.kinds)
	there.catchUp(viewers[there])
	if fmt.Sprint(there.kinds[kinds:]) != "[data]" {
		t.Errorf("afterwards: %v", there.kinds[kinds:])
	}
	viewers[there].Close()
	k.write([]byte("more"))
	if !there.resume(k.Hub) {
		t.Error("a viewer that comes back behind dropped text got a snapshot")
	}
}
