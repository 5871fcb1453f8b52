package service

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

// test_create_default
func TestCreateDefault(t *testing.T) {
	s := thread.NewState("/home/user")
	if s.Cwd != "/home/user" || len(s.Env) != 0 || s.Version != 0 || s.Env == nil || s.Unset == nil {
		t.Fatalf("%+v", s)
	}
}

// test_create_with_env
func TestCreateWithEnv(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{})
	env := map[string]string{"FOO": "a'b\"$c\n", "EMPTY": ""}
	r.save(l.Terminal.ID, "/", env)
	env["FOO"] = "changed after"
	got := r.status("t1").Terminal.State
	if got.Env["FOO"] != "a'b\"$c\n" || len(got.Env) != 2 {
		t.Fatalf("%+v", got)
	}
}

// test_to_json
func TestToJSON(t *testing.T) {
	b, err := json.Marshal(thread.State{Cwd: "/tmp", Env: map[string]string{"A": "1"}, Unset: []string{"B"}, Version: 3,
		At: noon})
	if want := `{"cwd":"/tmp","env_delta":{"A":"1"},"env_unset":["B"],"state_version":3,` +
		`"at":"2026-02-08T10:00:00Z"}`; err != nil || string(b) != want {
		t.Fatalf("%s %v", b, err)
	}
}

// test_from_json
func TestFromJSON(t *testing.T) {
	var s thread.State
	if err := json.Unmarshal([]byte(`{"cwd":"/tmp","env_delta":{"A":"1"},"env_unset":["C","B","B","A"],`+
		`"state_version":3}`), &s); err != nil {
		t.Fatal(err)
	}
	if want := (thread.State{Cwd: "/tmp", Env: map[string]string{"A": "1"}, Unset: []string{"B", "C"},
		Version: 3}); !reflect.DeepEqual(s, want) {
		t.Fatalf("%+v", s)
	}
}

// test_from_json_missing_fields
func TestFromJSONMissingFields(t *testing.T) {
	for _, text := range []string{`{}`, `{"cwd":"/x"}`, `{"env_delta":null,"env_unset":null}`,
		`{"version":4,"strange":[1]}`} {
		var s thread.State
		if err := json.Unmarshal([]byte(text), &s); err != nil || s.Env == nil || s.Unset == nil {
			t.Errorf("%s: %+v %v", text, s, err)
		}
		if strings.Contains(text, "version") && s.Version != 4 {
			t.Errorf("%s: version %d", text, s.Version)
		}
	}
	for _, bad := range []string{`[]`, `{"cwd":1}`, `{"cwd":"relative"}`, `{"env_delta":{"":"x"}}`,
		`{"env_delta":{"A=B":"x"}}`, `{"env_delta":{"A":"\u0000"}}`,
		`{"state_version":-1}`, `{"env_unset":["="]}`, `{"cwd":"/` + strings.Repeat("x", 4096) + `"}`} {
		s := thread.NewState("/kept")
		if err := json.Unmarshal([]byte(bad), &s); err == nil || s.Cwd != "/kept" {
			t.Errorf("%.60s: %v, %+v", bad, err, s)
		}
	}
}

// test_create_terminal
func TestCreateTerminal(t *testing.T) {
	r := newRig(t)
	want := thread.Use{Kind: thread.PTY, Terminal: "p1", Name: "build", Cmd: []string{"bash", "-l"}, Cols: 80, Rows: 24,
		Cwd: "/src"}
	got := r.open("t1", want).Terminal
	if got.ID != "p1" || got.Name != "build" || !slices.Equal(got.Cmd, want.Cmd) || got.Cols != 80 || got.Rows != 24 ||
		got.State.Cwd != "/src" || got.State.Version != 0 || !got.CreatedAt.Equal(noon) {
		t.Fatalf("%+v", got)
	}
	_, err := r.lifecycle.open(t.Context(), "t1", thread.Use{Terminal: "p2", Name: "build"})
	r.refused(err, thread.ErrConflict)
	for _, bad := range []thread.Use{{Kind: "tty"}, {Terminal: "a/b"}, {Name: " "}, {Cwd: "relative"}} {
		_, err := r.lifecycle.open(t.Context(), "t1", bad)
		r.refused(err, thread.ErrInvalid)
	}
}

// test_get_terminal_by_thread_id
func TestGetTerminalByThreadID(t *testing.T) {
	r := newRig(t)
	want := r.open("t1", thread.Use{}).Terminal
	if got := r.status("t1").Terminal; !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v\n%+v", got, want)
	}
}

// test_get_terminal_by_id
func TestGetTerminalByID(t *testing.T) {
	r := newRig(t)
	want := r.open("t1", thread.Use{}).Terminal
	got, err := r.terminal(want.ID)
	r.ok(err)
	if got.Thread != "t1" || got.ID != want.ID {
		t.Fatalf("%+v", got)
	}
}

// test_get_nonexistent_terminal
func TestGetNonexistentTerminal(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{})
	for name, err := range map[string]error{
		"Terminal": second(r.terminal("term-0")),
		"Status":   second(r.lifecycle.status(t.Context(), "t1", thread.Use{Terminal: "term-0"})),
		"Page":     second(r.page("t1", "term-0", 0)),
		"Rollback": second(r.rollback("t1", "term-0", 0)),
		"Runtime":  second(r.began("term-0", process{PID: 1})),
		"Activate": r.activate("t1", "term-0"),
		"Delete":   r.deleteTerminal("term-0"),
	} {
		r.t.Logf("%s", name)
		r.refused(err, thread.ErrNotFound)
	}
}

// test_delete_terminal
func TestDeleteTerminal(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{})
	r.save(l.Terminal.ID, "/tmp", nil)
	k := r.command(l.Terminal.ID)
	run, err := r.began(l.Terminal.ID, process{PID: 7})
	r.ok(err)
	r.refused(r.deleteTerminal(l.Terminal.ID), thread.ErrInUse)
	r.ok(r.endRuntime(run, runtimeEnd{}))
	r.ok(r.deleteTerminal(l.Terminal.ID))
	_, err = r.terminal(l.Terminal.ID)
	r.refused(err, thread.ErrNotFound)
	_, err = r.commandRow(k.ID)
	r.refused(err, thread.ErrNotFound)
	// The next use makes another one, which knows nothing of this.
	if b := r.open("t1", thread.Use{}); b.Terminal.ID == l.Terminal.ID || b.Terminal.State.Cwd != firstDir("e2b") {
		t.Fatalf("%+v", b.Terminal)
	}
	r.intact()
}

// test_list_all_terminals
func TestListAllTerminals(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"b", "a", "c"} {
		r.open("t1", thread.Use{Terminal: id})
	}
	r.open("t2", thread.Use{Terminal: "d"})
	list, err := r.page("t1", "", 0)
	r.ok(err)
	var ids []string
	for _, x := range list {
		ids = append(ids, x.ID)
	}
	if !slices.Equal(ids, []string{"b", "a", "c"}) {
		t.Fatal(ids)
	}
	_, err = r.page("nobody", "", 0)
	r.refused(err, thread.ErrNotFound)
}

// test_thread_id_unique_constraint: one default terminal for a thread, whatever else it has.
func TestThreadIDUniqueConstraint(t *testing.T) {
	r := newRig(t)
	r.open("t1", thread.Use{Terminal: "first"})
	r.open("t1", thread.Use{Terminal: "second"})
	r.open("t2", thread.Use{})
	n := 0
	r.restart(func() {
		n = r.countRows(`SELECT count(*) FROM abstract_terminals WHERE thread_id = 't1' AND terminal_id = 'first'`)
		if all := r.countRows(`SELECT count(*) FROM (SELECT thread_id FROM abstract_terminals GROUP BY thread_id ` +
			`HAVING count(*) > 1)`); all != 0 {
			t.Error("a thread has two")
		}
	})
	if n != 1 {
		t.Fatalf("%d default terminals", n)
	}
	err := r.store.Update(func(tx *sqlite.Tx) error { // a name is one terminal's too
		x, err := tx.Terminal("second")
		r.ok(err)
		x.Name = "first"
		tx.PutTerminal(x)
		return nil
	})
	r.refused(err, thread.ErrConflict)
}

// test_update_state_increments_version, test_state_version_increments
func TestUpdateStateIncrementsVersion(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{Cwd: "/home/user"}).Terminal.ID
	for i, cwd := range []string{"/", "/tmp", "/tmp", "/"} {
		want := []int64{1, 2, 2, 3}[i] // what changes nothing is no version
		if got := r.save(id, cwd, nil).State.Version; got != want {
			t.Fatalf("version %d after %d saves, want %d", got, i+1, want)
		}
	}
	if s := r.counts(); s.StateUpdates != 3 || s.StateUnchanged != 1 {
		t.Fatalf("stats %+v", s)
	}
	r.refused(r.update(func(c *change) error { return c.saved(id, inDir("x")) }), thread.ErrInvalid)
}

// test_update_state_persists_to_db
func TestUpdateStatePersistsToDB(t *testing.T) {
	r := newRig(t)
	r.save(r.open("t1", thread.Use{}).Terminal.ID, "/tmp", map[string]string{"A": "1"}, "B")
	n := 0
	r.restart(func() {
		n = r.countRows(`SELECT count(*) FROM abstract_terminals WHERE cwd = '/tmp' AND env_delta_json = ` +
			`'{"A":"1"}' AND state_version = 1`)
	})
	if n != 1 {
		t.Fatal("it is not in the file")
	}
}

// test_state_persists_across_retrieval, test_state_persists_across_runtime_instances
func TestStatePersistsAcrossRetrieval(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{})
	run, err := r.began(l.Terminal.ID, process{PID: 7})
	r.ok(err)
	want := r.save(l.Terminal.ID, "/tmp", map[string]string{"A": "1"})
	r.ok(r.endRuntime(run, runtimeEnd{signal: "SIGKILL"}))
	r.restart()
	again, err := r.began(l.Terminal.ID, process{PID: 8})
	r.ok(err)
	if got := r.status("t1").Terminal; !reflect.DeepEqual(got, want) || again.Generation != 2 {
		t.Fatalf("%+v\n%+v", got, want)
	}
}

// test_multiple_state_updates
func TestMultipleStateUpdates(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			if err := r.update(func(c *change) error { return c.saved(id, inDir(fmt.Sprintf("/%d", i))) }); err != nil {
				t.Errorf("save %d: %v", i, err)
			}
		})
	}
	all.Wait()
	list, err := r.history(id)
	r.ok(err)
	if len(list) != 101 || list[0].Version != 100 {
		t.Fatalf("%d versions, the newest is %d", len(list), list[0].Version)
	}
	seen := map[string]bool{}
	for i, s := range list {
		if s.Version != int64(100-i) || seen[s.Cwd] {
			t.Fatalf("version %d: %+v", 100-i, s)
		}
		seen[s.Cwd] = true
	}
}

// test_full_lifecycle
func TestFullLifecycleTerminal(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{Cwd: "/a"}).Terminal.ID
	r.save(id, "/b", map[string]string{"X": "1"}, "U")
	r.save(id, "/c", nil)
	back, err := r.rollback("t1", id, 1)
	r.ok(err)
	if s := back.State; s.Version != 3 || s.Cwd != "/b" || !maps.Equal(s.Env, map[string]string{"X": "1"}) ||
		!slices.Equal(s.Unset, []string{"U"}) {
		t.Fatalf("%+v", s)
	}
	r.refused(second(r.rollback("t1", id, 9)), thread.ErrNotFound)
	list, err := r.history(id)
	r.ok(err)
	var dirs []string
	for _, s := range list {
		dirs = append(dirs, s.Cwd)
	}
	if !slices.Equal(dirs, []string{"/b", "/c", "/b", "/a"}) {
		t.Fatal(dirs)
	}
	r.ok(r.deleteTerminal(id))
}

// test_multiple_terminals_different_leases
func TestMultipleTerminalsDifferentLeases(t *testing.T) {
	r := newRig(t)
	a := r.open("t1", thread.Use{Terminal: "a"})
	other := r.newLease("daytona").ID
	b := r.open("t1", thread.Use{Terminal: "b", Lease: other})
	if b.Lease.ID != other || b.Lease.Provider != "daytona" || a.Lease.ID == other || b.Session.ID != a.Session.ID {
		t.Fatalf("%+v\n%+v", a, b)
	}
	r.ok(r.lifecycle.pause(t.Context(), "t1")) // pauses both
	if n := r.cloud.count("pause"); n != 2 {
		t.Fatalf("%d pauses", n)
	}
	r.open("t1", thread.Use{})
	if n := r.cloud.count("resume"); n != 2 {
		t.Fatalf("%d resumes", n)
	}
}

// test_state_isolation_between_terminals
func TestStateIsolationBetweenTerminals(t *testing.T) {
	r := newRig(t)
	a, b := r.open("t1", thread.Use{Terminal: "a"}), r.open("t1", thread.Use{Terminal: "b"})
	r.save(a.Terminal.ID, "/a", map[string]string{"A": "1"})
	got, err := r.terminal(b.Terminal.ID)
	r.ok(err)
	if got.State.Cwd != firstDir("e2b") || len(got.State.Env) != 0 || got.State.Version != 0 {
		t.Fatalf("%+v", got.State)
	}
}

func TestSaveCwd(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	r.save(id, "/a", map[string]string{"A": "1"}, "U")
	to := func(dir string) error { return r.update(func(c *change) error { return c.saved(id, inDir(dir)) }) }
	for range 2 { // the second changes nothing
		r.ok(to("/b"))
		x, err := r.terminal(id)
		r.ok(err)
		if x.State.Cwd != "/b" || x.State.Env["A"] != "1" || !slices.Equal(x.State.Unset, []string{"U"}) ||
			x.State.Version != 2 {
			t.Fatalf("%+v", x.State)
		}
	}
	r.refused(to("relative"), thread.ErrInvalid)
}

// Bytes that are no text come back as they were, and are no new version each time.
func TestStateOfBytes(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	want := map[string]string{"B": "\xff\x01\n", "T": "tëxt", "E": ""}
	r.save(id, "/\xfe", map[string]string{"B": want["B"], "T": want["T"], "E": "", "\xff": "dropped"}, "\xfe")
	r.restart()
	x := r.save(id, "/\xfe", want)
	if x.State.Version != 1 || x.State.Cwd != "/\xfe" || !maps.Equal(x.State.Env, want) || len(x.State.Unset) != 0 {
		t.Fatalf("%+v", x.State)
	}
	k := thread.Command{ID: "c", Terminal: id, Line: "printf '\xff'", Cwd: "/\xfe", Env: want,
		Status: thread.CommandRunning}
	got := r.begin(k)
	if got.Line != k.Line || got.Cwd != k.Cwd || !maps.Equal(got.Env, want) {
		t.Fatalf("%+v", got)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	r := newRig(t)
	id := r.open("t1", thread.Use{}).Terminal.ID
	r.raw(`WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1000)
		INSERT INTO terminal_states SELECT ?, v, '/', '{}', '[]', NULL FROM n`, id)
	r.raw(`UPDATE terminals SET state_version = 1000`)
	for i := range 130 {
		r.save(id, fmt.Sprintf("/%d", i), nil)
	}
	list, err := r.history(id)
	r.ok(err)
	if n := list[len(list)-1].Version; len(list) != 1000 || n != 131 || r.countStates(id) > 1064 {
		t.Fatalf("%d versions from %d, %d in the file", len(list), n, r.countStates(id))
	}
	if s := r.counts(); s.StateTooOften != 1 {
		t.Fatalf("told %d times that this is too often", s.StateTooOften)
	}
}

func (r *rig) countStates(id string) int {
	return r.countRows(`SELECT count(*) FROM terminal_states WHERE terminal_id = '` + id + `'`)
}

// What is read from outside never becomes a state that cannot be written and read again.
func FuzzStateJSON(f *testing.F) {
	for _, s := range []string{`{}`,
		`{"cwd":"/tmp","env_delta":{"A":"1"},"env_unset":["B"],"state_version":3,"at":"2026-02-08T10:00:00Z"}`,
		`{"version":1}`, `{"env_delta":{"A":"\ud800"}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s, again thread.State
		if json.Unmarshal(b, &s) != nil {
			return
		}
		out, err := json.Marshal(s)
		if err != nil {
			return // a year beyond 9999
		}
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if !again.Same(s) || again.Version != s.Version {
			t.Fatalf("%+v\n%+v", s, again)
		}
	})
}

func FuzzPolicyJSON(f *testing.F) {
	for _, s := range []string{`{}`, `{"idle_seconds":1800,"max_seconds":86400}`,
		`{"idle_seconds":0.5,"budget":{"cpu_seconds":1}}`, `{"max_seconds":1e308}`, `null`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := thread.DefaultPolicy()
		if json.Unmarshal(b, &p) != nil {
			if p != thread.DefaultPolicy() {
				t.Fatalf("refused, but changed to %+v", p)
			}
			return
		}
		out, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var again thread.Policy
		if err := json.Unmarshal(out, &again); err != nil || again != p {
			t.Fatalf("%s: %+v, was %+v: %v", out, again, p, err)
		}
	})
}

func FuzzParseObserved(f *testing.F) {
	for _, w := range []string{"running", "STOPPED", " paused ", "detached", "", "\xff"} {
		f.Add(w)
	}
	f.Fuzz(func(t *testing.T, word string) {
		o, err := thread.ParseObserved(word)
		if err == nil {
			if again, err := thread.ParseObserved(string(o)); err != nil || again != o {
				t.Fatalf("%q is %s, which is %s", word, o, again)
			}
		} else if o != thread.Unknown {
			t.Fatalf("%q is no state, but %s", word, o)
		}
	})
}
