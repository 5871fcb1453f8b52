package mux

import (
	"errors"
	"fmt"

	"github.com/evertty/evertty/snapshot"
)

// Health is what a server tells of itself.
type Health struct {
	Lossless bool     // no output can be lost between two snapshots
	Reasons  []string // why it is degraded, one sentence each; nil when it is well
}

// Health returns the state of the server. Without a journal the output since
// the last snapshot is lost when the server is killed, so it is not lossless;
// that is how this version works and no degradation.
func (m *Mux) Health() Health {
	m.mu.Lock()
	defer m.mu.Unlock()
	var h Health
	if m.trouble != "" {
		h.Reasons = []string{m.trouble}
	}
	return h
}

// failed logs a failure that a terminal survives and remembers it until the
// next success.
func (m *Mux) failed(what, id string, err error) {
	m.cfg.Log.Error("cannot "+what, "id", id, "error", err)
	text := fmt.Sprintf("cannot %s: %v", what, err)
	if errors.Is(err, snapshot.ErrNoSpace) {
		text = "the disk is full: snapshots are not written"
	}
	m.mu.Lock()
	m.trouble = text
	m.mu.Unlock()
}

// recovered notes that the disk works.
func (m *Mux) recovered() {
	m.mu.Lock()
	m.trouble = ""
	m.mu.Unlock()
}
