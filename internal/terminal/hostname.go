package terminal

import (
	"io"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
)

// hostnames are names of this machine, beside the one that it has now.
type hostnames []string

// maxHosts bounds how much of /etc/hosts is read, in bytes.
const maxHosts = 64 << 10

// readHostnames reads the names that the hosts file (hosts(5)) at path has for this machine: all
// of each line with the name of the machine, as `hostname -f` finds them.
func readHostnames(path string) (n hostnames) {
	self, err := os.Hostname()
	if err != nil {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxHosts)) // without the rest there are fewer names
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if slices.ContainsFunc(fields, func(name string) bool { return strings.EqualFold(name, self) }) {
			n = append(n, fields[1:]...)
		}
	}
	return n
}

// own reports whether a host means this machine: "", localhost, a loopback address, its name with
// or without the domain, and its aliases. The case does not count (RFC 1035 2.3.3), nor does percent-encoding (RFC 3986
// 3.2.2).
func (n hostnames) own(host string) bool {
	if decoded, err := url.PathUnescape(host); err == nil {
		host = decoded
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" || strings.EqualFold(host, "localhost") {
		return true
	}
	if a, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return a.IsLoopback()
	}
	self, err := os.Hostname() // it may change while the server runs
	if err != nil {
		return false
	}
	short, _, _ := strings.Cut(self, ".")
	same := func(name string) bool { return strings.EqualFold(host, name) }
	return same(self) || same(short) || slices.ContainsFunc(n, same)
}
