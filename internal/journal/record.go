package journal

import (
	"encoding/json"
	"strings"
	"time"
)

// maxEndText bounds the signal and the reason of an End, in bytes, so that it
// fits into a record however JSON escapes it.
const maxEndText = 256

// Resized records that the terminal has another size from seq on. It takes only memory and a lock
// that is never held over the disk. Append writes the record before it moves more output, and so
// does the next Flush.
func (j *Journal) Resized(seq uint64, cols, rows int) {
	j.writer.records.add(&record{kind: recordResize, pos: min(seq, j.End()), time: micros(time.Now()), cols: cols,
		rows: rows})
}

// Answered records that answers to queries in the output up to seq go to the program now, so that
// a replay after a crash does not answer them again. The record is written when it returns.
func (j *Journal) Answered(seq uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq <= j.answered.Load() {
		return nil
	}
	j.answered.Store(seq)
	return j.writer.write(&record{kind: recordAnswered, answered: min(seq, maxPosition)})
}

// Input records typed bytes; without Options.Input it does nothing. The record may wait until the
// next Flush.
func (j *Journal) Input(p []byte) error {
	if !j.opt.Input || len(p) == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writer.markRest()
	for len(p) > 0 {
		n := min(len(p), maxInputPayload)
		j.writer.records.add(&record{kind: recordInput, pos: j.End(), time: micros(time.Now()), text: p[:n]})
		p = p[n:]
		if waiting, _ := j.writer.records.waiting(); waiting > flushSize {
			if err := j.writer.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Exit records how the program ended. The record is written when it returns.
func (j *Journal) Exit(e End) error {
	e.Signal, e.Reason = cutText(e.Signal), cutText(e.Reason)
	text, err := json.Marshal(e)
	if err != nil {
		return j.dir.wrap(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writer.retry = time.Time{} // the last chance to write it
	return j.writer.write(&record{kind: recordExit, text: text})
}

// cutText is at most maxEndText bytes of s.
func cutText(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxEndText)], "")
}

// Restart records that a generation of the terminal begins with this size. The record is written
// when it returns.
func (j *Journal) Restart(generation, cols, rows int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.writer.retry = time.Time{}
	return j.writer.write(&record{kind: recordRestart, generation: generation, cols: cols, rows: rows})
}

// write writes r, at the end of the output, and the waiting records.
func (w *writer) write(r *record) error {
	now := time.Now()
	if w.refuses != nil {
		return w.dir.wrap(w.refuses)
	}
	err := w.ensureOpen(now)
	w.markRest()
	r.pos, r.time = w.segments.end.Load(), micros(now)
	w.records.add(r) // also without a segment: the next one starts with the state
	if err != nil {
		return err
	}
	return w.syncAlways(w.flush())
}
