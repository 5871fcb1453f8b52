package terminal

import "testing"

// TestAhead: the second piece waits until the first one is shown, and settle until both are.
func TestAhead(t *testing.T) {
	a := newAhead()
	a.settle() // of nothing
	var shown []int
	begun, let := make(chan bool, 1), make(chan bool)
	show := func(n int) func() {
		return func() {
			begun <- true
			<-let
			shown = append(shown, n)
		}
	}
	work := func(f func()) bool {
		go f()
		return true
	}
	a.put(work, show(1))
	<-begun
	done := make(chan bool)
	go func() {
		a.put(work, show(2))
		a.settle()
		close(done)
	}()
	select {
	case <-begun:
		t.Fatal("both are shown at once")
	case let <- true:
	}
	select {
	case <-done:
		t.Fatal("settle is over before the last piece is shown")
	case let <- true:
	}
	<-done
	begun = make(chan bool, 1)
	close(let)
	a.put(func(func()) bool { return false }, show(3))
	if len(shown) != 3 || shown[1] != 2 || shown[2] != 3 {
		t.Errorf("shown are %v", shown)
	}
}
