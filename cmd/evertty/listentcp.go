//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"
)

// freePortTries is how often a free port of one address is looked for that the other addresses of a name have free too.
const freePortTries = 20

// listenTCP opens every address of HOST:PORT, which is the value of a flag; at is the first.
func listenTCP(flag, address string) (all []net.Listener, at string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "", usage(fmt.Errorf("%s %s: %w", flag, address, err))
	}
	hosts, err := addressesOf(host)
	if err != nil {
		return nil, "", usage(fmt.Errorf("%s %s: %w", flag, address, err))
	}
	for range freePortTries {
		if all, err = listenAll(hosts, port); port != "0" || !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, "", fmt.Errorf("%w: another program has this address; choose another with --%s, or port 0 for "+
			"a free one", err, flag)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT):
		return nil, "", usage(fmt.Errorf("%w: a server listens on every address of %s, and this machine has not all; "+
			"choose one with --%s", err, host, flag))
	case err != nil:
		return nil, "", err
	}
	return all, urlOf(all[0]), nil
}

// urlOf is how this machine reaches a TCP listener.
func urlOf(l net.Listener) string {
	host, port, _ := net.SplitHostPort(l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // every address of the machine: this one always works
	}
	return "http://" + net.JoinHostPort(host, port)
}

// listenAll opens the same port of all hosts, or of none. Port 0 is a free one of the first.
func listenAll(hosts []string, port string) (all []net.Listener, err error) {
	for _, host := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(host, port))
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, l)
		port = portOf(l)
	}
	return all, nil
}

func closeAll(all []net.Listener) {
	for _, l := range all {
		_ = l.Close()
	}
}

// portOf is the port of a TCP listener.
func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// resolveTime is how long the name of --listen may take to be resolved.
const resolveTime = 10 * time.Second

// addressesOf are the addresses of a host, each once, version 4 first. localhost is the loopback addresses that
// the machine has, whatever resolves it (RFC 6761, 6.3).
func addressesOf(host string) ([]string, error) {
	if host == "" || net.ParseIP(host) != nil {
		return []string{host}, nil
	}
	if strings.EqualFold(host, "localhost") {
		l, err := net.Listen("tcp6", "[::1]:0")
		if err != nil {
			return []string{"127.0.0.1"}, nil
		}
		return []string{"127.0.0.1", "::1"}, l.Close()
	}
	ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
	defer cancel()
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var list []string
	slices.SortStableFunc(found, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() })
	for _, ip := range found {
		if text := ip.Unmap().String(); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list, nil
}
