package tests

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
	"time"
)

// eventually waits until f is true and fails the test when it never is.
func eventually(t testing.TB, what string, f func() bool) {
	t.Helper()
	if !poll(patience, f) {
		t.Fatalf("never: %s", what)
	}
}

// poll tries f until it is true or the time is over.
func poll(limit time.Duration, f func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); ; <-tick.C {
		if f() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// freePort is an address that nobody listens on and that no outgoing connection
// takes by chance: below the ephemeral ports of Linux (ip_local_port_range). It
// is for servers that have to come back on it.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 15000+rand.IntN(15000))
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}
