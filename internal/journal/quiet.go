package journal

import "os"

// CloseQuiet closes the files of a journal of which the disk has everything; the next output or record opens them
// again, which costs some 50 us. Otherwise it does nothing.
func (j *Journal) CloseQuiet() {
	j.maintaining.Lock() // Sync uses the files without mu
	defer j.maintaining.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	w := &j.writer
	waiting, _ := w.records.waiting()
	if w.open == nil || waiting > 0 || w.unsynced.any() || w.late != nil || w.mark.from < w.segments.end.Load() {
		return
	}
	if w.open.data == nil {
		return
	}
	_ = w.open.close() // nothing is left to be written
	w.open.data, w.open.index = nil, nil
	w.opt.sleep(quietFiles)
}

// quietFiles is how many files CloseQuiet closes.
const quietFiles = 2

func (o *Options) sleep(files int) {
	if o.Sleep != nil {
		o.Sleep(files)
	}
}

// release closes the files of a segment that is not open any more.
func (w *writer) release(o *openSegment) error {
	if o.data == nil {
		w.opt.sleep(-quietFiles)
	}
	return o.close()
}

// any reports whether there is something to sync.
func (u *unsynced) any() bool { return u.data || u.index || u.dir || len(u.sealed) > 0 }

// wake opens the files that CloseQuiet has closed. A segment is open. Errors: of the disk.
func (w *writer) wake() error {
	if w.open.data != nil {
		return nil
	}
	return w.dir.do(func(d *os.Root) error {
		o, err := reopen(d, w.segments.last())
		if err == nil {
			w.open.data, w.open.index = o.data, o.index
			w.opt.sleep(-quietFiles)
		}
		return err
	})
}
