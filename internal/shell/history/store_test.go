package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/shelldir"

	"github.com/evertty/evertty/internal/confine"
)

// fullRecord is a record with something in every field.
func fullRecord(t *testing.T, h *Store) *Entry {
	t.Helper()
	id, err := h.Next()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.UTC)
	return &Entry{
		Info: Info{ID: id, Shell: "s", Command: "echo \xff <&>\n", Cwd: "/a\nb\xfe", Status: Done, PID: 7,
			Background: true, Isolated: true, PTY: "t",
			CreatedAt: at, StartedAt: at.Add(1), FinishedAt: at.Add(2), StdoutBytes: 1 << 40, StderrBytes: 3,
			Error: "no \xff",
			Result: &Result{ExitCode: 255, TimedOut: true, Cancelled: true, Background: true, Truncated: true,
				TruncatedReason: output.CutDisk, Recreated: true,
				Lost: []string{"job 1 \xff"}, ShellEnded: true, Cwd: "/c\x80", CwdFallback: "/d", Reason: "budget"}},
		Spec: Command{Isolated: true, Argv: []string{"a", "", "\xff"}, Cwd: "x\xff",
			Env:     map[string]string{"A": "\xff", "B": ""},
			Timeout: time.Second, QueueTimeout: time.Minute, StdinOpen: true, TTY: true, Background: true, MaxOutput: 9,
			MaxReply: 8, Within: "/w\xff"},
		Process: 3, Deadline: at.Add(time.Hour), PauseCounted: at.Add(time.Minute), Processes: "stage",
	}
}

// noZero fails the test when a field of a value, or of what is in it, is zero: the round trip would not show that it is
// forgotten.
func noZero(t *testing.T, path string, v reflect.Value, but ...string) {
	t.Helper()
	if slices.Contains(but, path) {
		return
	}
	if v.IsZero() {
		t.Errorf("%s is not set by the test", path)
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct && v.Type() != reflect.TypeFor[time.Time]() {
		for n := range v.NumField() {
			noZero(t, path+"."+v.Type().Field(n).Name, v.Field(n), but...)
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	dir := t.TempDir()
	h, _, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := fullRecord(t, h)
	noZero(t, "record", reflect.ValueOf(*want), "record.Spec.Text", "record.Spec.Stdin", "record.Info.Position",
		"record.Info.LogCut", "record.Info.InFile", "record.Version")
	long := fullRecord(t, h)
	long.Info.Command = strings.Repeat("echo \xff\n", 10_000)
	queued := &Entry{Info: Info{ID: "", Shell: "s", Command: "true", Status: Queued, CreatedAt: want.Info.CreatedAt}}
	if queued.Info.ID, err = h.Next(); err != nil {
		t.Fatal(err)
	}
	all := []*Entry{want, long, queued}
	for _, r := range all {
		for range 2 {
			if err := h.Save(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, got, err := Open(dir)
	if err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, all)
	}
	if size, err := os.Stat(filepath.Join(h.Dir(long.Info.ID), shelldir.RecordFile)); err != nil ||
		size.Size() > 2*inlineText {
		t.Errorf("%v: the record of a long command has %d bytes", err, size.Size())
	}
}

func TestShellRoundTrip(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadShell(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	want := &Shell{Spec: Spec{ID: "s", Name: "n\xff", Dir: dir, Cwd: "/\xff", Env: map[string]string{"A": "\xfe"},
		Login: true, Timeout: 5, MaxOutput: 6, MaxReply: 7, Provider: "p",
		Sandbox: &confine.Sandbox{Write: []string{"/w"}, Terminals: true, Hide: "/d", Keep: "/d/k"}},
		CreatedAt: time.Date(2024, 5, 6, 7, 8, 9, 1, time.UTC), Process: 4, FirstEnv: []string{"A=\xff\n", "odd-name"}}
	noZero(t, "shell", reflect.ValueOf(*want), "shell.Version")
	if err := SaveShell(dir, want); err != nil {
		t.Fatal(err)
	}
	got, err := LoadShell(dir)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, want)
	}
	path := filepath.Join(dir, shelldir.ShellFile)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content[:len(content)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadShell(dir); !errors.Is(err, shelldir.ErrDamaged) {
		t.Errorf("err = %v", err)
	}
}

// A line that was cut leaves the one before it, and the next one is good again.
func TestRecordAfterACut(t *testing.T) {
	dir := t.TempDir()
	h, _, _ := Open(dir)
	r := fullRecord(t, h)
	newest := func() int {
		t.Helper()
		_, list, err := Open(dir)
		if err != nil || len(list) != 1 {
			t.Fatal(len(list), err)
		}
		return list[0].Process
	}
	for n := 1; n < 4; n++ {
		r.Process = n
		if err := h.Save(r); err != nil {
			t.Fatal(err)
		}
		if got := newest(); got != n {
			t.Errorf("%d after %d", got, n)
		}
	}
	path := filepath.Join(h.Dir(r.Info.ID), shelldir.RecordFile)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-20); err != nil {
		t.Fatal(err)
	}
	if got := newest(); got != 2 {
		t.Errorf("%d, not the whole one before", got)
	}
	r.Process = 9
	if err := h.Save(r); err != nil {
		t.Fatal(err)
	}
	if got := newest(); got != 9 {
		t.Errorf("%d, not the one behind the cut", got)
	}
}

// A record that was cut anywhere, or changed, is skipped by name, and the others are there.
func TestDamagedRecords(t *testing.T) {
	dir := t.TempDir()
	h, _, _ := Open(dir)
	var ids []string
	for range 3 {
		r := fullRecord(t, h)
		if err := h.Save(r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.Info.ID)
	}
	path := filepath.Join(h.Dir(ids[1]), shelldir.RecordFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string) {
		t.Helper()
		h, list, err := Open(dir)
		if !errors.Is(err, shelldir.ErrDamaged) || !strings.Contains(fmt.Sprint(err), ids[1]) {
			t.Fatalf("%s: err = %v", what, err)
		}
		if len(list) != 2 || list[0].Info.ID != ids[0] || list[1].Info.ID != ids[2] {
			t.Fatalf("%s: %d records", what, len(list))
		}
		if number, _ := numberIn(ids[2]); h.last.Load() != number {
			t.Fatalf("%s: goes on from %d", what, h.last.Load())
		}
	}
	for n := 0; n < len(whole)-1; n += 7 {
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("%d of %d bytes", n, len(whole)))
	}
	changed := slices.Clone(whole)
	changed[20] ^= 1
	for name, content := range map[string][]byte{"changed": changed, "zeros": make([]byte, len(whole))} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		check(name)
	}
	other, err := os.ReadFile(filepath.Join(h.Dir(ids[0]), shelldir.RecordFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	check("that of another")
}

func TestIDs(t *testing.T) {
	dir := t.TempDir()
	h, _, _ := Open(dir)
	var ids []string
	for range 30 {
		id, err := h.Next()
		if err != nil {
			t.Fatal(err)
		}
		if number, ok := numberIn(id); !ok || number != uint64(len(ids)+1) {
			t.Fatalf("%q has number %d", id, number)
		}
		ids = append(ids, id)
		if len(ids)%10 == 0 {
			if h, _, err = Open(dir); err != nil { // numbers go on in the next server
				t.Fatal(err)
			}
		}
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("ids %q", ids)
	}
}

func TestPrune(t *testing.T) {
	h, _, _ := Open(t.TempDir())
	ended := func(sizes ...int64) (list []Info) {
		for _, size := range sizes {
			id, err := h.Next()
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, Info{ID: id, StdoutBytes: size - size/3, StderrBytes: size / 3})
		}
		return list
	}
	for _, one := range []struct {
		name  string
		sizes []int64
		total int
		gone  int
	}{
		{"few", []int64{1, 2, 3}, 3, 0},
		{"exactly", []int64{1, 2}, MaxCommands, 0},
		{"many", []int64{1, 2, 3}, MaxCommands + 2, 2},
		{"many that run", []int64{1}, MaxCommands + 50, 1},
		{"large", []int64{maxHistoryBytes, 5, 6}, 3, 1},
		{"the newest is too large", []int64{1, 2, maxHistoryBytes + 1}, 3, 3},
		{"none", nil, MaxCommands + 1, 0},
	} {
		list := ended(one.sizes...)
		gone := h.Prune(list, one.total)
		if len(gone) != one.gone {
			t.Errorf("%s: %d went, want %d", one.name, len(gone), one.gone)
		}
		for n, info := range list {
			_, err := os.Stat(h.Dir(info.ID))
			if went := errors.Is(err, fs.ErrNotExist); went != (n < one.gone) ||
				went != slices.Contains(gone, info.ID) {
				t.Errorf("%s: the directory of number %d: %v", one.name, n, err)
			}
		}
	}
}

func FuzzDecodeRecord(f *testing.F) {
	r := &Entry{Info: Info{ID: "x", Command: "\xff", Status: Done, Result: &Result{Lost: []string{"a"}}}}
	content, _, err := encodeRecord(*r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content, false)
	f.Add([]byte(`{"version":1,"status":"done","command":{"b64":"/w=="},"spec":{"env":[["A","B"]]}}`), true)
	f.Add([]byte(`{"version":1,"first":[{"b64":"/w=="}]}`), true)
	f.Fuzz(func(t *testing.T, content []byte, sum bool) {
		if sum { // past the sum, into what it protects
			content = withSum(content)
		}
		saved := Shell{}
		if err := checked(content, &saved, &saved.Version); err != nil && !errors.Is(err, shelldir.ErrDamaged) {
			t.Fatal(err)
		}
		r, err := decodeRecord(content)
		if err != nil {
			if !errors.Is(err, shelldir.ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		again, text, err := encodeRecord(*r)
		if err != nil {
			return // a time that JSON cannot write
		}
		next, err := decodeRecord(again)
		if err != nil {
			t.Fatalf("%q cannot be read again: %v", again, err)
		}
		if next.Info.InFile {
			next.Info.Command = text
		}
		if r.Info.InFile && r.Info.Command == "" {
			next.Info.Command = ""
		}
		if next.Info.Command != r.Info.Command || next.Info.ID != r.Info.ID || next.Info.Status != r.Info.Status ||
			next.Process != r.Process {
			t.Fatalf("%+v came back as %+v", r, next)
		}
	})
}

// withSum puts the right sum behind a text.
func withSum(text []byte) []byte {
	return fmt.Appendf(slices.Clone(text), "%s%08x\n", sumMark, sumOf(text))
}

func BenchmarkSaveRecord(b *testing.B) {
	h, _, _ := Open(b.TempDir())
	id, err := h.Next()
	if err != nil {
		b.Fatal(err)
	}
	r := &Entry{Info: Info{ID: id, Command: "true", Status: Done, Result: &Result{Cwd: "/"}}}
	for b.Loop() {
		if err := h.Save(r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenHistory is a start with as many commands as are kept.
func BenchmarkOpenHistory(b *testing.B) {
	dir := b.TempDir()
	h, _, _ := Open(dir)
	for range MaxCommands {
		id, err := h.Next()
		if err == nil {
			err = h.Save(&Entry{Info: Info{ID: id, Command: "true", Status: Done, Result: &Result{Cwd: "/"}}})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, list, err := Open(dir); err != nil || len(list) != MaxCommands {
			b.Fatal(len(list), err)
		}
	}
}
