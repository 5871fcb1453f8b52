package auth

import (
	"net"
	"testing"
)

// TestAddressForOthers: loopback alone is nobody's address, and nor is an interface that is down.
func TestAddressForOthers(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	var closed []net.Interface
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 {
			i.Flags &^= net.FlagUp
		}
		closed = append(closed, i)
	}
	if addr := addressForOthers(closed, "::"); addr.IsValid() {
		t.Errorf("without a network: %s", addr)
	}
	if addr := addressForOthers(all, "0.0.0.0"); addr.IsValid() && (!addr.Is4() || addr.IsLoopback()) {
		t.Errorf("of version 4: %s", addr)
	}
}
