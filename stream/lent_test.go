package stream

import (
	"bytes"
	"testing"
)

// TestLentMemory: what a viewer has not released stays as it was while others release theirs, and what all have
// released is used again.
func TestLentMemory(t *testing.T) {
	h := plainHub(Hooks{})
	var subs []*Subscription
	for range 3 {
		s := h.Subscribe(SubscribeOptions{})
		defer s.Close()
		subs = append(subs, s)
	}
	for _, s := range subs {
		if _, err := s.Poll(); err != nil {
			t.Fatal(err)
		}
	}
	take := func(s *Subscription) *Message {
		for {
			batch, err := s.Poll()
			if err != nil || len(batch) == 0 {
				t.Fatal(batch, err)
			}
			if batch[0].Kind != KindMeta { // who is there
				return batch[0]
			}
		}
	}
	frame := func(m *Message) []byte { return m.Frame(FormJSON, 10, func(b []byte) []byte { return b[10:] }) }
	var held []*Message
	var want [][]byte
	for i := range 50 {
		h.Write(bytes.Repeat([]byte{byte('a' + i%26)}, lentFrom+i))
		for _, s := range subs {
			m := take(s)
			if s == subs[2] && i%2 == 0 {
				held, want = append(held, m), append(want, bytes.Clone(frame(m)))
				continue
			}
			frame(m)
			m.Release()
		}
	}
	for i, m := range held {
		if !bytes.Equal(frame(m), want[i]) || m.cost() != lentFrom+2*i+messageCost {
			t.Errorf("event %d became %.100s", i, frame(m))
		}
	}
}
