package stream

import "slices"

// maxResizes is how many changes of size a hub remembers. A person who drags a window makes some
// ten a second; a viewer that was away for longer gets a snapshot.
const maxResizes = 1024

// resize is one change of size in the life of a hub.
type resize struct {
	at    uint64 // output bytes written before it, an incomplete character included
	event uint64 // position of its event: output bytes applied
	Size
	exact bool // viewers can repeat it
}

// resizes are the last changes of size, in order. The journal has them too, but not whether
// viewers can repeat them, and there a change may come after output that it came before.
type resizes struct {
	list    []resize
	dropped int // how many came before those in list
	// known: list has every change from this position on, or dropped counts it.
	known uint64
	first Size // before the first in list
}

func (r *resizes) add(c resize) {
	if len(r.list) == maxResizes {
		oldest := r.list[0]
		r.known, r.first = max(r.known, oldest.at+1), oldest.Size
		r.list = slices.Delete(r.list, 0, 1)
		r.dropped++
	}
	r.list = append(r.list, c)
}

// count is the number of changes ever.
func (r *resizes) count() int { return r.dropped + len(r.list) }

// from returns the changes from number n on, counted from 0; ok is false when they were dropped.
func (r *resizes) from(n int) (list []resize, ok bool) {
	if n < r.dropped {
		return nil, false
	}
	return r.list[n-r.dropped:], true
}

// until returns the changes in list that a viewer has whose position is seq. ok is false when it
// cannot resume: viewers cannot repeat a change after seq, or there are several at seq and nobody
// knows how many of them it has. A single one at seq needs no such knowledge: the size counts.
func (r *resizes) until(seq uint64) (had []resize, ok bool) {
	n, same := 0, 0
	for _, c := range r.list {
		if c.event >= seq && !c.exact {
			return nil, false
		}
		if c.event <= seq {
			n++
		}
		if c.event == seq {
			same++
		}
	}
	return r.list[:n], same < 2
}

// sizeAfter is the size after the changes that until returned.
func (r *resizes) sizeAfter(had []resize) Size {
	if len(had) == 0 {
		return r.first
	}
	return had[len(had)-1].Size
}
