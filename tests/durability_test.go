package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// snapshots are the snapshot files of a terminal, newest first.
func (s *server) snapshots(id string) []string {
	s.t.Helper()
	list, err := filepath.Glob(filepath.Join(s.how.dir, "terminals", id, "screen.*"))
	s.must(err)
	number := func(file string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Ext(strings.TrimSuffix(file, ".zst")), "."))
		s.must(err)
		return n
	}
	slices.SortFunc(list, func(a, b string) int { return number(b) - number(a) })
	return list
}

// renderFile is what `evertty render` makes of a snapshot file.
func renderFile(file, format string) (string, error) {
	c := exec.Command(quick, "render", "--all", "--format", format, file)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

// rendered is the newest snapshot on disk as text, "" when there is none.
func (s *server) rendered(id string) string {
	s.t.Helper()
	for { // the one that was the newest may be gone
		list := s.snapshots(id)
		if len(list) == 0 {
			return ""
		}
		text, err := renderFile(list[0], "text")
		if err == nil {
			return text
		}
		if _, gone := os.Stat(list[0]); !os.IsNotExist(gone) {
			s.t.Fatalf("%s: %v", list[0], err)
		}
	}
}

// onDisk waits until the newest snapshot on disk matches the pattern.
func (s *server) onDisk(id, pattern string) {
	s.t.Helper()
	re := regexp.MustCompile(`(?m)` + pattern)
	eventually(s.t, "the snapshot on disk has "+pattern, func() bool { return re.MatchString(s.rendered(id)) })
}

// often makes snapshots quickly.
var often = []string{"--snapshot-interval", "50ms"}

// TestSnapshotsOnDisk: F-021. They come by themselves, are readable at any
// instant, and two are kept.
func TestSnapshotsOnDisk(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: often})
	id := s.create("bash", "-c", `printf '\e]2;a title\a\e[1;31mred\e[0m\n'; seq 5 | while read -r n; do echo "step `+
		`$n"; read -r < /dev/tty; done; echo over; read -r`).ID
	for n := 1; n <= 5; n++ {
		s.onDisk(id, fmt.Sprintf("^step %d$", n))
		eventually(t, "not more than two are kept", func() bool {
			list := s.snapshots(id)
			return len(list) == 1 || len(list) == 2
		})
		s.input(id, "\n")
	}
	s.onDisk(id, "^over$") // nothing changes any more
	var newest string
	eventually(t, "the last state is on disk, exactly", func() bool {
		shot, err := s.Snapshot(s.ctx(), id, client.ANSI, client.AllHistory)
		s.must(err)
		newest = s.snapshots(id)[0]
		ansi, err := renderFile(newest, "ansi")
		return err == nil && ansi == shot.Data
	})
	var screen screenJSON
	text, err := renderFile(newest, "json")
	s.must(err)
	if s.must(json.Unmarshal([]byte(text), &screen)); screen.Title != "a title" || screen.Lines[0].Runs[0].FG != 1.0 {
		t.Errorf("%+v", screen)
	}
	still := s.snapshots(id)
	s.get("/healthz")
	other := s.create("bash", "-c", "echo other; read").ID
	s.onDisk(other, "^other$") // at least one round has passed
	if now := s.snapshots(id); !slices.Equal(now, still) {
		t.Errorf("without a change %v became %v", still, now)
	}
	if i := s.info(id); i.JournalBytes == 0 {
		t.Errorf("journal_bytes is 0 with %v on disk", total(still))
	}
}

func total(files []string) (bytes int64) {
	for _, f := range files {
		if i, err := os.Stat(f); err == nil {
			bytes += i.Size()
		}
	}
	return bytes
}

// TestReboot: F-022. When every process is gone all terminals are there again,
// with what is known of them.
func TestReboot(t *testing.T) {
	t.Parallel()
	for _, interval := range []string{"1h", "50ms"} { // the journal alone, and snapshots with it
		t.Run("snapshots every "+interval, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{listen: freePort(t), flags: []string{"--snapshot-interval", interval}})
			dir := t.TempDir()
			running, err := s.Create(s.ctx(), "work",
				wire.CreateTerminal{Cmd: []string{"bash", "--norc"}, Cols: new(100), Rows: new(30), Cwd: "/",
					Env: map[string]string{"A": "b"}, Name: "mine"})
			s.must(err)
			id := running.ID
			s.input(id, "cd "+dir+"; printf '\\033]2;its title\\007\\033[1;32mgreen\\033[0m \\346\\274\\242\\n'; "+
				"seq 100\n")
			s.await(id, "^100$")
			full := s.create("bash", "-c", `printf '\e[?1049h\e[?1002;1006h\e[?25l\e[?2004hfull screen'; read -r`).ID
			s.await(full, "full screen")
			ended := s.create("bash", "-c", "echo it failed; exit 9").ID
			s.exit(ended)
			deleted := s.create("bash", "-c", "echo deleted; read").ID
			s.await(deleted, "^deleted$")
			s.must(s.Delete(s.ctx(), deleted, false))
			before := map[string]string{}
			for _, id := range []string{id, full, ended, deleted} {
				before[id] = s.screenOf(id)
			}
			was := s.info(id)
			s.reboot()
			for round := range 2 { // the second start finds what the first one wrote
				s.again()
				list, err := s.List(s.ctx(), "")
				s.must(err)
				if len(list) != 3 {
					t.Errorf("%d terminals are listed, want 3: %+v", len(list), list)
				}
				is := s.info(id)
				if is.State != "lost" || is.Exit == nil || is.Exit.Code != nil || is.Exit.Reason != "lost" ||
					is.Exit.Signal != "" || is.PID != 0 {
					t.Errorf("round %d: %+v %+v", round, is, is.Exit)
				}
				if is.Session != "work" || is.Name != "mine" || !slices.Equal(is.Cmd, was.Cmd) || is.Env["A"] != "b" ||
					is.Cols != 100 || is.Rows != 30 ||
					!is.CreatedAt.Equal(was.CreatedAt) || is.Title != "its title" || is.Seq != was.Seq {
					t.Errorf("round %d: it was %+v, is %+v", round, was, is)
				}
				for id, want := range before {
					if got := s.screenOf(id); got != want {
						t.Errorf("round %d: it showed\n%s\nand shows\n%s", round, want, got)
					}
				}
				if e := s.info(ended).Exit; e == nil || e.Code == nil || *e.Code != 9 || e.Reason != "exit" {
					t.Errorf("the exit of the ended one: %+v", e)
				}
				if i := s.info(deleted); i.State != "exited" || i.Exit.Reason != "killed" {
					t.Errorf("the deleted one: %+v", i)
				}
				s.lostIsHarmless(full)
				s.post("/pty/"+id+"/input", `{"data":"x"}`).refused(409, "EXITED", "lost")
				for _, kind := range transports {
					v := s.watch(kind, id)
					if exit := v.end(); exit.Code != nil || exit.Reason != "lost" ||
						!strings.Contains(v.all(), "\ngreen 漢\n") {
						t.Errorf("%s: %+v\n%s", kind, exit, v.all())
					}
				}
				if round == 0 {
					s.kill()
				}
			}
			fresh := s.shell().ID
			s.input(fresh, "echo 'fresh'\n")
			s.await(fresh, "^fresh$")
			s.must(s.Delete(s.ctx(), id, true))
			s.get("/pty/"+id).refused(404, "NOT_FOUND")
		})
	}
}

// TestTheEndIsWritten: the last screen of a program is on disk when it has ended,
// whatever the interval.
func TestTheEndIsWritten(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: []string{"--snapshot-interval", "1h"}})
	id := s.create("bash", "-c", "echo last words; exit 3").ID
	s.onDisk(id, "^last words$")
	s.exit(id)
	// The record is written after the screen.
	eventually(t, "the record says how it ended", func() bool {
		b, err := os.ReadFile(filepath.Join(s.how.dir, "terminals", id, "meta"))
		return err == nil && bytes.Contains(b, []byte(`"exited"`))
	})
	s.kill()
	s.again()
	if i := s.info(id); i.State != "exited" || i.Exit == nil || i.Exit.Code == nil || *i.Exit.Code != 3 ||
		!strings.HasPrefix(s.text(id), "last words\n") {
		t.Errorf("%+v %+v\n%s", i, i.Exit, s.text(id))
	}
}

// screenOf is what a terminal shows: text and styles of the whole history.
func (s *server) screenOf(id string) string {
	s.t.Helper()
	var screen struct {
		Lines, Scrollback []struct{ Runs []styled }
	}
	s.get("/pty/" + id + "/snapshot?format=json").wants(200).into(&screen)
	var b strings.Builder
	for _, l := range append(screen.Scrollback, screen.Lines...) {
		fmt.Fprintf(&b, "%v\n", l.Runs)
	}
	return b.String()
}

// lostIsHarmless checks that the screen of a dead program does not go on
// asking for the mouse.
func (s *server) lostIsHarmless(id string) {
	s.t.Helper()
	shot, err := s.Snapshot(s.ctx(), id, client.ANSI, 0)
	s.must(err)
	if !strings.Contains(shot.Data, "full screen") {
		s.t.Errorf("the snapshot: %q", shot.Data)
	}
	for _, mode := range []string{"1002h", "1006h", "?25l", "2004h"} {
		if strings.Contains(shot.Data, mode) {
			s.t.Errorf("the snapshot of a lost terminal sets %s: %q", mode, shot.Data)
		}
	}
}

// TestPowerCutInAFlood: whatever instant it is, what comes back is a state that
// was, and no older than what a viewer has seen.
func TestPowerCutInAFlood(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: []string{"--snapshot-interval", "5ms"}})
	for range 3 {
		f := s.flood(1000)
		v := s.watch(wsBinary, f.id)
		last := ""
		for range 5 { // new ones are being written all the time
			eventually(t, "another snapshot", func() bool {
				list := s.snapshots(f.id)
				return len(list) == 2 && list[0] != last
			})
			last = s.snapshots(f.id)[0]
		}
		before := v.seq
		v.until("some output", func() bool { return v.seq > before })
		s.reboot()
		s.again()
		i := s.info(f.id)
		shot, err := s.Snapshot(s.ctx(), f.id, client.Text, client.AllHistory)
		s.must(err)
		if got, want := strings.TrimRight(shot.Text, "\n"),
			strings.TrimRight(floodText(shot.Seq), "\n"); i.State != "lost" || shot.Seq < v.seq || got != want {
			t.Errorf("%s at %d, seen was %d, shows\n…%s\nwant\n…%s", i.State, shot.Seq, v.seq,
				got[max(0, len(got)-100):], want[max(0, len(want)-100):])
		}
		if damage := s.damage(f.id); damage != "" {
			t.Errorf("damage: %s", damage)
		}
	}
}

// damage is what the server says of a terminal's files.
func (s *server) damage(id string) string {
	s.t.Helper()
	var i struct{ Damage string }
	s.get("/pty/" + id).wants(200).into(&i)
	return i.Damage
}

// TestDamagedFiles: the older snapshot and the journal stand in for a damaged
// newer snapshot and the terminal says so; what cannot be read at all costs only
// itself.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: often, errors: true})
	one := s.create("bash", "-c", "echo older; read; echo newer; read").ID
	both, meta, whole := s.create("bash", "-c", "echo both; read; echo more; read").ID, s.create("echo", "meta").ID,
		s.create("echo", "whole").ID
	for id, first := range map[string]string{one: "older", both: "both"} {
		s.await(id, "^"+first+"$")
		s.settled(id)
		s.input(id, "\n")
	}
	s.await(one, "^newer$")
	s.await(both, "^more$")
	for _, id := range []string{one, both, meta, whole} {
		s.settled(id)
	}
	s.exit(meta)
	s.exit(whole)
	eventually(t, "two snapshots", func() bool { return len(s.snapshots(one)) == 2 && len(s.snapshots(both)) == 2 })
	s.reboot()
	spoil := func(file string, f func([]byte) []byte) {
		t.Helper()
		b, err := os.ReadFile(file)
		s.must(err)
		s.must(os.WriteFile(file, f(b), 0o600))
	}
	newest := filepath.Base(s.snapshots(one)[0])
	spoil(s.file("terminals", one, newest), func(b []byte) []byte { b[len(b)/2] ^= 0x40; return b })
	spoil(s.snapshots(both)[0], func(b []byte) []byte { return b[:len(b)/2] })
	spoil(s.snapshots(both)[1], func([]byte) []byte { return nil })
	spoil(s.file("terminals", meta, "meta"), func(b []byte) []byte { return b[:len(b)-5] })
	s.again()
	for id, want := range map[string]string{one: "older\n\nnewer", both: "both\n\nmore"} {
		if got := strings.TrimRight(s.text(id), "\n"); got != want {
			t.Errorf("with damaged snapshots:\n%s\nwant\n%s", got, want)
		}
	}
	for id, file := range map[string]string{one: newest, both: "screen."} {
		if i, damage := s.info(id), s.damage(id); i.State != "lost" || !strings.Contains(damage, file) {
			t.Errorf("%s: the damage %q does not name %s", i.State, damage, file)
		}
	}
	if i, damage := s.info(whole), s.damage(whole); i.State != "exited" || damage != "" ||
		!strings.HasPrefix(s.text(whole), "whole\n") {
		t.Errorf("the undamaged one: %+v, damage %q\n%s", i, damage, s.text(whole))
	}
	// What is left of its record is enough: only its checksum was cut off.
	if i, damage := s.info(meta), s.damage(meta); i.State != "exited" || !strings.Contains(damage, "meta") ||
		!strings.HasPrefix(s.text(meta), "meta\n") {
		t.Errorf("with a damaged record: %+v, damage %q", i, damage)
	}
	if n := s.metric("evertty_failed_recoveries_total"); n != 3 {
		t.Errorf("%v failed recoveries are counted, want 3", n)
	}
	if !strings.Contains(s.stderr.String(), meta) {
		t.Errorf("the log does not name %s:\n%s", meta, s.stderr)
	}
	s.must(s.Delete(s.ctx(), both, true))
	fresh := s.shell().ID
	s.input(fresh, "echo 'fresh'\n")
	s.await(fresh, "^fresh$")
}

// settled waits until the present screen is on disk.
func (s *server) settled(id string) {
	s.t.Helper()
	eventually(s.t, "the screen is on disk", func() bool {
		return strings.TrimRight(s.rendered(id), "\n") == strings.TrimRight(s.text(id), "\n")
	})
}

// TestPurgeLeavesNoFile: of a purged terminal nothing is on disk.
func TestPurgeLeavesNoFile(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: often})
	id := s.shell().ID
	s.settled(id)
	s.must(s.Delete(s.ctx(), id, false))
	if len(s.snapshots(id)) == 0 {
		t.Error("a deleted terminal has no last screen on disk")
	}
	s.must(s.Delete(s.ctx(), id, true))
	running := s.shell().ID // purged while it runs
	s.settled(running)
	s.must(s.Delete(s.ctx(), running, true))
	other := s.shell().ID
	s.settled(other) // at least one round of snapshots has passed
	list, err := os.ReadDir(filepath.Join(s.how.dir, "terminals"))
	s.must(err)
	if len(list) != 1 || list[0].Name() != other {
		t.Errorf("on disk are %v, want %s alone", list, other)
	}
	s.kill()
	s.again()
	s.get("/pty/"+id).refused(404, "NOT_FOUND")
	s.get("/pty/"+running).refused(404, "NOT_FOUND")
}

// TestInputIsRecordedOnlyWhenAsked: what is typed without an echo is nowhere on
// disk, unless --record-input says so.
func TestInputIsRecordedOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	const secret = "correct horse"
	for _, asked := range []bool{false, true} {
		t.Run(fmt.Sprintf("asked %v", asked), func(t *testing.T) {
			t.Parallel()
			flags := often
			if asked {
				flags = append([]string{"--record-input"}, often...)
			}
			s := start(t, launch{listen: freePort(t), flags: flags})
			id := s.create("bash", "-c", "read -rs -p 'Password: '; echo; echo thanks; read").ID
			s.await(id, "^Password:")
			s.input(id, secret+"\n")
			s.await(id, "^thanks$")
			s.settled(id)
			cast := s.get("/pty/" + id + "/recording?format=asciicast-v3").wants(200).body
			if got := strings.Contains(cast, secret); got != asked {
				t.Errorf("the recording has the input: %v\n%s", got, cast)
			}
			if asked {
				eventually(t, "the input is on disk", func() bool { return s.onDiskAnywhere(secret) })
			}
			s.reboot()
			if found := s.onDiskAnywhere(secret); found != asked {
				t.Errorf("the input is on disk: %v", found)
			}
			s.again()
			if cast := s.get("/pty/" + id + "/recording?format=asciicast-v3").wants(200).body; strings.Contains(cast,
				secret) != asked {
				t.Errorf("after a reboot:\n%s", cast)
			}
		})
	}
}

// onDiskAnywhere reports whether a file of the data directory has the text.
func (s *server) onDiskAnywhere(text string) (found bool) {
	s.t.Helper()
	s.must(filepath.WalkDir(s.how.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			found = found || err == nil && bytes.Contains(b, []byte(text))
		}
		return nil // a file that is gone again has nothing
	}))
	return found
}
