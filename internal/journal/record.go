package journal

import (
	"encoding/json"
	"os"
	"strings"
	"time"
)

// maxEndText bounds the signal and the reason of an End, in bytes, so that it
// fits into a record however JSON escapes it.
const maxEndText = 256

// Resized notes that the terminal has another size from seq on. It only takes
// memory and a lock that is never held over the disk; Append writes it before it
// moves more output, and so does the next Flush.
func (j *Journal) Resized(seq uint64, cols, rows int) {
	j.records.add(&record{kind: recordResize, pos: min(seq, j.end.Load()), time: micros(time.Now()), cols: cols,
		rows: rows})
}

// Answered notes that answers to queries in the output up to seq go to the
// program now, so that a replay after a crash does not answer them again. The
// system has the record when it returns.
func (j *Journal) Answered(seq uint64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if seq <= j.answered.Load() {
		return nil
	}
	j.answered.Store(seq)
	return j.write(&record{kind: recordAnswered, answered: min(seq, maxPosition)})
}

// Input records what was typed; without Options.Input it does nothing. It
// may wait until the next Flush.
func (j *Journal) Input(p []byte) error {
	if !j.opt.Input || len(p) == 0 {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.markRest()
	for len(p) > 0 {
		n := min(len(p), maxInputPayload)
		j.records.add(&record{kind: recordInput, pos: j.end.Load(), time: micros(time.Now()), text: p[:n]})
		p = p[n:]
		if waiting, _ := j.records.waiting(); waiting > flushSize {
			if err := j.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Exit records how the program ended. The system has the record when it returns.
func (j *Journal) Exit(e End) error {
	e.Signal, e.Reason = cutText(e.Signal), cutText(e.Reason)
	text, err := json.Marshal(e)
	if err != nil {
		return j.wrap(err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.retry = time.Time{} // there may be no other chance
	return j.write(&record{kind: recordExit, text: text})
}

// cutText is at most maxEndText bytes of s.
func cutText(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxEndText)], "")
}

// Restart records that a generation of the terminal begins with that size. The
// system has the record when it returns.
func (j *Journal) Restart(generation, cols, rows int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.retry = time.Time{}
	return j.write(&record{kind: recordRestart, generation: generation, cols: cols, rows: rows})
}

// write gives r, at the end, and what waits to the system.
func (j *Journal) write(r *record) error {
	now := time.Now()
	if !j.writes {
		return j.wrap(errReadingOnly)
	}
	if j.closed {
		return j.wrap(os.ErrClosed)
	}
	var err error
	if j.open == nil {
		if err = j.trouble; err == nil || !now.Before(j.retry) {
			err = j.begin(now)
		}
	}
	j.markRest()
	r.pos, r.time = j.end.Load(), micros(now)
	j.records.add(r) // also without a segment: the start of the next one has the state
	if err != nil {
		return err
	}
	err = j.flush()
	if err == nil && j.opt.Sync == SyncAlways {
		err = j.syncNow()
	}
	return err
}
