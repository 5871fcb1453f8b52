package tests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// commandLogs is what GET …/commands/ID/logs says.
type commandLogs struct {
	Stdout, Stderr string
	Truncated      bool
	Reason         string `json:"truncated_reason"`
	Bytes          int    `json:"stdout_bytes"`
}

func (s *server) logsOf(session, id string) (l commandLogs) {
	s.t.Helper()
	s.get("/session/" + session + "/commands/" + id + "/logs").wants(200).into(&l)
	return l
}

// TestExecOutputCap: max_output_bytes cuts the reply and the stream, and not the log, also for a shell that was made
// with it.
func TestExecOutputCap(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	w := s.in("own")
	made, _ := s.newShell("own", body{"max_output_bytes": 1000})
	const text = "head -c 5000 /dev/zero | tr '\\0' x; echo end >&2; (exit 3)"
	for _, how := range []struct {
		w    *work
		more body
	}{{w, body{"max_output_bytes": 1000}}, {made, body{}}, {w, body{"max_output_bytes": 1000, "isolated": true}}} {
		b := body{"command": text}
		for k, v := range how.more {
			b[k] = v
		}
		var r struct {
			result
			Reason string `json:"truncated_reason"`
		}
		how.w.send(b).wants(200).into(&r)
		if r.ExitCode != 3 || r.Stdout != strings.Repeat("x", 1000) || r.Stderr != "end\n" || !r.Truncated ||
			r.Reason != "max_output_bytes" {
			t.Errorf("%v: code %d, %d bytes, truncated %v for %q", how.more, r.ExitCode, len(r.Stdout), r.Truncated,
				r.Reason)
		}
		if l := s.logsOf("own", r.CommandID); l.Stdout != strings.Repeat("x", 5000) || l.Stderr != "end\n" ||
			l.Truncated {
			t.Errorf("%v: the log has %d bytes, truncated %v", how.more, len(l.Stdout), l.Truncated)
		}
		events := how.w.post(how.w.at+"/exec/stream", asJSON(b)).wants(200).body
		if n := strings.Count(events, "x"); n < 1000 || n > 1100 ||
			!strings.Contains(events, `"truncated_reason":"max_output_bytes"`) {
			t.Errorf("%v: the stream has %d x: %s", how.more, n, clip(events))
		}
	}
}

// TestExecLogQuota: the logs of all commands stay within their quota. The oldest of commands that have ended go first,
// the commands stay; one that prints more than all may have goes on and is told; a later server counts the same.
func TestExecLogQuota(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--exec-log-quota", "1MiB"}})
	var ids []string
	for n := range 5 {
		w := s.in(fmt.Sprint("s", n%2))
		r := w.run("head -c 400000 /dev/zero | tr '\\0' x")
		if r.Truncated || len(r.Stdout) != 400000 {
			t.Errorf("command %d: truncated %v, %d bytes", n, r.Truncated, len(r.Stdout))
		}
		ids = append(ids, r.CommandID)
	}
	check := func() {
		t.Helper()
		for n, id := range ids {
			l := s.logsOf(fmt.Sprint("s", n%2), id)
			if gone := n < 3; l.Truncated != gone || (l.Bytes == 0) != gone || gone && l.Reason != "log_quota" {
				t.Errorf("command %d: %d bytes, truncated %v for %q", n, l.Bytes, l.Truncated, l.Reason)
			}
		}
	}
	check()
	s.stop()
	s.again()
	check()
	var r struct {
		result
		Reason string `json:"truncated_reason"`
	}
	flood := "head -c 3000000 /dev/zero | tr '\\0' x; echo over >&2; (exit 4)"
	s.in("s0").send(body{"command": flood}).wants(200).into(&r)
	if r.ExitCode != 4 || !r.Truncated || r.Reason != "log_quota" || len(r.Stdout) > 1<<20 || len(r.Stdout) < 1<<19 {
		t.Errorf("code %d, truncated %v for %q, %d bytes", r.ExitCode, r.Truncated, r.Reason, len(r.Stdout))
	}
	if r := s.in("s1").run("echo more"); r.out() != "more\n" || r.Truncated {
		t.Errorf("%+v", r)
	}
	var list struct{ Commands []client.Command }
	s.get("/session/s0/commands").wants(200).into(&list)
	if len(list.Commands) != 4 {
		t.Errorf("%d commands in the history", len(list.Commands))
	}
}

// TestExecFreesAFullDisk: on a disk that somebody has filled a command runs that frees it, and what it cannot keep is
// told, as is the disk.
func TestExecFreesAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "8m")
	s := start(t, disk.launch("--snapshot-interval", "1h"))
	w := s.in("own")
	filler := quote(disk.dir + "/filler")
	w.run("cd /; V=kept").is(0, "")
	disk.inside(s.pid(), "dd if=/dev/zero of="+filler+" bs=4k 2>/dev/null; true")
	r := w.run("head -c 1000000 /dev/zero | tr '\\0' x; ls -d /")
	if r.ExitCode != 0 || !r.Truncated {
		t.Errorf("on the full disk: %d, truncated %v, %d bytes", r.ExitCode, r.Truncated, len(r.Stdout))
	}
	var health wire.Health
	s.get("/healthz").wants(200).into(&health)
	if told := strings.Join(health.Reasons, "\n"); health.Status != "degraded" ||
		!strings.Contains(told, "the disk is full") || !strings.Contains(told, "exec shells") {
		t.Errorf("health %+v", health)
	}
	if l := s.logsOf("own", r.CommandID); !l.Truncated || l.Reason != "disk_full" {
		t.Errorf("%d bytes, truncated %v for %q", l.Bytes, l.Truncated, l.Reason)
	}
	w.run("rm "+filler).is(0, "")
	w.run("echo $V; pwd").is(0, "kept\n/\n")
	if !polling.Until(patience, func() bool {
		s.get("/healthz").wants(200).into(&health)
		return !strings.Contains(strings.Join(health.Reasons, "\n"), "exec shells")
	}) {
		t.Errorf("with space again: health %+v", health)
	}
}
