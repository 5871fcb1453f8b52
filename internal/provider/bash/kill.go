package bash

import (
	"fmt"
	"time"
)

// KillTimeout bounds the killing of a command's processes.
const KillTimeout = 15 * time.Second

// TagVariable is the environment variable by which the processes of an instance are found, in
// whatever session: its value is NAME.RANDOM.
const TagVariable = "EVERTTY_RUN"

// KillScript is a script that kills the processes whose environment has a line of a pattern, and a
// process group. It repeats until it finds none.
func KillScript(pattern, group string) string {
	also := ""
	if group != "" {
		also = "kill -KILL -- -" + group + " 2>/dev/null\n"
	}
	return fmt.Sprintf(`p() { grep -lszE '%s' /proc/[0-9]*/environ 2>/dev/null | sed 's,/proc/,,;s,/environ,,'; }
l=$(p); [ -z "$l" ] || { kill -STOP $l; kill -TERM $l; kill -CONT $l; } 2>/dev/null
n=0; while l=$(p); [ -n "$l" ] && [ $n -lt 10 ]; do sleep 0.05; n=$((n+1)); done
n=0; while l=$(p); [ -n "$l" ] && [ $n -lt 100 ]; do kill -KILL $l 2>/dev/null; n=$((n+1)); done
%s`, pattern, also)
}
