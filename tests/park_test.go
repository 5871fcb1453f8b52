package tests

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// listed is a terminal as the list shows it.
func (s *server) listed(id string) (found wire.Terminal) {
	s.t.Helper()
	var list wire.TerminalList
	s.get("/pty").wants(200).into(&list)
	i := slices.IndexFunc(list.Items, func(i wire.Terminal) bool { return i.ID == id })
	if i < 0 {
		s.t.Fatalf("terminal %s is not listed", id)
	}
	return list.Items[i]
}

// whole is the screen with all cells, modes and history.
func (s *server) whole(id string) string {
	s.t.Helper()
	return s.get("/pty/" + id + "/snapshot?format=json").wants(200).body
}

// parks parks a terminal as soon as nobody watches it any more.
func (s *server) parks(id string) {
	s.t.Helper()
	eventually(s.t, "it is parked", func() bool { return s.post("/pty/"+id+"/park", "{}").status == 200 })
}

// TestPark: lists show a parked terminal and do not wake it; every look does, also under the next server after kill -9,
// and sees exactly what was there.
func TestPark(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `printf '\e]0;work\a\e[?1049h\e[1;31mred\e[?1002;1006h\e[2;5r\e[4;4Hhere'; read -r; `+
		`echo more; read -r`).ID
	s.await(id, "here")
	want := s.whole(id)
	s.parks(id)
	if n, running := s.metric("evertty_parked_ptys"), s.metric("evertty_active_ptys"); n != 1 || running != 1 {
		t.Errorf("%v of %v terminals are parked", n, running)
	}
	if s.whole(id); s.metric("evertty_parked_ptys") != 0 {
		t.Error("an awake terminal counts as parked")
	}
	for what, look := range map[string]func(){
		"snapshot": func() {},
		"stream":   func() { s.watch(sse, id).close() },
		"socket":   func() { s.watch(wsBinary, id).close() },
		"wait":     func() { s.await(id, "here") },
		"signal":   func() { s.post("/pty/"+id+"/signal", `{"signal": "CONT"}`).wants(200) },
		"kill -9":  func() { s.kill(); s.again() },
	} {
		s.parks(id)
		i := s.listed(id)
		if look(); what == "snapshot" || what == "kill -9" {
			i = s.listed(id)
			if !i.Parked {
				t.Errorf("%s: awake", what)
			}
		} else if now := s.listed(id); now.Parked {
			t.Errorf("%s does not wake it", what)
		}
		if i.Title != "work" || !i.AltScreen || i.Cols != 80 || i.MemoryBytes != 0 || i.BellCount != 0 {
			t.Errorf("before %s lists show %+v", what, i)
		}
		if got := s.whole(id); got != want {
			t.Errorf("after %s:\n%s\nwant\n%s", what, got, want)
		}
	}
	s.parks(id)
	s.input(id, "\n")
	s.await(id, "more")
	if i := s.info(id); i.Parked || i.Damage != "" {
		t.Errorf("after input: %+v", i)
	}
}

// TestParkRefusals: what is watched, has ended or does not exist, and the verb.
func TestParkRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--park-after", "1ms"}})
	id, ended := s.shell().ID, s.create("true").ID
	s.exit(ended)
	eventually(t, "it is parked by itself", func() bool { return s.listed(id).Parked })
	v := s.watch(sse, id)
	s.post("/pty/"+id+"/park", "{}").refused(409, "IN_USE", "watched")
	s.post("/pty/"+ended+"/park", "{}").refused(409, "EXITED")
	s.post("/pty/nobody/park", "{}").refused(404, "NOT_FOUND")
	v.close()
	eventually(t, "it is parked below its session", func() bool {
		return s.post("/session/"+s.info(id).Session+"/pty/"+id+"/park", "{}").status == 200
	})
	out, err := s.cli("park", id).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("the verb: %v, %s", err, out)
	}
	out, err = s.cli("ls", "--json").Output()
	var list []wire.Terminal
	if err != nil || json.Unmarshal(out, &list) != nil || !strings.Contains(string(out), `"parked"`) {
		t.Errorf("ls --json: %v %s", err, out)
	}
}
