package stream

import "sync"

// lentFrom is from how many bytes of output on the memory of a data event is used again. In a flood each event would
// leave three times its size as garbage, a tenth of all work.
const lentFrom = 4 << 10

// lent is the memory of one data event. The event has it until every viewer that got it has released it; where one does
// not, it is garbage as usual.
type lent struct {
	text   []byte
	frames [3][]byte // by Form
}

var lents = sync.Pool{New: func() any { return new(lent) }}

func lend() *lent { return lents.Get().(*lent) }

// Release says that a viewer is done with the event and everything it got of it, for ever. It need not be called, and
// at most once for each time that Poll or Next returned the event.
func (m *Message) Release() {
	if m.lent != nil && m.holders.Add(-1) == 0 {
		lents.Put(m.lent)
	}
}
