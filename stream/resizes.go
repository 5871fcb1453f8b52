package stream

// maxResizes is how many changes of size a hub remembers. A person who drags a
// window makes some ten a second; who was away for longer gets a snapshot.
const maxResizes = 1024

// resize is one change of size in the life of a hub.
type resize struct {
	at         uint64 // output bytes written before it, held ones included
	event      uint64 // position of its event: output bytes applied
	cols, rows int
	exact      bool // viewers can repeat it
}

// resizes are the last changes of size, in order. The journal has them too, but
// not whether viewers can repeat them, and a change may reach it after bytes of
// output that it came before.
type resizes struct {
	list    []resize
	dropped int // how many came before those in list
	// known: list has every change from this position on, or said so by dropped.
	known      uint64
	cols, rows int // the size before the first in list
}

func (r *resizes) add(c resize) {
	if len(r.list) == maxResizes {
		first := r.list[0]
		r.known, r.cols, r.rows = max(r.known, first.at+1), first.cols, first.rows
		r.list = append(r.list[:0], r.list[1:]...)
		r.dropped++
	}
	r.list = append(r.list, c)
}

// count is the number of changes ever.
func (r *resizes) count() int { return r.dropped + len(r.list) }

// from returns the changes from number n on, counted from 0; ok is false when
// they are not kept any more.
func (r *resizes) from(n int) (list []resize, ok bool) {
	if n < r.dropped {
		return nil, false
	}
	return r.list[n-r.dropped:], true
}

// since returns the size that a viewer has who has everything up to position seq,
// and the number of the first change that it has not. ok is false when it cannot
// follow: a change after seq is one that viewers cannot repeat, or it is not known
// whether it has seen the second of several at seq. A single one at seq needs no
// knowledge: the size is what counts.
func (r *resizes) since(seq uint64) (cols, rows, next int, ok bool) {
	cols, rows, next = r.cols, r.rows, r.dropped
	same := 0
	for _, c := range r.list {
		if c.event >= seq && !c.exact {
			return 0, 0, 0, false
		}
		if c.event <= seq {
			cols, rows = c.cols, c.rows
			next++
		}
		if c.event == seq {
			same++
		}
	}
	return cols, rows, next, same < 2
}
