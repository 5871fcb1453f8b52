//go:build unix

package strictmodes

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// isPrivate reports whether a group is the primary one of this user and has no other member, so
// that only this user may write what the group may. Debian's sshd has the same exception: every
// user has such a group there, and the umask 0002. It reads passwd(5) and group(5). A user of
// another source has no private group.
func isPrivate(gid uint32) bool {
	passwd, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return false
	}
	group, err := os.ReadFile("/etc/group")
	if err != nil {
		return false
	}
	id, uid := strconv.FormatUint(uint64(gid), 10), strconv.Itoa(os.Geteuid())
	var names []string // of this user, whose primary group it is
	for line := range strings.Lines(string(passwd)) {
		f := strings.Split(line, ":") // name, password, uid, gid
		if len(f) < 4 || f[3] != id {
			continue
		}
		if f[2] != uid {
			return false
		}
		names = append(names, f[0])
	}
	for line := range strings.Lines(string(group)) {
		f := strings.Split(strings.TrimSpace(line), ":") // name, password, gid, members
		if len(f) < 4 || f[2] != id || f[3] == "" {
			continue
		}
		for member := range strings.SplitSeq(f[3], ",") {
			if !slices.Contains(names, member) {
				return false
			}
		}
	}
	return len(names) > 0
}

// isUnmapped reports whether an owner is one that the user namespace of this process has no number
// for (user_namespaces(7)). In a container without the machine's root that is the owner of /.
func isUnmapped(uid uint32) bool {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	if err != nil || strings.TrimSpace(string(overflow)) != strconv.FormatUint(uint64(uid), 10) {
		return false
	}
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		var first, outside, count uint64
		_, err := fmt.Sscan(line, &first, &outside, &count)
		if err != nil || outside == 0 || first <= uint64(uid) && uint64(uid) < first+count {
			return false // the machine's root has a number, or a user of the namespace has this one
		}
	}
	return true
}
