package tests

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"sync"
	"testing"

	"github.com/evertty/evertty/tests/polling"
)

// eventually waits until f is true and fails the test when it never is.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	if !polling.Until(patience, f) {
		t.Fatalf("never: %s", what)
	}
}

// rests waits until what f returns stays the same while ten programs run from start to end, one after the other: on a
// machine that is so busy that whoever changes it gets no processor, neither do they.
func rests[T comparable](t testing.TB, what string, f func() T) (last T) {
	t.Helper()
	same := -1
	eventually(t, what, func() bool {
		now := f()
		if same++; now != last {
			last, same = now, 0
		}
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
		return same >= 10
	})
	return last
}

// taken are the ports that freePort has given: one of a server that is away just
// now is free only for it.
var taken sync.Map

// freePort is an address that nobody listens on and that no outgoing connection
// takes by chance: below the ephemeral ports of Linux (ip_local_port_range). It
// is for servers that have to come back on it.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(15000))
		if _, given := taken.LoadOrStore(address, true); given {
			continue
		}
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}
