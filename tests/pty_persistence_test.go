package tests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// The scenarios of the persistence guide this project began with
// (pty-persistence.test.ts), over the real binary. The comments have the guide's
// names. Where the guide slept, these wait for the output itself: a pattern with
// ^ and $ is matched by what a command printed and not by its echo.

// pty-persistence.test.ts: "should persist terminal state in snapshot"
func TestR244PersistsTerminalStateInSnapshot(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	for _, line := range []string{"Line 1", "Line 2", "Line 3"} {
		s.input(id, fmt.Sprintf("echo %q\n", line))
		s.await(id, "^"+line+"$")
	}
	var shot struct{ Data string }
	s.get("/session/test/pty/" + id + "/snapshot").wants(200).into(&shot)
	rendered := render(t, shot.Data, "text")
	at := -1
	for _, line := range []string{"Line 1", "Line 2", "Line 3"} {
		i := slices.Index(strings.Split(rendered, "\n"), line)
		if i <= at {
			t.Errorf("%q is in row %d, after row %d, of\n%s", line, i, at, rendered)
		}
		at = i
	}
}

// pty-persistence.test.ts: "Multiple clients get same snapshot"
func TestR245MultipleClientsGetSameSnapshot(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	s.input(id, "printf '\\033[1;32mgreen\\033[0m \\346\\274\\242\\n'\n")
	s.await(id, `^green 漢\n.*[$#]$`) // the prompt too
	s.resting(id)
	var first string
	for range 3 {
		body := s.get("/pty/" + id + "/snapshot").wants(200).body
		if first == "" {
			first = body
		}
		if body != first {
			t.Errorf("two snapshots of one screen differ:\n%s\n%s", first, body)
		}
	}
	var ansi struct {
		Data string
		Seq  uint64
	}
	s.get("/pty/" + id + "/snapshot").into(&ansi)
	for _, kind := range slices.Repeat(transports, 2) {
		v := s.watch(kind, id)
		if string(v.first.Data) != ansi.Data || v.first.Seq != ansi.Seq {
			t.Errorf("%s: the event at %d differs from the snapshot at %d:\n%q\n%q", kind, v.first.Seq, ansi.Seq,
				v.first.Data, ansi.Data)
		}
	}
}

// pty-persistence.test.ts: "Instant recovery via SSE snapshot event"
func TestR246RecoversInstantlyViaSSESnapshotEvent(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	s.input(id, "echo recovered\n")
	s.await(id, "^recovered$")
	v := s.watch(sse, id)
	if v.first.Reason != "connect" || v.first.Cols != 80 || v.first.Rows != 24 || v.first.Unicode != "11" ||
		v.first.Seq == 0 {
		t.Errorf("%+v", v.first)
	}
	if !strings.Contains(v.screen(), "\nrecovered\n") {
		t.Errorf("the first event does not show the output:\n%s", v.screen())
	}
	s.input(id, "echo incremental\n")
	v.sees("\nincremental\n")
	if len(v.shots) != 1 {
		t.Errorf("later output came as snapshots: %v", v.shots)
	}
}

// pty-persistence.test.ts: "Scrollback buffer preservation (5000 lines)"
func TestR247PreservesScrollbackOf5000Lines(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	// 23 lines and the cursor's are on the screen, 5000 above it.
	const printed, kept = 6000, 5000 + 23
	id := s.create("bash", "-c", fmt.Sprintf("seq -f 'line %%05g' %d; read", printed)).ID
	s.await(id, fmt.Sprintf("^line %05d$", printed))
	var want strings.Builder
	for i := printed - kept + 1; i <= printed; i++ {
		fmt.Fprintf(&want, "line %05d\n", i)
	}
	if got := s.text(id); strings.TrimRight(got, "\n") != strings.TrimRight(want.String(), "\n") {
		t.Errorf("the history is not the last %d lines; it has %d from %.10q to %q", kept, strings.Count(got, "\n"),
			got, got[max(0, len(got)-12):])
	}
	for _, kind := range transports {
		if v := s.watch(kind, id); strings.TrimRight(v.all(), "\n") != strings.TrimRight(want.String(), "\n") {
			t.Errorf("%s: the snapshot does not rebuild the history", kind)
		}
	}
	last, err := s.Snapshot(s.ctx(), id, client.Text, 10)
	s.must(err)
	if lines := strings.Split(strings.TrimRight(last.Text, "\n"), "\n"); len(lines) != 33 ||
		lines[0] != fmt.Sprintf("line %05d", printed-32) {
		t.Errorf("10 lines of history and the screen: %d lines from %q", len(lines), lines[0])
	}
}

// pty-persistence.test.ts: "ANSI formatting preservation"
func TestR248PreservesFormatting(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `printf '\e[1;3;4;31mstyled\e[0m \e[38;5;208;48;2;1;2;3mcolours\e[0m `+
		`\e[7minverse\e[0m\r\nplain'; read`).ID
	s.await(id, "^plain$")
	var ansi struct{ Data string }
	s.get("/pty/" + id + "/snapshot").into(&ansi)
	there, rebuilt := screenJSON{}, screenJSON{}
	s.get("/pty/" + id + "/snapshot?format=json").into(&there)
	s.must(json.Unmarshal([]byte(render(t, ansi.Data, "json")), &rebuilt))
	if a, b := fmt.Sprint(there.Lines), fmt.Sprint(rebuilt.Lines); a != b || there.Cursor != rebuilt.Cursor {
		t.Errorf("the snapshot rebuilds\n%s %+v\nfrom\n%s %+v", b, rebuilt.Cursor, a, there.Cursor)
	}
	runs := there.Lines[0].Runs
	find := func(text string) styled {
		i := slices.IndexFunc(runs, func(r styled) bool { return r.Text == text })
		if i < 0 {
			t.Fatalf("no run %q in %+v", text, runs)
		}
		return runs[i]
	}
	r := find("styled")
	slices.Sort(r.Attrs)
	if fmt.Sprintf("%v %v", r.FG, r.BG) != "1 <nil>" || !slices.Contains(r.Attrs, "bold") {
		t.Errorf("%+v", r)
	}
	if r = find("colours"); fmt.Sprintf("%v %v", r.FG, r.BG) != "208 #010203" || len(r.Attrs) != 0 {
		t.Errorf("%+v", r)
	}
	if r = find("inverse"); !slices.Contains(r.Attrs, "inverse") {
		t.Errorf("%+v", r)
	}
}

// pty-persistence.test.ts: "Empty snapshot for new PTY"
func TestR249GivesAnEmptySnapshotForANewPTY(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("sleep", "1000").ID
	var shot struct {
		Data       *string
		Cols, Rows int
		Seq        *uint64
	}
	s.get("/session/test/pty/" + id + "/snapshot").wants(200).into(&shot)
	if shot.Data == nil || shot.Cols != 80 || shot.Rows != 24 || shot.Seq == nil || *shot.Seq != 0 {
		t.Fatalf("%+v", shot)
	}
	if text := render(t, *shot.Data, "text"); strings.TrimSpace(text) != "" {
		t.Errorf("a new terminal shows %q", text)
	}
	v := s.watch(sse, id)
	if strings.TrimSpace(v.all()) != "" {
		t.Errorf("a new terminal shows\n%s", v.all())
	}
}

// pty-persistence.test.ts: "should allow client to disconnect and reconnect"
func TestR250AllowsClientToDisconnectAndReconnect(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	for _, kind := range transports {
		s.watch(kind, id).close()
		s.input(id, "echo 'Missed' output by "+strings.Fields(string(kind))[0]+"\n")
		s.await(id, "^Missed output by "+strings.Fields(string(kind))[0]+"$")
		v := s.watch(kind, id)
		if !strings.Contains(v.screen(), "\nMissed output by "+strings.Fields(string(kind))[0]+"\n") {
			t.Errorf("%s: reason %s, screen\n%s", kind, v.first.Reason, v.screen())
		}
		v.close()
	}
}

// pty-persistence.test.ts: "Multiple sequential reconnections"
func TestR251SurvivesSequentialReconnections(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	for i := range 5 {
		v := s.watch(transports[i%len(transports)], id)
		for before := range i {
			if !strings.Contains(v.screen(), fmt.Sprintf("\nround %d\n", before)) {
				t.Errorf("connection %d does not show round %d:\n%s", i, before, v.screen())
			}
		}
		s.input(id, fmt.Sprintf("echo 'round' %d\n", i))
		v.sees(fmt.Sprintf("\nround %d\n", i))
		v.close()
	}
	if n := s.metric("evertty_reconnects_total"); n != 4 {
		t.Errorf("%v reconnects were counted, want 4", n)
	}
}

// pty-persistence.test.ts: "PTY state maintained across disconnections"
func TestR252MaintainsPTYStateAcrossDisconnections(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	v := s.watch(sse, id)
	s.input(id, "TEST_VAR=kept; f() { echo \"function $1\"; }; echo 'set'\n")
	v.sees("\nset\n")
	v.close()
	v = s.watch(sse, id)
	s.input(id, "echo \"variable $TEST_VAR\"; f works; echo \"shell $$\"\n")
	v.sees("\nvariable kept\nfunction works\nshell " + fmt.Sprint(s.info(id).PID) + "\n")
}

// pty-persistence.test.ts: "Multiple concurrent clients with disconnections"
func TestR253ServesConcurrentClientsWithDisconnections(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	a, b, c := s.watch(sse, id), s.watch(wsJSON, id), s.watch(wsBinary, id)
	s.input(id, "echo 'for' all\n")
	for _, v := range []*viewer{a, b, c} {
		v.sees("\nfor all\n")
	}
	b.close()
	s.input(id, "echo 'while' away\n")
	a.sees("\nwhile away\n")
	c.sees("\nwhile away\n")
	b = s.watch(wsJSON, id)
	s.input(id, "echo 'together' again\n")
	for _, v := range []*viewer{a, b, c} {
		v.sees("\ntogether again\n")
	}
	s.await(id, `^together again\n.*[$#]$`)
	shot, err := s.Snapshot(s.ctx(), id, client.Text, 0)
	s.must(err)
	for _, v := range []*viewer{a, b, c} {
		v.until("all output", func() bool { return v.seq == shot.Seq })
		if strings.TrimRight(v.screen(), "\n") != strings.TrimRight(shot.Text, "\n") {
			t.Errorf("%s shows\n%s\nnot\n%s", v.kind, v.screen(), shot.Text)
		}
	}
}

// pty-persistence.test.ts: "Resume with full command history"
func TestR254ResumesWithFullCommandHistory(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	v := s.watch(sse, id)
	for i := range 4 {
		s.input(id, fmt.Sprintf("echo 'command' %d\n", i))
		v.sees(fmt.Sprintf("\ncommand %d\n", i))
	}
	v.close()
	v = s.watch(sse, id)
	for i := range 4 {
		if !strings.Contains(v.screen(), fmt.Sprintf("echo 'command' %d\ncommand %d\n", i, i)) {
			t.Errorf("command %d and its output are missing:\n%s", i, v.screen())
		}
	}
	s.input(id, "history | grep -c \"echo 'command' [0-3]\"\n")
	v.sees("\n4\n")
	_, err := s.Keys(s.ctx(), id, "Up", "Up", "Enter")
	s.must(err) // the shell's own history, by the arrow keys
	v.until("the command ran again", func() bool { return strings.Count(v.screen(), "\ncommand 3\n") == 2 })
}

// pty-persistence.test.ts: "should preserve working directory across disconnections"
func TestR255PreservesWorkingDirectoryAcrossDisconnections(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.createWith(wire.CreateTerminal{Cols: new(300), Rows: new(24)}).ID // as wide as a path may be
	s.await(id, `[$#]$`)
	dir := t.TempDir()
	s.watch(sse, id).close()
	s.input(id, "cd "+dir+"\n")
	s.watch(sse, id).close()
	s.input(id, "pwd\n")
	s.await(id, "^"+regexp.QuoteMeta(dir)+"$")
	if cwd := s.info(id).Cwd; cwd != dir {
		t.Errorf("cwd %q, want %q", cwd, dir)
	}
}

// pty-persistence.test.ts: "Environment variables persistence"
func TestR256PersistsEnvironmentVariables(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	i := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "-l"}, Env: map[string]string{"GIVEN": "at creation"},
		Cols: new(80), Rows: new(24)})
	if i.Env["GIVEN"] != "at creation" {
		t.Errorf("%+v", i)
	}
	v := s.watch(sse, i.ID)
	s.input(i.ID, "export EXPORTED='in the shell'; echo 'exported'\n")
	v.sees("\nexported\n")
	v.close()
	v = s.watch(wsJSON, i.ID)
	s.input(i.ID, "env | grep -E '^(GIVEN|EXPORTED|TERM|COLORTERM)=' | sort\n")
	v.sees("\nCOLORTERM=truecolor\nEXPORTED=in the shell\nGIVEN=at creation\nTERM=xterm-256color\n")
}

// pty-persistence.test.ts: "Long-running process recovery"
func TestR257RecoversALongRunningProcess(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `i=0; while read -r -t 0.05; [ $? -gt 128 ]; do i=$((i+1)); echo "iteration $i"; `+
		`done`).ID
	v := s.watch(sse, id)
	v.sees("\niteration 2\n")
	v.close()
	s.await(id, "^iteration 6$") // nobody watches
	v = s.watch(sse, id)
	if !strings.HasPrefix(v.all(), "iteration 1\niteration 2\niteration 3\niteration 4\niteration 5\niteration 6\n") {
		t.Errorf("after the reconnect:\n%s", v.all())
	}
	v.sees("\niteration 9\n")
}

// pty-persistence.test.ts: "should handle rapid connect/disconnect cycles"
func TestR258HandlesRapidConnectDisconnectCycles(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	for i := range 10 {
		s.watch(transports[i%len(transports)], id).close()
	}
	s.input(id, "echo 'still' healthy\n")
	s.await(id, "^still healthy$")
	eventually(t, "all viewers have left", func() bool { return s.info(id).Viewers == 0 })
}

// pty-persistence.test.ts: "Snapshot during heavy output"
func TestR259TakesSnapshotsDuringHeavyOutput(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", "seq -f '%08.0f' 99999999").ID
	s.await(id, `^\d{8}$`)
	numbers := regexp.MustCompile(`\d{8}`)
	last := 0
	for range 100 {
		shot, err := s.Snapshot(s.ctx(), id, client.Text, 100)
		s.must(err)
		for i, n := range numbers.FindAllString(shot.Text, -1) {
			now, err := strconv.Atoi(n)
			s.must(err)
			if i > 0 && now != last+1 {
				t.Fatalf("%d follows %d in\n%s", now, last, shot.Text)
			}
			if i == 0 && now < last-124 {
				t.Errorf("a later snapshot begins at %d, an earlier one ended at %d", now, last)
			}
			last = now
		}
		ansi, err := s.Snapshot(s.ctx(), id, client.ANSI, 0)
		s.must(err)
		if ansi.Data == "" || ansi.Seq < shot.Seq {
			t.Errorf("at %d after %d: %q", ansi.Seq, shot.Seq, ansi.Data)
		}
	}
	if last == 0 {
		t.Error("there was no output at all")
	}
	s.must(s.Delete(s.ctx(), id, false))
}

// pty-persistence.test.ts: "Snapshot across terminal resize"
func TestR260TakesSnapshotsAcrossResize(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.shell().ID
	s.input(id, "PS1='$ '; trap 'echo \"winch $(stty size)\"' WINCH; echo 'before' resize\n")
	s.await(id, "^before resize$")
	s.must(s.Resize(s.ctx(), id, 120, 40))
	s.input(id, "\n")
	s.await(id, "winch 40 120$")
	// A signal that comes in the middle of its own trap is lost.
	s.post("/pty/"+id+"/wait", `{"for":"idle","idle_ms":500}`).wants(200)
	shot, err := s.Snapshot(s.ctx(), id, client.Text, 0)
	s.must(err)
	if shot.Cols != 120 || shot.Rows != 40 || !strings.Contains(shot.Text, "\nbefore resize\n") {
		t.Errorf("%dx%d\n%s", shot.Cols, shot.Rows, shot.Text)
	}
	s.must(s.Resize(s.ctx(), id, 40, 10))
	s.input(id, "\n")
	s.await(id, "winch 10 40$")
	if v := s.watch(sse, id); v.cols != 40 || v.rows != 10 || !strings.Contains(v.all(), "\nbefore resize\n") {
		t.Errorf("%dx%d\n%s", v.cols, v.rows, v.all())
	}
}

// pty-persistence.test.ts: "Last activity tracking"
func TestR261TracksLastActivity(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", "stty -echo; echo ready; read; echo output; read; read").ID
	s.await(id, "^ready$")
	at := s.info(id)
	if at.LastActivityAt.Before(at.CreatedAt) || at.LastOutputAt.Before(at.CreatedAt) ||
		at.LastActivityAt.Location().String() != "UTC" {
		t.Errorf("created %v, activity %v, output %v", at.CreatedAt, at.LastActivityAt, at.LastOutputAt)
	}
	grows := func(what string) {
		t.Helper()
		now := s.info(id)
		if !now.LastActivityAt.After(at.LastActivityAt) {
			t.Errorf("%s: last_activity_at stays at %v", what, at.LastActivityAt)
		}
		at = now
	}
	s.input(id, "\n")
	s.await(id, "^output$")
	grows("input and output")
	s.input(id, "\n")
	grows("input")
	s.must(s.Resize(s.ctx(), id, 90, 30))
	grows("resize")
	s.text(id)
	s.watch(sse, id).close()
	if now := s.info(id); !now.LastActivityAt.Equal(at.LastActivityAt) {
		t.Errorf("looking moved last_activity_at from %v to %v", at.LastActivityAt, now.LastActivityAt)
	}
}
