//go:build linux

package strictmodes_test

import (
	"os"
	"os/user"
	"strconv"
	"strings"
	"testing"
)

// usersOf are users of /etc/passwd but root, by whether they have their primary group for themselves; at most two of
// each.
func usersOf(t *testing.T) (private, shared []account) {
	t.Helper()
	text, err := os.ReadFile("/etc/passwd")
	must(t, err)
	names, count := map[uint32]string{}, map[uint32]int{}
	var all []account
	for line := range strings.Lines(string(text)) {
		f := strings.Split(line, ":")
		if len(f) < 4 {
			continue
		}
		uid, _ := strconv.ParseUint(f[2], 10, 32)
		gid, _ := strconv.ParseUint(f[3], 10, 32)
		names[uint32(uid)] = f[0]
		count[uint32(gid)]++
		all = append(all, account{uint32(uid), uint32(gid)})
	}
	members, err := os.ReadFile("/etc/group")
	must(t, err)
	for _, u := range all {
		if u.uid == 0 {
			continue
		}
		g, err := user.LookupGroupId(strconv.Itoa(int(u.gid)))
		if err != nil {
			continue
		}
		others := count[u.gid] > 1
		for line := range strings.Lines(string(members)) {
			f := strings.Split(strings.TrimSpace(line), ":")
			others = others || len(f) == 4 && f[0] == g.Name && f[3] != "" && f[3] != names[u.uid]
		}
		if others && len(shared) < 2 {
			shared = append(shared, u)
		} else if !others && len(private) < 2 {
			private = append(private, u)
		}
	}
	return private, shared
}
