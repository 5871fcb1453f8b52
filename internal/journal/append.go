package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"syscall"
	"time"
)

// errShort: a source had fewer bytes than Append was given as n.
var errShort = errors.New("less output than announced")

// Append moves n bytes of src, at most len(buf), to the end of the journal, reads them back into
// buf and returns them, for the emulator.
//
// It loses no output: when the disk refuses, it reads the rest from src into buf. Then the error
// says that some of these bytes are not in the journal; it wraps ErrNoSpace when the disk is
// full. Positions count them. Each Append returns the same error until it tries the disk again
// with a new segment, retryPause later. The result is shorter than n only when src had less. It
// is called once per piece of output and makes no garbage.
func (j *Journal) Append(src Source, n int, buf []byte) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n = max(0, min(n, len(buf)))
	if n == 0 {
		return buf[:0], nil
	}
	return j.writer.append(src, n, buf)
}

// Write appends output of the server, for example the line of a restart. The caller gives it to
// the emulator too.
func (j *Journal) Write(p []byte) error {
	buf := make([]byte, min(len(p), maxRange))
	src := BytesSource(p)
	var failed error
	for src.Len() > 0 {
		if _, err := j.Append(src, src.Len(), buf); err != nil {
			failed = err
		}
	}
	return failed
}

// SkipTo moves the end to seq, when it is before it, and begins a segment there: the output
// between is lost. It is for a snapshot that is ahead of the journal, after a crash of the
// machine or on a disk that refused, so that no position is issued twice.
func (j *Journal) SkipTo(seq uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch w := &j.writer; {
	case seq <= j.End():
		return nil
	case w.refuses != nil:
		return w.dir.wrap(w.refuses)
	default:
		return w.skip(seq)
	}
}

// append is Append of 1 <= n <= len(buf) bytes.
func (w *writer) append(src Source, n int, buf []byte) ([]byte, error) {
	now := time.Now()
	if err := w.ready(now); err != nil {
		return w.readUnkept(src, buf, 0, n, err)
	}
	off := int64(w.segments.lastLength())
	moved, err := src.MoveTo(w.open.data, off, n)
	moved = min(max(moved, 0), n)
	lost := w.readBack(buf[:moved], off)
	w.appended(buf[:moved], now)
	if err != nil || lost != nil {
		if lost == nil && outOfOutput(err) {
			return buf[:moved], w.dir.wrap(fmt.Errorf("%w: %w", errShort, err))
		}
		return w.readUnkept(src, buf, moved, n, w.fail(errors.Join(err, lost)))
	}
	if waiting, _ := w.records.waiting(); waiting > flushSize {
		err = w.flush()
	}
	return buf[:n], w.syncAlways(err)
}

// outOfOutput reports whether a source failed because it is empty, which is not
// the disk's fault.
func outOfOutput(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// readUnkept reads the rest of n bytes into memory, and counts it as lost. It returns why.
func (w *writer) readUnkept(src Source, buf []byte, have, n int, why error) ([]byte, error) {
	at := have
	for at < n {
		k, err := src.Read(buf[at:n])
		at += max(k, 0)
		if err != nil || k <= 0 {
			break
		}
	}
	if w.refuses == nil && at > have {
		end := w.segments.end.Add(uint64(at - have))
		w.losses.gap(end-uint64(at-have), end)
		w.noteExactEnd()
		w.mark.came = time.Now()
	}
	return buf[:at], why
}

// ready makes sure that a segment with room is open, and that a resize before the next output is
// on disk before it.
func (w *writer) ready(now time.Time) error {
	if w.refuses != nil {
		return w.dir.wrap(w.refuses)
	}
	if w.open != nil {
		length := w.segments.lastLength()
		waiting, urgent := w.records.waiting()
		full := length >= w.rest.room(uint64(w.opt.Segment), w.segments.end.Load()) ||
			w.segments.last().index+int64(waiting) >= maxIndex
		if full && length > 0 {
			w.late = errors.Join(w.late, w.sealOpen())
		} else if urgent {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return w.ensureOpen(now)
}

// readBack reads moved bytes. Bytes that the disk does not return become NUL, which terminals
// ignore, so that positions stay true.
func (w *writer) readBack(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := w.open.data.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	clear(p[n:])
	return fmt.Errorf("reading output back: %w", err)
}

// appended accounts for output at the end of the data file.
func (w *writer) appended(p []byte, now time.Time) {
	if len(p) == 0 {
		return
	}
	end := w.segments.end.Load()
	due := now.Sub(w.mark.last) >= markEvery || now.Before(w.mark.last)
	if due && end > w.mark.from {
		w.setMark(end, w.mark.came) // for output that came shortly after the last mark, before p
	}
	w.segments.bytes.Add(int64(len(p)))
	for len(p) > 0 {
		n := min(uint64(len(p)), maxRange-(end-w.mark.from))
		w.mark.crc = crc32.Update(w.mark.crc, castagnoli, p[:n])
		p = p[n:]
		end += n
		if end-w.mark.from == maxRange {
			w.setMark(end, now)
		}
	}
	if due && end > w.mark.from {
		w.setMark(end, now)
	}
	w.segments.end.Store(end)
	w.reserveAhead()
	w.mark.came = now
	w.unsynced.data = true
}

// setMark records that the output since the last mark, up to end, came at that
// time.
func (w *writer) setMark(end uint64, at time.Time) {
	w.records.add(&record{kind: recordMark, pos: end, time: micros(at), crc: w.mark.crc})
	w.mark.crc, w.mark.from, w.mark.last = 0, end, at
}

// markRest makes a mark for output that has none yet.
func (w *writer) markRest() {
	if end := w.segments.end.Load(); w.open != nil && end > w.mark.from {
		w.setMark(end, w.mark.came)
	}
}
