package pty

import (
	"time"

	"github.com/evertty/evertty/internal/proc"
)

// Interrupt ends the Read or Fill that waits for output now, or else the next one that has to, with ErrInterrupted.
func (m *Master) Interrupt() {
	m.interrupted.Store(true)
	_ = m.file.SetReadDeadline(time.Now()) // a closed one has no reader
}

// Await calls f once, when there is something to Read: output, the end, or ErrClosed. Until then a silent terminal
// needs no goroutine. Nobody may Read meanwhile. f must not block; it may be called early, and before Await returns.
// Errors: as proc.Await; then f is not called.
func (m *Master) Await(f func()) error {
	m.awaiting.Lock()
	w, err := proc.Await(m.conn, f)
	if err == nil {
		m.awaited = w
	}
	m.awaiting.Unlock()
	if err != nil {
		return m.failed("await", err)
	}
	if isClosed(m.gone) || isClosed(m.closed) {
		m.wake()
	}
	return nil
}

// wake calls who awaits output.
func (m *Master) wake() {
	m.awaiting.Lock()
	w := m.awaited
	m.awaited = nil
	m.awaiting.Unlock()
	if w != nil {
		w.Now()
	}
}
