package pty

import (
	"slices"
	"time"
)

// drainTimer decides when the output has ended of a terminal whose child has exited but which other processes still
// hold open. The zero value stands for a terminal of which nothing was read after the exit.
type drainTimer struct {
	began time.Time // of the first read after the exit
	heard time.Time // of the last output, or began
	bytes int       // read since began
	empty bool      // nothing was left at some time since began
}

// took notes that n bytes were read.
func (d *drainTimer) took(n int, now time.Time) {
	if d.began.IsZero() {
		d.began = now
	}
	d.heard = now
	d.bytes += n
}

// dry notes that there was nothing to read.
func (d *drainTimer) dry(now time.Time) {
	if d.began.IsZero() {
		d.began, d.heard = now, now
	}
	d.empty = true
}

// limit is when the output ends unless more comes.
func (d *drainTimer) limit() time.Time {
	return slices.MinFunc([]time.Time{d.heard.Add(quietAfterExit), d.began.Add(maxAfterExit)}, time.Time.Compare)
}

// over reports whether the output has ended: its time is up, and everything the child itself wrote was read for
// certain.
func (d *drainTimer) over(now time.Time) bool {
	if d.began.IsZero() || now.Before(d.limit()) {
		return false
	}
	return d.empty || d.bytes > heldByKernel
}
