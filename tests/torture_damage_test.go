package tests

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/client"
)

// mutation is one damage to one file.
type mutation struct {
	file string // name in the terminal's directory
	at   int
	flip bool // a bit of the byte at; else the file ends there
}

func (m mutation) String() string {
	if m.flip {
		return fmt.Sprintf("%s with a flipped bit in byte %d", m.file, m.at)
	}
	return fmt.Sprintf("%s cut at %d", m.file, m.at)
}

// apply damages the file in dir; false when the file is shorter, or not there: a busy server may have written one
// snapshot more of one terminal than of another.
func (m mutation) apply(t *testing.T, dir string) bool {
	t.Helper()
	path := filepath.Join(dir, m.file)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if m.at >= len(b) {
		return false
	}
	if m.flip {
		b[m.at] ^= 1 << (m.at % 8)
	} else {
		b = b[:m.at]
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return true
}

// mutations are all of them, or every step-th, for the files of a terminal.
func mutations(t *testing.T, dir string, step int) (list []mutation) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for at := range b {
			for _, flip := range []bool{false, true} {
				if count++; count%step == 0 {
					list = append(list, mutation{e.Name(), at, flip})
				}
			}
		}
	}
	return list
}

// specimen is what an undamaged terminal says of itself.
type specimen struct {
	info   map[string]any
	screen string // ANSI
	output string // the raw recording, "" when the other one says that it is damaged
}

// specimen looks at a terminal; ok is false when the server does not know it.
func (s *server) specimen(id string) (p specimen, damage string, ok bool) {
	s.t.Helper()
	r := s.get("/pty/" + id + "/snapshot?format=ansi")
	if r.status == 404 {
		return p, "", false
	}
	var shot struct{ Data string }
	r.wants(200).into(&shot)
	p.screen = shot.Data
	if cast := s.get("/pty/" + id + "/recording?format=asciicast-v3"); !strings.Contains(cast.body,
		"damaged from here") {
		p.output = s.get("/pty/" + id + "/recording?format=raw").body
	}
	s.get("/pty/" + id).wants(200).into(&p.info)
	damage, _ = p.info["damage"].(string)
	for _, live := range []string{"damage", "memory_bytes", "journal_bytes", "viewers"} {
		delete(p.info, live)
	}
	return p, damage, true
}

// stateOnDisk makes a data directory with that many equal terminals whose programs
// are gone. Each has a record, two snapshots, and a journal that goes on after
// them.
func stateOnDisk(t *testing.T, terminals int) (dir string, ids []string) {
	t.Helper()
	s := start(t, launch{listen: freePort(t), flags: []string{"--snapshot-interval", "1h"}})
	for range terminals {
		ids = append(ids, s.create("bash", "-c",
			`printf '\e]2;title\aone \e[1;31mred\e[0m \xe6\xbc\xa2\n'; read; printf 'two\e[4m'; read; printf `+
				`'\e[5Cthree\n'; read`).ID)
	}
	for round, text := range []string{"^one red 漢$", "^two$", "three$"} {
		for _, id := range ids {
			s.await(id, text)
			if round == 1 {
				s.must(s.Resize(s.ctx(), id, 60, 10))
			}
			if round < 2 {
				s.input(id, "\n")
			}
		}
		if round < 2 {
			s.stop() // writes a snapshot of what has changed
			s.again()
		}
	}
	for _, id := range ids {
		s.await(id, "three$")
	}
	s.reboot()
	s.again() // notes the loss
	s.stop()
	return s.how.dir, ids
}

// TestTortureDamage: every file of a small state cut at every offset and with a
// bit flipped in every byte. The server starts, other terminals are untouched, and
// what is not as it was says so.
func TestTortureDamage(t *testing.T) {
	t.Parallel()
	dir, ids := stateOnDisk(t, times(40, 250))
	whole, damaged := ids[0], ids[1:]
	step := 97
	if full() {
		step = 1
	}
	list := mutations(t, filepath.Join(dir, "terminals", ids[0]), step)
	want := undamaged(t, dir, ids)
	tried, gone, said, starts := 0, 0, 0, 0
	for batch := range slices.Chunk(list, len(damaged)) {
		state := copyState(t, dir)
		applied := map[string]mutation{}
		for i, m := range batch {
			if m.apply(t, filepath.Join(state, "terminals", damaged[i])) {
				applied[damaged[i]] = m
			}
		}
		s := start(t, launch{dir: state, errors: true})
		starts++
		for id, m := range applied {
			tried++
			is, damage, found := s.specimen(id)
			switch {
			case !found:
				gone++
				if !strings.Contains(s.stderr.String(), id) {
					t.Errorf("%v: the terminal is gone and the log does not say so", m)
				}
			case damage != "":
				said++
				if strings.HasPrefix(m.file, "screen.") && is.screen != want[id].screen {
					t.Errorf("%v: the older snapshot and the journal do not make the screen: %q, want %q", m, is.screen,
						want[id].screen)
				}
			default:
				if diff := want[id].differs(is); diff != "" {
					t.Errorf("%v: no damage is said, but %s", m, diff)
				}
			}
			s.noFailure(id, m)
		}
		if is, damage, found := s.specimen(whole); !found || damage != "" || want[whole].differs(is) != "" {
			t.Errorf("the undamaged one: %v %q %s", found, damage, want[whole].differs(is))
		}
		s.finish()
		if t.Failed() {
			return
		}
		_ = os.RemoveAll(state)
	}
	figure(t, "%d damages (each file cut and bit-flipped, every %d. of them): %d starts, no panic, others "+
		"untouched; %d terminals said so, %d were unreadable and are named in the log, %d did not matter",
		tried, step, starts, said, gone, tried-said-gone)
}

// copyState copies a data directory that nobody uses.
func copyState(t *testing.T, dir string) (to string) {
	t.Helper()
	to = filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	// Not what belongs to the keeper, which may be on its way out.
	if out, err := exec.Command("cp", "-a", filepath.Join(dir, "terminals"), to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return to
}

// undamaged is what each terminal is without damage.
func undamaged(t *testing.T, dir string, ids []string) map[string]specimen {
	t.Helper()
	s := start(t, launch{dir: copyState(t, dir)})
	all := map[string]specimen{}
	for _, id := range ids {
		p, damage, found := s.specimen(id)
		if !found || damage != "" || !strings.Contains(s.text(id), "three") {
			t.Fatalf("before any damage: %v %q\n%s", found, damage, s.text(id))
		}
		all[id] = p
	}
	s.finish()
	return all
}

// differs says in what two differ, "" when they do not.
func (p specimen) differs(o specimen) string {
	for name, v := range p.info {
		if !reflect.DeepEqual(v, o.info[name]) {
			return fmt.Sprintf("%s was %v and is %v", name, v, o.info[name])
		}
	}
	if o.output != "" && p.output != o.output {
		return fmt.Sprintf("the output was %q and is %q", p.output, o.output)
	}
	if p.screen != o.screen {
		return fmt.Sprintf("the screen was %q and is %q", p.screen, o.screen)
	}
	return ""
}

// noFailure asks for all that is made of the damaged files: whatever the answer is,
// the server is not at fault.
func (s *server) noFailure(id string, m mutation) {
	s.t.Helper()
	for _, path := range []string{"/recording?format=raw", "/recording?format=asciicast-v3", "/snapshot?format=json",
		"/stream?since=3"} {
		r := s.get("/pty/" + id + path)
		if r.status >= 500 {
			s.t.Errorf("%v: GET %s: %d %s", m, path, r.status, clip(r.body))
		}
		if path == "/recording?format=asciicast-v3" && r.status == 200 {
			for line := range strings.Lines(r.body) {
				if !strings.HasPrefix(line, "#") && !json.Valid([]byte(line)) {
					s.t.Errorf("%v: the recording has the line %q", m, line)
				}
			}
		}
	}
}

// TestDamageUnderRunningPrograms: the files of terminals are damaged while their
// programs run and no server does. No program may be lost by that.
func TestDamageUnderRunningPrograms(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: often, errors: true})
	const terminals = 24
	var all []client.Terminal
	for range terminals {
		all = append(all, s.create("bash", "-c", "echo one; while read -r line; do echo \"got $line\"; done"))
	}
	for _, i := range all {
		s.await(i.ID, "^one$")
		s.input(i.ID, "two\n")
		s.await(i.ID, "^got two$")
	}
	var settled sync.WaitGroup
	for _, i := range all {
		settled.Go(func() { s.settled(i.ID) })
	}
	settled.Wait()
	s.kill()
	list := mutations(t, s.file("terminals", all[0].ID), 1)
	list = slices.DeleteFunc(list, func(m mutation) bool { return m.file == "meta" })
	for n, i := range all[1:] {
		m := list[(n+1)*len(list)/terminals]
		if files, _ := filepath.Glob(s.file("terminals", i.ID, m.file)); len(files) == 1 {
			m.apply(t, s.file("terminals", i.ID))
		} else { // another number of snapshots were made
			mutation{filepath.Base(s.snapshots(i.ID)[0]), 50, n%2 == 0}.apply(t, s.file("terminals", i.ID))
		}
	}
	s.again()
	for n, i := range all {
		is := s.info(i.ID)
		if is.State != "running" || is.PID != i.PID || !alive(i.PID) {
			t.Errorf("%+v", is)
			continue
		}
		s.input(i.ID, "three\n")
		s.await(i.ID, "^got three$")
		if n == 0 && (s.damage(i.ID) != "" ||
			!strings.Contains(s.text(i.ID), "one\ntwo\ngot two\nthree\ngot three\n")) {
			t.Errorf("the undamaged one: %q\n%s", s.damage(i.ID), s.text(i.ID))
		}
	}
	s.kill()
	s.again() // what was written over the damage is good
	for _, i := range all {
		s.input(i.ID, "four\n")
		s.await(i.ID, "^got four$")
	}
}
