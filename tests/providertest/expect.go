package providertest

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// Expect is a writer that waits for a text.
type Expect struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	hit  chan struct{}
}

// NewExpect waits for a text.
func NewExpect(want string) *Expect { return &Expect{want: want, hit: make(chan struct{})} }

// Write implements io.Writer.
func (s *Expect) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := strings.Contains(s.text.String(), s.want)
	s.text.Write(p)
	if !had && strings.Contains(s.text.String(), s.want) {
		close(s.hit)
	}
	return len(p), nil
}

// String is all that was written.
func (s *Expect) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Wait waits until the text was written.
func (s *Expect) Wait(t *testing.T) {
	t.Helper()
	select {
	case <-s.hit:
	case <-time.After(Limit):
		t.Fatalf("no %q in %q", s.want, s)
	}
}

// broken is a writer that takes nothing.
type broken struct{}

var errBroken = errors.New("no room")

func (broken) Write([]byte) (int, error) { return 0, errBroken }
