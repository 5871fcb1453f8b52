//go:build linux

package main

import (
	"errors"
	"net"
	"slices"
	"syscall"
	"testing"
)

// TestListenAll: one free port for all addresses, or none of them.
func TestListenAll(t *testing.T) {
	all, err := listenAll([]string{"127.0.0.7", "127.0.0.8"}, "0")
	if err != nil {
		t.Fatal(err)
	}
	port := portOf(all[0])
	if len(all) != 2 || portOf(all[1]) != port {
		t.Errorf("%v", all)
	}
	_ = all[0].Close()
	// The second address is still taken, so the first is given back.
	if _, err := listenAll([]string{"127.0.0.7", "127.0.0.8"}, port); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a port that one address has not free: %v", err)
	}
	_ = all[1].Close()
	// 192.0.2.1 is nobody's (RFC 5737).
	if _, err := listenAll([]string{"127.0.0.7", "192.0.2.1"}, port); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("an address of another machine: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.7:"+port)
	if err != nil {
		t.Fatalf("an address was kept: %v", err)
	}
	_ = l.Close()
}

func TestAddressesOf(t *testing.T) {
	for host, want := range map[string][]string{"": {""}, "127.0.0.1": {"127.0.0.1"}, "::": {"::"}} {
		if got, err := addressesOf(host); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q %v", host, got, err)
		}
	}
	for _, host := range []string{"localhost", "LocalHost"} {
		if got, err := addressesOf(host); err != nil || got[0] != "127.0.0.1" || len(got) == 2 && got[1] != "::1" ||
			len(got) > 2 {
			t.Errorf("%q: %q %v", host, got, err)
		}
	}
}
