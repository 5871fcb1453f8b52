package shell

import (
	"testing"
	"time"
)

// TestInputEndsEarly: what is written and ended right after the start arrives, however late the command opens its
// input.
func TestInputEndsEarly(t *testing.T) {
	s := start(t)
	for range 50 {
		e, err := s.Submit(Command{Text: "cat", StdinOpen: true})
		if err != nil {
			t.Fatal(err)
		}
		<-e.Started()
		if err := e.Input(t.Context(), []byte("all of it"), true); err != nil {
			t.Fatal(err)
		}
		select {
		case <-e.Done():
		case <-time.After(patience):
			t.Fatalf("it waits for input that was ended: %+v", e.Info())
		}
		p := make([]byte, 100)
		n, _ := e.ReadAt(Stdout, p, 0)
		if string(p[:n]) != "all of it" {
			t.Fatalf("it got %q", p[:n])
		}
	}
}
