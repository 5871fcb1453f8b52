package wait

import (
	"errors"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
)

// TestLimitsOfAServer: a server has maxWaits and a terminal maxWaitsOf at once, and each that ends leaves its place.
func TestLimitsOfAServer(t *testing.T) {
	s := New()
	var terminals []*terminal.Terminal
	for range maxWaits / maxWaitsOf {
		term := &terminal.Terminal{}
		terminals = append(terminals, term)
		for range maxWaitsOf {
			if _, err := s.enter(term); err != nil {
				t.Fatal(err)
			}
		}
	}
	another := &terminal.Terminal{}
	for range 2 {
		if _, err := s.enter(another); !errors.Is(err, terminal.ErrLimit) {
			t.Fatalf("one more: %v", err)
		}
		s.leave(terminals[0])
		if _, err := s.enter(another); err != nil {
			t.Fatal(err)
		}
		if _, err := s.enter(terminals[1]); !errors.Is(err, terminal.ErrLimit) {
			t.Fatalf("one more of a terminal: %v", err)
		}
		s.leave(another)
		if _, err := s.enter(terminals[0]); err != nil {
			t.Fatal(err)
		}
	}
	for _, term := range terminals {
		for range maxWaitsOf {
			s.leave(term)
		}
	}
	if s.waits != 0 || len(s.terminals) != 0 {
		t.Errorf("%d waits of %d terminals are left", s.waits, len(s.terminals))
	}
}

// TestPlainText: lines have no blanks at their ends, empty ones between others stay, and those before a position go.
func TestPlainText(t *testing.T) {
	lines := []vt.TextLine{{Text: []byte("a "), Offsets: []uint64{1, 2}}, {}, {Text: []byte("  ")},
		{Text: []byte("b"), Offsets: []uint64{7}}, {Text: []byte("c"), ErasedAt: 8}, {}}
	if got := plainText(lines, nil); got != "a\n\n\nb\nc\n" {
		t.Errorf("all: %q", got)
	}
	for since, want := range map[uint64]string{1: "a\nb\nc\n", 2: "b\nc\n", 7: "c\n", 8: ""} {
		if got := plainText(lines, &since); got != want {
			t.Errorf("after %d: %q, want %q", since, got, want)
		}
	}
}
