package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"syscall"
	"time"
)

// errShort: a source had less than Append was told.
var errShort = errors.New("less output than announced")

// Append moves n bytes of src, at most len(buf), to the end of the journal, reads
// them back into buf and returns them, for the emulator.
//
// It loses no output: when the disk refuses, the rest is read from src into buf,
// and the error says that these bytes are not, or not all, in the journal: it
// wraps ErrNoSpace when the disk is full, else the reason. Positions count them.
// The same error comes back from each Append until the disk is tried again with
// a new segment, retryPause later. The result is shorter than n only when src
// had less. It is called once per piece of output and makes no garbage.
func (j *Journal) Append(src Source, n int, buf []byte) ([]byte, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n = max(0, min(n, len(buf)))
	if n == 0 {
		return buf[:0], nil
	}
	now := time.Now()
	if err := j.ready(now); err != nil {
		return j.readUnkept(src, buf, 0, n, err)
	}
	off := int64(j.end.Load() - j.last().offset)
	moved, err := src.MoveTo(j.open.data, off, n)
	moved = min(max(moved, 0), n)
	lost := j.readBack(buf[:moved], off)
	j.appended(buf[:moved], now)
	if err != nil || lost != nil {
		if lost == nil && outOfOutput(err) {
			return buf[:moved], j.wrap(fmt.Errorf("%w: %w", errShort, err))
		}
		return j.readUnkept(src, buf, moved, n, j.fail(errors.Join(err, lost)))
	}
	if waiting, _ := j.records.waiting(); waiting > flushSize {
		err = j.flush()
	}
	if err == nil && j.opt.Sync == SyncAlways {
		err = j.syncNow()
	}
	return buf[:n], err
}

// Write appends the server's own words, the line of a restart for instance. They
// are output like any other, so the caller gives them to the emulator too.
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

// outOfOutput reports whether a source failed because it is empty, which is not
// the disk's fault.
func outOfOutput(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// readUnkept takes what is left of n bytes into memory, and counts it as lost.
func (j *Journal) readUnkept(src Source, buf []byte, have, n int, why error) ([]byte, error) {
	at := have
	for at < n {
		k, err := src.Read(buf[at:n])
		at += max(k, 0)
		if err != nil || k <= 0 {
			break
		}
	}
	if j.writes && !j.closed && at > have {
		end := j.end.Add(uint64(at - have))
		j.losses.gap(end-uint64(at-have), end)
		j.noteExactEnd()
		j.mark.came = time.Now()
	}
	return buf[:at], why
}

// ready sees to it that there is an open segment with room, and that what
// happened before the next output is on disk before it.
func (j *Journal) ready(now time.Time) error {
	switch {
	case !j.writes:
		return j.wrap(errReadingOnly)
	case j.closed:
		return j.wrap(os.ErrClosed)
	}
	if j.open != nil {
		length := j.end.Load() - j.last().offset
		waiting, urgent := j.records.waiting()
		full := length >= j.rest.room(uint64(j.opt.Segment), j.end.Load()) || j.last().index+int64(waiting) >= maxIndex
		if full && length > 0 {
			j.late = errors.Join(j.late, j.sealOpen())
		} else if urgent {
			if err := j.flush(); err != nil {
				return err
			}
		}
	}
	if j.open != nil {
		return nil
	}
	if j.trouble != nil && now.Before(j.retry) {
		return j.trouble
	}
	return j.begin(now)
}

// readBack reads what was moved. Bytes that the disk does not give back become
// NUL, which terminals ignore, so that positions stay true.
func (j *Journal) readBack(p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	n, err := j.open.data.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	clear(p[n:])
	return fmt.Errorf("reading output back: %w", err)
}

// appended accounts for output at the end of the data file.
func (j *Journal) appended(p []byte, now time.Time) {
	if len(p) == 0 {
		return
	}
	end := j.end.Load()
	due := now.Sub(j.mark.last) >= markEvery || now.Before(j.mark.last)
	if due && end > j.mark.from {
		j.setMark(end, j.mark.came) // what came shortly after the last mark, and is older than p
	}
	for len(p) > 0 {
		n := min(uint64(len(p)), maxRange-(end-j.mark.from))
		j.mark.crc = crc32.Update(j.mark.crc, castagnoli, p[:n])
		p = p[n:]
		end += n
		if end-j.mark.from == maxRange {
			j.setMark(end, now)
		}
	}
	if due && end > j.mark.from {
		j.setMark(end, now)
	}
	j.bytes.Add(int64(end - j.end.Load()))
	j.end.Store(end)
	j.reserveAhead()
	j.mark.came = now
	j.unsynced.data = true
}

// setMark notes that the output since the last mark, up to end, came at that
// time.
func (j *Journal) setMark(end uint64, at time.Time) {
	j.records.add(&record{kind: recordMark, pos: end, time: micros(at), crc: j.mark.crc})
	j.mark.crc, j.mark.from, j.mark.last = 0, end, at
}

// markRest makes a mark for output that has none yet.
func (j *Journal) markRest() {
	if end := j.end.Load(); j.open != nil && end > j.mark.from {
		j.setMark(end, j.mark.came)
	}
}
