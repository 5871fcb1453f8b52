package terminal

import (
	"slices"
	"testing"
)

// TestAhead: pieces are shown in their order, by one goroutine, at most aheadMax wait, and settle is behind all of them.
func TestAhead(t *testing.T) {
	var a ahead
	a.settle() // of nothing
	shown, let := make(chan byte, 10), make(chan bool)
	show := func(x piece) {
		<-let
		shown <- x.data[0]
	}
	work := func(f func()) bool {
		go f()
		return true
	}
	for b := range byte(aheadMax) {
		a.put(piece{data: []byte{b}}, work, show)
	}
	more := make(chan bool)
	go func() {
		a.put(piece{data: []byte{aheadMax}}, work, show)
		a.settle()
		close(more)
	}()
	for range aheadMax {
		let <- true
	}
	select {
	case <-more:
		t.Fatal("settle is over before the last piece is shown")
	case let <- true:
	}
	<-more
	close(shown)
	var got []byte
	for b := range shown {
		got = append(got, b)
	}
	if !slices.Equal(got, []byte{0, 1, 2}) {
		t.Errorf("shown are %v", got)
	}
	a.put(piece{data: []byte{9}}, func(func()) bool { return false }, func(x piece) { got = x.data })
	if !slices.Equal(got, []byte{9}) {
		t.Error("a piece that comes when no goroutine can start is not shown")
	}
}
