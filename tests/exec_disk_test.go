package tests

import (
	"strings"
	"testing"
)

// TestExecFullDisk. A command whose output does not fit goes on and
// the reply says that it was cut; one that cannot be started is refused at once, with
// the reason; with space again everything works.
func TestExecFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "4m")
	s := start(t, disk.launch("--snapshot-interval", "1h"))
	w := s.in("own")
	w.run("cd /; export KEPT=yes").is(0, "")
	r := w.run("head -c 20000000 /dev/zero | tr '\\0' x; echo over >&2; (exit 3)")
	if out := r.out(); r.ExitCode != 3 || !r.Truncated || len(out) >= 4<<20 || strings.Trim(out, "x") != "" {
		t.Errorf("code %d, truncated %v, %d bytes", r.ExitCode, r.Truncated, len(out))
	}
	disk.inside(s.pid(), "dd if=/dev/zero of="+quote(disk.dir+"/filler")+" bs=4k 2>/dev/null; true")
	full := w.send(body{"command": "echo alive"})
	if full.status == 200 { // what it needs was just there
		w.alive()
	} else {
		full.refused(507, "NO_SPACE", "space")
	}
	s.in("other") // may come into being, and ends with the test
	if r := s.post("/session/other/shell", `{}`); r.status != 201 {
		r.refused(507, "NO_SPACE", "space")
	}
	disk.inside(s.pid(), "rm "+quote(disk.dir+"/filler")+"; mount -o remount,size=64m "+disk.dir)
	if r := w.run("echo $KEPT; pwd"); r.out() != "yes\n/\n" {
		t.Errorf("with space again: %+v", r)
	}
	w.alive()
	s.in("fresh").alive()
}
