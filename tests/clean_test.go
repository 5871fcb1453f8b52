package tests

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/proc"
)

// gone waits until a terminal was cleaned away: its program is dead and it is not
// running any more.
func (s *server) gone(i client.Terminal) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%v was ended", i.Cmd), func() bool { return !alive(i.PID) })
	if r := s.get("/pty/" + i.ID); r.status != 404 {
		s.exit(i.ID)
		var now client.Terminal
		r.into(&now)
		if now.State == "running" && alive(now.PID) {
			s.t.Errorf("%+v", now)
		}
	}
}

func (s *server) stays(i client.Terminal) {
	s.t.Helper()
	if now := s.info(i.ID); now.State != "running" || now.PID != i.PID || !alive(i.PID) {
		s.t.Errorf("%v was ended: %+v %+v", i.Cmd, now, now.Exit)
	}
}

// cleaned is the sum of the metric that counts what was cleaned away, over its labels.
func (s *server) cleaned() (sum float64) {
	s.t.Helper()
	for line := range strings.Lines(s.get("/metrics").wants(200).body) {
		if strings.HasPrefix(line, "evertty_cleaned_total") {
			var f float64
			_, _ = fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &f)
			sum += f
		}
	}
	return sum
}

// ticking is a program that prints now and then.
const ticking = `while :; do echo tick; read -t 0.3 || :; done`

// TestIdleTerminalsAreEnded: F-024. Idle is: no viewer, no output, since the last
// viewer left.
func TestIdleTerminalsAreEnded(t *testing.T) {
	t.Parallel()
	const idle = 4 * time.Second
	s := start(t, launch{listen: freePort(t), flags: []string{"--pty-idle", idle.String()}})
	watched, left := s.create("cat"), s.create("tail", "-f", "/dev/null")
	printing := s.create("bash", "-c", ticking)
	v, w := s.watch(sse, watched.ID), s.watch(wsBinary, left.ID)
	begin := time.Now()
	never := s.create("bash", "-c", "echo never watched; read")
	s.gone(never)
	if d := time.Since(begin); d < idle {
		t.Errorf("a terminal was ended after %v", d)
	}
	s.stays(left) // it is watched
	begin = time.Now()
	w.close()
	s.gone(left)
	if d := time.Since(begin); d < idle-time.Second/10 {
		t.Errorf("a terminal was ended %v after its viewer left", d)
	}
	s.stays(watched)
	s.stays(printing)
	if n := s.cleaned(); n != 2 {
		t.Errorf("%v cleanings are counted, want 2", n)
	}
	if log := s.stderr.String(); !strings.Contains(log, never.ID) || !strings.Contains(log, left.ID) {
		t.Errorf("the log does not tell of both:\n%s", log)
	}
	v.close()
	s.gone(watched)
	s.stays(printing)
}

// TestUnattachedTerminalsAreEnded: what nobody ever looked at does not stay for ever.
func TestUnattachedTerminalsAreEnded(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--pty-unattached", "5s"}})
	attached, never := s.create("cat"), s.create("bash", "-c", ticking) // output does not count here
	s.watch(sse, attached.ID).close()
	s.gone(never)
	s.stays(attached)
	if n := s.cleaned(); n != 1 {
		t.Errorf("%v cleanings are counted, want 1", n)
	}
}

// TestMaxTerminalsOfASession: F-025.
func TestMaxTerminalsOfASession(t *testing.T) {
	t.Parallel()
	t.Run("refuse", func(t *testing.T) {
		t.Parallel()
		s := start(t, launch{listen: freePort(t), flags: []string{"--max-ptys-per-session", "2"}})
		first, second := s.create("cat"), s.create("cat")
		r := s.post("/session/test/pty", `{"cmd":["cat"]}`)
		if r.status != 429 || r.header.Get("Retry-After") == "" {
			t.Errorf("the third: %d, Retry-After %q: %s", r.status, r.header.Get("Retry-After"), r.body)
		}
		s.post("/session/other/pty", `{"cmd":["cat"]}`).wants(201)
		s.stays(first)
		s.stays(second)
		s.kill()
		s.again() // what came back counts too
		if r := s.post("/session/test/pty", `{"cmd":["cat"]}`); r.status != 429 {
			t.Errorf("the third after a restart: %d %s", r.status, r.body)
		}
		s.must(s.Delete(s.ctx(), first.ID, false))
		s.post("/session/test/pty", `{"cmd":["true"]}`).wants(201)
		eventually(t, "an ended one does not count", func() bool {
			return s.post("/session/test/pty", `{"cmd":["cat"]}`).status == 201
		})
	})
	t.Run("oldest", func(t *testing.T) {
		t.Parallel()
		s := start(t, launch{flags: []string{"--max-ptys-per-session", "2", "--max-ptys-policy", "oldest"}})
		first, second := s.create("cat"), s.create("cat")
		third := s.create("cat")
		s.gone(first)
		s.stays(second)
		s.stays(third)
		if n := s.cleaned(); n != 1 {
			t.Errorf("%v cleanings are counted, want 1", n)
		}
	})
}

// sizes are the bytes on disk of files of the terminals with that beginning.
func (s *server) sizes(prefix string) (bytes int64) {
	s.t.Helper()
	_ = filepath.WalkDir(s.file("terminals"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasPrefix(d.Name(), prefix) {
			if i, err := d.Info(); err == nil {
				bytes += i.Size()
			}
		}
		return nil
	})
	return bytes
}

// TestSnapshotQuota: F-026. The total stays below; old snapshots are compressed
// before any is dropped, and the oldest ended terminals go first.
func TestSnapshotQuota(t *testing.T) {
	t.Parallel()
	const quota = 400 << 10
	s := start(t, launch{listen: freePort(t), flags: append([]string{"--snapshot-quota", fmt.Sprint(quota)}, often...)})
	running := s.create("bash", "-c", "echo running; read")
	var ended []string
	for i := range 12 { // about 100 KiB each
		id := s.create("bash", "-c", fmt.Sprintf("seq -f 'number %d of line %%08.0f' 4000", i)).ID
		s.exit(id)
		ended = append(ended, id)
	}
	eventually(t, "the total is below the quota", func() bool { return s.sizes("screen.") <= quota })
	newest := ended[len(ended)-1]
	compressed, dropped := 0, 0
	for i, id := range ended {
		r := s.get("/pty/" + id + "/snapshot?format=text")
		if r.status == 404 || !strings.Contains(r.body, fmt.Sprintf("number %d of line 00004000", i)) {
			dropped++
			continue
		}
		if list, _ := filepath.Glob(s.file("terminals", id, "screen.*.zst")); len(list) > 0 {
			compressed++
		}
	}
	if compressed == 0 {
		t.Error("nothing was compressed")
	}
	if !strings.Contains(s.text(newest), "number 11 of line 00004000") {
		t.Errorf("the newest is gone; %d were compressed, %d dropped", compressed, dropped)
	}
	s.stays(running)
	s.onDisk(running.ID, "^running$")
	s.kill()
	s.again()
	if !strings.Contains(s.text(newest), "number 11 of line 00004000") || s.damage(newest) != "" {
		t.Errorf("a compressed snapshot after a restart: damage %q", s.damage(newest))
	}
	t.Logf("%d of %d compressed, %d dropped, %d bytes", compressed, len(ended), dropped, s.sizes("screen."))
}

// TestJournalQuota: of floods the newest output stays; the oldest terminals go
// first, and what is kept is exact.
func TestJournalQuota(t *testing.T) {
	t.Parallel()
	const perTerminal, quota, segment = 10 << 20, 22 << 20, 8 << 20
	// When three floods have just filled what they write to, there is nothing to drop for a moment: an error, which
	// goes.
	s := start(t, launch{errors: true, listen: freePort(t),
		flags: append([]string{"--journal-terminal-quota", fmt.Sprint(perTerminal), "--journal-quota",
			fmt.Sprint(quota)}, often...)})
	floods := []*numbered{s.numbered("plain"), s.numbered("styled"), s.numbered("plain")}
	for _, f := range floods {
		eventually(t, "much output", func() bool { return s.info(f.id).Seq > 2*perTerminal })
		f.quiet()
	}
	bound := int64(quota + segment)
	eventually(t, "the total is below the quota", func() bool { return s.sizes("data.") <= bound })
	for _, f := range floods {
		i := s.info(f.id)
		if i.JournalBytes > perTerminal+segment+1<<20 {
			t.Errorf("a journal of %d bytes", i.JournalBytes)
		}
		var r reply
		eventually(t, "a recording that no cleaning breaks off", func() (whole bool) {
			r, whole = s.part(request{method: "GET", path: "/pty/" + f.id + "/recording?format=raw"})
			return whole
		})
		if r.status == 200 && uint64(len(r.body)) < i.Seq &&
			!bytes.HasSuffix(f.kind.output(i.Seq-uint64(len(r.body)), i.Seq), []byte(r.body)) {
			t.Errorf("the recording without its beginning is not the end of the output")
		}
		v := &viewer{t: t, kind: sse, events: s.rawStream("/pty/"+f.id+"/stream?since=0", 0)}
		v.until("the first event", func() bool { return v.last.Kind != "" })
		if v.last.Kind != client.KindSnapshot || v.last.Reason != "connect" { // not kept: a snapshot instead
			t.Errorf("since=0 began with %s %s", v.last.Kind, v.last.Reason)
		}
		v.close()
		f.checkScreen(i.Seq)
	}
	s.reboot()
	s.again()
	for _, f := range floods {
		f.checkScreen(0)
		if d := s.damage(f.id); d != "" {
			t.Errorf("damage: %s", d)
		}
	}
}

// readFile reads a file of the data directory.
func (s *server) readFile(name ...string) []byte {
	s.t.Helper()
	b, err := os.ReadFile(s.file(name...))
	s.must(err)
	return b
}

// TestKillAll: `evertty kill --all` ends every program, and gives the deaf ones their time together.
func TestKillAll(t *testing.T) {
	t.Parallel()
	const deaf = 16
	s := start(t, launch{})
	list := []client.Terminal{s.create("cat"), s.create("cat")}
	for range deaf {
		list = append(list, s.create("bash", "-c", "trap '' HUP; echo deaf; read"))
	}
	for _, i := range list[2:] {
		s.await(i.ID, "^deaf$")
	}
	begin := time.Now()
	if e := run(t, s.cli("kill", "--all")); e.code != 0 {
		t.Errorf("%+v", e)
	}
	if took := time.Since(begin); took > deaf*proc.KillGrace/2 {
		t.Errorf("it took %v, one after the other takes %v", took, deaf*proc.KillGrace)
	}
	for _, i := range list {
		s.gone(i)
	}
}

// TestWrongDurabilitySettings: exit 2 and one line, as for every setting.
func TestWrongDurabilitySettings(t *testing.T) {
	t.Parallel()
	for args, words := range map[string][]string{
		"--sync sometimes":            {"--sync", `"sometimes"`, "none, interval", "always"},
		"--journal-quota lots":        {"--journal-quota", `"lots"`, "64MiB"},
		"--journal-terminal-quota -1": {"--journal-terminal-quota", `"-1"`},
		"--snapshot-quota 5QB":        {"--snapshot-quota", `"5QB"`},
		"--pty-idle soon":             {"--pty-idle", `"soon"`, "90s"},
		"--pty-unattached=-5s":        {"--pty-unattached", `"-5s"`},
		"--max-ptys 10001":            {"--max-ptys", `"10001"`, "0 to 10000"},
		"--max-shells -1":             {"--max-shells", `"-1"`, "0 to 1000"},
		"--max-viewers some":          {"--max-viewers", `"some"`, "0 to 100000"},
		"--max-ptys-per-session many": {"--max-ptys-per-session", `"many"`},
		"--max-ptys-policy newest":    {"--max-ptys-policy", `"newest"`, "refuse", "oldest"},
		"--keeper-idle x":             {"--keeper-idle", `"x"`},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		run(t, call(t, nil, append([]string{"serve", "--data-dir", dir}, strings.Fields(args)...)...)).refuses(t, 2,
			words...)
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the data directory was made", args)
		}
	}
}
