package vt

const can = 0x18 // ECMA-48 8.3.6

// viewerText is what viewers get of one Write: the input itself until the first thing
// that has to be cut or replaced, a copy from then on.
type viewerText struct {
	in   []byte
	out  []byte
	done int  // in[:done] is in out, or was cut
	own  bool // out is the result, not in

	start int    // of the open sequence in in
	given int    // bytes at the end of out that are in the place of the sequence at hand
	head  bool   // an earlier Write delivered a part of it
	inner []byte // the controls executed inside it, in this Write
}

// open takes the input of a Write. inside: a sequence of which viewers have the
// head is unfinished.
func (t *viewerText) open(in []byte, inside bool) {
	*t = viewerText{in: in, out: t.out[:0], head: inside, inner: t.inner[:0]}
}

// close returns the text of in[:end].
func (t *viewerText) close(end int) []byte {
	in := t.in
	if t.in = nil; !t.own {
		return in[:end]
	}
	t.out = append(t.out, in[t.done:end]...)
	return t.out
}

// sequence says that a sequence begins at in[i].
func (t *viewerText) sequence(i int) {
	t.start, t.head, t.inner, t.given = i, false, t.inner[:0], 0
}

// deliver says that viewers get the open sequence as far as in[i] in any case.
func (t *viewerText) deliver(i int) { t.start, t.head, t.inner = i, true, t.inner[:0] }

// drop leaves in[from:to] out.
func (t *viewerText) drop(from, to int) {
	t.out = append(t.out, t.in[t.done:from]...)
	t.done, t.own = to, true
}

// insert puts s before in[i:].
func (t *viewerText) insert(i int, s ...byte) {
	t.drop(i, i)
	t.out = append(t.out, s...)
}

// end ends a sequence of which viewers have the head, before in[end], in another
// way, and goes on with s.
func (t *viewerText) end(end int, tail string, s []byte) {
	t.drop(t.start, end)
	t.out = append(t.out, t.inner...)
	t.out = append(append(t.out, tail...), s...)
	t.start, t.head, t.inner = end, false, t.inner[:0]
}

// replace takes the open sequence, which ends before in[end], out of the text
// and puts s in its place. What was executed inside stays executed. quiet tells
// that nothing is left of it.
func (t *viewerText) replace(end int, s ...byte) (quiet bool) {
	quiet = !t.head && len(t.inner) == 0 && len(s) == 0
	t.drop(t.start, end)
	t.out = append(t.out, t.inner...)
	if t.head {
		t.out = append(t.out, can)
	}
	t.out = append(t.out, s...)
	t.start, t.head, t.inner, t.given = end, false, t.inner[:0], len(s)
	return quiet
}
