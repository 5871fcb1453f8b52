package stream

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// TestInputIsTold: viewers that may type are told what the line discipline does, those that only look are not, and an
// older look is not told behind a newer one.
func TestInputIsTold(t *testing.T) {
	var secret, held atomic.Bool
	looked, hold := make(chan struct{}), make(chan struct{})
	h := plainHub(Hooks{InputMode: func() (wire.InputMode, bool) {
		m := wire.InputMode{Echo: !secret.Load(), Canonical: true}
		if held.Swap(false) {
			close(looked)
			<-hold
		}
		return m, true
	}})
	types := h.Subscribe(SubscribeOptions{Who: Who{Role: RoleWrite}})
	looks := h.Subscribe(SubscribeOptions{Who: Who{Role: RoleRead}})
	t.Cleanup(types.Close)
	t.Cleanup(looks.Close)
	told := func(s *Subscription) (modes string) {
		for batch, err := s.Poll(); err == nil && len(batch) > 0; batch, err = s.Poll() {
			for _, m := range batch {
				if _, mode, ok := strings.Cut(string(m.AppendJSON(nil, "")), `"input":{"echo":`); ok {
					modes += mode[:1]
				}
			}
		}
		return modes
	}
	is := func(want string) {
		t.Helper()
		got := ""
		for limit := time.Now().Add(10 * time.Second); got != want && time.Now().Before(limit); {
			got += told(types)
			time.Sleep(time.Millisecond)
		}
		if got != want {
			t.Fatalf("it is told %q, want %q", got, want)
		}
	}
	is("t")
	held.Store(true)
	h.InputMayChange()
	<-looked // and goes on later
	secret.Store(true)
	h.InputMayChange()
	for h.inputDue.Load() && h.looking.TryLock() { // the second look has not begun
		h.looking.Unlock()
		time.Sleep(time.Millisecond)
	}
	time.AfterFunc(2*inputDelay, func() { close(hold) })
	is("f")
	if got := told(looks); got != "" {
		t.Errorf("who looks is told %q", got)
	}
}
