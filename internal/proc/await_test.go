package proc_test

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/tests/polling"
)

// pipes are n pipes that can wait in the poller.
func pipes(t *testing.T, n int) (r, w []*os.File) {
	t.Helper()
	r, w = make([]*os.File, n), make([]*os.File, n)
	for i := range n {
		var err error
		if r[i], w[i], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = r[i].Close(), w[i].Close() })
	}
	return r, w
}

// awaits waits for a file.
func awaits(t *testing.T, f *os.File, call func()) *proc.Wait {
	t.Helper()
	conn, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	w, err := proc.Await(conn, call)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	if !polling.Until(time.Minute, is) {
		t.Fatalf("never: %s", what)
	}
}

// TestAwait: each of many is called once, for what can be read, for an end that hung up, and by Now; one goroutine
// waits for all, and neither it nor a descriptor is left.
func TestAwait(t *testing.T) {
	const n = 300
	r, w := pipes(t, n)
	routines, files := runtime.NumGoroutine(), openFiles(t)
	var called [n]atomic.Int32
	waits := make([]*proc.Wait, n)
	for i := range n {
		waits[i] = awaits(t, r[i], func() { called[i].Add(1) })
	}
	if now := runtime.NumGoroutine(); now > routines+1 {
		t.Errorf("%d goroutines more", now-routines)
	}
	for i := range n {
		switch i % 3 {
		case 0:
			_, _ = w[i].Write([]byte("x"))
		case 1:
			_ = w[i].Close()
			files--
		case 2:
			waits[i].Now()
			waits[i].Now()
		}
	}
	until(t, "all are called", func() bool {
		for i := range n {
			if called[i].Load() == 0 {
				return false
			}
		}
		return true
	})
	until(t, "nothing waits", func() bool { return runtime.NumGoroutine() <= routines && openFiles(t) == files })
	for i := range n {
		if waits[i].Now(); called[i].Load() != 1 {
			t.Errorf("%d is called %d times", i, called[i].Load())
		}
	}
}

// TestAwaitAgain: a descriptor that was called can be awaited again, while its last wait ends; what is there already
// counts.
func TestAwaitAgain(t *testing.T) {
	r, w := pipes(t, 1)
	_, _ = w[0].Write([]byte("x"))
	called := make(chan bool, 1)
	for range 1000 {
		awaits(t, r[0], func() { called <- true })
		select {
		case <-called:
		case <-time.After(time.Minute):
			t.Fatal("nobody is called")
		}
	}
}

// openFiles is how many descriptors this process has.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}
