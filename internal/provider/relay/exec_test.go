package relay_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/relay"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/state"
	"github.com/evertty/evertty/tests/providertest"
)

// ran is what a relay of a command has done.
type ran struct {
	code     int
	out, err string
	failure  string // "" without one
}

func (r ran) String() string {
	return fmt.Sprintf("code %d, stdout %.80q, stderr %.80q, failure %q", r.code, r.out, r.err, r.failure)
}

func run(t *testing.T, ctx context.Context, dir string, stdin []byte) ran { //nolint:revive // t comes first
	var out, err bytes.Buffer
	r := ran{code: relay.Exec(ctx, dir, bytes.NewReader(stdin), &out, &err)}
	r.out, r.err = out.String(), err.String()
	if f, failed := relay.Outcome(dir); failed {
		r.failure = f.Message
	}
	if untaken(dir) {
		t.Error("the job is still there")
	}
	return r
}

func TestExecCodes(t *testing.T) {
	t.Parallel()
	w := rent(t)
	for command, want := range map[string]ran{
		"true":                           {},
		"echo out; echo err >&2; exit 7": {code: 7, out: "out\n", err: "err\n"},
		"exit 255":                       {code: 255},
		"kill -9 $$":                     {code: 137},
		"cat":                            {out: "typed\n"},
		`printf 'o\0\377\376\r'; false`:  {code: 1, out: "o\x00\xff\xfe\r"},
		"echo 'gr\xfc\xdfe'":             {out: "gr\xfc\xdfe\n"},
		`printf %s "$LATIN"`:             {out: "\xe9\xff"},
		"basename \"$PWD\"; cd /; exec ls /no-such 2>/dev/null": {code: 2, out: "a 'dir\n"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			c := &relay.Command{Text: relay.Bytes(command), Env: relay.Environ(map[string]string{"LATIN": "\xe9\xff"})}
			if strings.Contains(command, "basename") {
				c.Cwd = relay.Bytes(filepath.Join(w.dir, "a 'dir"))
				must(t, os.MkdirAll(string(c.Cwd), 0o700)) // the place is on this machine
			}
			if r := run(t, within(t), w.job(t, c, nil), []byte("typed\n")); r != want {
				t.Errorf("%v, want %v", r, want)
			}
		})
	}
}

// Input, output and errors arrive byte by byte, however many they are.
func TestExecCopiesExactly(t *testing.T) {
	t.Parallel()
	w := rent(t)
	in := make([]byte, 1<<20)
	_, _ = rand.Read(in)
	r := run(t, within(t), w.job(t, &relay.Command{Text: relay.Bytes("cat >" + w.dir + "/in; cat " + w.dir +
		"/in; cat " + w.dir + "/in >&2; exit 3")}, nil), in)
	if r.code != 3 || r.out != string(in) || r.err != string(in) || r.failure != "" {
		t.Errorf("%v: %d and %d bytes of %d, or others", r, len(r.out), len(r.err), len(in))
	}
}

// The job is gone while the command runs, and what is read of the output is there before its end.
func TestExecTakesItsJob(t *testing.T) {
	t.Parallel()
	w := rent(t)
	dir := w.job(t, &relay.Command{Text: relay.Bytes("echo first; while [ ! -e " + w.dir +
		"/go ]; do sleep 0.05; done; echo last")}, nil)
	if !untaken(dir) {
		t.Fatal("no job was left")
	}
	if i, err := os.Stat(filepath.Join(dir, "job")); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", i.Mode(), err)
	}
	out := &shared{}
	code := make(chan int)
	ctx := within(t)
	go func() { code <- relay.Exec(ctx, dir, strings.NewReader(""), out, out) }()
	becomes(t, "the first line", func() bool { return out.String() == "first\n" })
	if untaken(dir) {
		t.Error("the job is there while its command runs")
	}
	must(t, w.WriteFile(ctx, w.instance, filepath.Join(w.dir, "go"), []byte("x")))
	if c := <-code; c != 0 || out.String() != "first\nlast\n" {
		t.Errorf("code %d, %q", c, out)
	}
}

// The state goes from one command to the next when it is kept, and only then.
func TestExecState(t *testing.T) {
	t.Parallel()
	w := rent(t)
	now := filepath.Join(t.TempDir(), "state")
	for i, c := range []struct {
		command, out string
		keep         bool
	}{
		{"cd " + w.dir + " && mkdir sub && cd sub && export V=kept", "", true},
		{"basename $PWD; echo $V; cd /; V=lost", "sub\nkept\n", false},
		{"basename $PWD; echo $V; unset V", "sub\nkept\n", true},
		{"echo ${V-none}", "none\n", true},
	} {
		r := run(t, within(t), w.job(t, &relay.Command{Text: relay.Bytes(c.command), State: now, Keep: c.keep}, nil),
			nil)
		if r != (ran{out: c.out}) {
			t.Errorf("command %d: %v, want %q", i, r, c.out)
		}
	}
	if s, err := state.LoadEnvironment(now); err != nil || filepath.Base(s.Cwd) != "sub" {
		t.Errorf("%+v, %v", s, err)
	}
}

// What cannot be done says why, to who waits for the result and not on the command's outputs.
func TestExecFailures(t *testing.T) {
	t.Parallel()
	w := rent(t)
	write := func(text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { must(t, os.WriteFile(filepath.Join(dir, "job"), []byte(text), 0o600)) }
	}
	for name, c := range map[string]struct {
		leave func(t *testing.T, dir string)
		want  string
	}{
		"none": {func(t *testing.T, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, shell.RemoteRefused), nil, 0o600))
		}, "no such file"},
		"empty":   {write(""), "the job is damaged"},
		"cut":     {write(`{"settings":{"env":{"KEY":"secret`), "the job is damaged"},
		"a list":  {write(`["secret"]`), "the job is damaged"},
		"nothing": {write(`{}`), "for something else"},
		"too large": {func(t *testing.T, dir string) {
			write("")(t, dir)
			must(t, os.Truncate(filepath.Join(dir, "job"), 128<<20+1))
		}, "134217729 bytes, but at most 134217728 are allowed"},
		"a terminal's": {func(t *testing.T, dir string) { w.leave(t, dir, w.instance, nil, &relay.Terminal{}) },
			"for something else"},
		"no settings": {write(`{"command":{"text":"","state":"x"}}`), "no JSON"},
		"no provider": {write(`{"settings":{"provider":"nobody"},"command":{"text":"","state":"x"}}`),
			`"nobody" is no provider`},
		"no instance": {func(t *testing.T, dir string) { w.leave(t, dir, "none", &relay.Command{}, nil) },
			"no such instance"},
		"no state": {func(t *testing.T, dir string) {
			c := &relay.Command{State: filepath.Join(dir, "damaged")}
			must(t, os.WriteFile(c.State, []byte("{"), 0o600))
			w.leave(t, dir, w.instance, c, nil)
		}, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.leave(t, dir)
			r := run(t, within(t), dir, nil)
			if r.code != 255 || r.out+r.err != "" || !strings.Contains(r.failure, c.want) ||
				strings.ContainsAny(r.failure, "\n") || strings.Contains(r.failure, "secret") {
				t.Errorf("%v, want %q", r, c.want)
			}
		})
	}
}

// A command that did not start asks for other compute once, and runs there.
func TestExecAsksAgain(t *testing.T) {
	t.Parallel()
	w := rent(t)
	for name, c := range map[string]struct {
		answer func(dir string)
		want   ran
	}{
		"given": {func(dir string) {
			w.leave(t, dir, w.instance, &relay.Command{Text: relay.Bytes("echo there; exit 4")}, nil)
		}, ran{code: 4, out: "there\n"}},
		"given none": {func(dir string) { w.leave(t, dir, "none", &relay.Command{}, nil) },
			ran{code: 255, failure: "no such instance"}},
		"not given": {func(dir string) { must(t, os.WriteFile(filepath.Join(dir, shell.RemoteRefused), nil, 0o600)) },
			ran{code: 255, failure: "no such instance"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w.leave(t, dir, "none", &relay.Command{Text: relay.Bytes("echo here"), Keep: true}, nil)
			done := make(chan ran)
			ctx := within(t)
			go func() { done <- run(t, ctx, dir, nil) }()
			becomes(t, "it asks", func() bool { return os.Remove(filepath.Join(dir, shell.RemoteAsk)) == nil })
			c.answer(dir)
			r := <-done
			if r.code != c.want.code || r.out != c.want.out || r.err != "" ||
				!strings.Contains(r.failure, c.want.failure) || (c.want.failure == "") != (r.failure == "") {
				t.Errorf("%v, want %v", r, c.want)
			}
		})
	}
}

// When the relay is told to end, so does the command, and nobody is told that anything went wrong.
func TestExecCancelled(t *testing.T) {
	t.Parallel()
	w := rent(t)
	dir := w.job(t, &relay.Command{Text: relay.Bytes("sleep 100000 & echo $! >" + w.dir + "/pid; echo begin; wait"),
		Keep: true}, nil)
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	out, code := providertest.NewExpect("begin\n"), make(chan int)
	go func() { code <- relay.Exec(ctx, dir, strings.NewReader(""), out, out) }()
	w.file(t, "pid")
	out.Wait(t)
	cancel()
	if c := <-code; c != 130 || out.String() != "begin\n" {
		t.Errorf("code %d, %q", c, out)
	}
	if f, failed := relay.Outcome(dir); failed {
		t.Errorf("%+v", f)
	}
	w.gone(t, "pid")

	waits := t.TempDir() // for a job that never comes
	ctx, cancel = context.WithCancel(within(t))
	done := make(chan ran)
	go func() { done <- run(t, ctx, waits, nil) }()
	becomes(t, "it asks", func() bool { return os.Remove(filepath.Join(waits, shell.RemoteAsk)) == nil })
	cancel()
	if r := <-done; r != (ran{code: 130}) {
		t.Errorf("without a job: %v", r)
	}
}

// zeros is input without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Input that is longer than allowed is refused in a sentence; the command never gets a part of it.
func TestExecInputTooLong(t *testing.T) {
	t.Parallel()
	w := rent(t)
	dir := w.job(t, &relay.Command{Text: relay.Bytes("touch " + w.dir + "/ran"), Keep: true}, nil)
	code := relay.Exec(within(t), dir, io.LimitReader(zeros{}, shell.MaxStdin+1), io.Discard, io.Discard)
	f, failed := relay.Outcome(dir)
	if code != 255 || !failed || !strings.Contains(f.Message, "more than 67108864 bytes") {
		t.Errorf("code %d, failure %q", code, f.Message)
	}
	if _, err := w.ReadFile(within(t), w.instance, filepath.Join(w.dir, "ran"), 1); !errors.Is(err,
		provider.ErrNoFile) {
		t.Errorf("the command ran: %v", err)
	}
}
