package providertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// ExitCodes checks that commands end with the code of their shell.
func ExitCodes(t *testing.T, s Instance) {
	for command, code := range map[string]int{"true": 0, "false": 1, "exit 7": 7, "exit 255": 255,
		"no-such-command-here": 127, "kill -9 $$": 137, "kill -TERM $$": 143, "(exit 3)": 3} {
		s.Check(t, command, "", code)
	}
	s.Check(t, "set -e\necho one\nfalse\necho two", "one\n", 1)
}

// Output checks that both outputs of a command arrive exactly and apart.
func Output(t *testing.T, s Instance) {
	out, err, r := s.Run(t,
		provider.ExecRequest{Command: `printf 'o\0\377\376\r\n'; printf 'e\200\n' >&2; printf 'no newline'; exit 4`})
	if out != "o\x00\xff\xfe\r\nno newline" || err != "e\x80\n" || r.ExitCode != 4 {
		t.Errorf("%q %q %+v", out, err, r)
	}
}

// Input passes input through, byte for byte.
func Input(t *testing.T, s Instance) {
	data := make([]byte, 200_000)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	out, _, _ := s.Run(t, provider.ExecRequest{Command: "cat", Stdin: data})
	if out != string(data) {
		t.Errorf("%d bytes came back of %d, or others", len(out), len(data))
	}
	_, err, _ := s.Run(t, provider.ExecRequest{Command: "cat >&2", Stdin: data[:5000]})
	if err != string(data[:5000]) {
		t.Error("other bytes on stderr")
	}
	out, _, r := s.Run(t, provider.ExecRequest{Command: "cat; echo end"})
	if out != "end\n" || r.ExitCode != 0 {
		t.Errorf("no input at all: %q %+v", out, r)
	}
	out, _, _ = s.Run(t, provider.ExecRequest{Command: "head -n 1", Stdin: bytes.Repeat([]byte("line\n"), 50_000)})
	if out != "line\n" {
		t.Errorf("input that is not read to its end: %q", out)
	}
}

func bigOutput(t *testing.T, s Instance) {
	const lines = 200_000
	out, err, _ := s.Run(t, provider.ExecRequest{Command: fmt.Sprintf("seq %d; seq %d >&2", lines, lines)})
	var want strings.Builder
	for i := 1; i <= lines; i++ {
		fmt.Fprintln(&want, i)
	}
	if out != want.String() || err != want.String() {
		t.Errorf("%d and %d bytes, want %d of each", len(out), len(err), want.Len())
	}
}

// streams: output is there while the command runs, for it ends only after its output was seen.
func streams(t *testing.T, s Instance) {
	out, file := NewExpect("first\n"), s.Dir+"/go"
	done := make(chan error, 1)
	ctx := Within(t)
	go func() {
		_, err := s.Exec(ctx, s.ID, provider.ExecRequest{Command: "echo first; while [ ! -e " + file +
			" ]; do sleep 0.05; done; echo last"}, out, out)
		done <- err
	}()
	out.Wait(t)
	if err := s.WriteFile(Within(t), s.ID, file, nil); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || out.String() != "first\nlast\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func environment(t *testing.T, s Instance) {
	env := map[string]string{"A": "plain", "QUOTE": `it's "$HOME" \`, "LINES_OF": "one\ntwo\n", "UMLAUT": "größe ✓",
		"EMPTY": "", "LATIN": "\xe9\xff"}
	out, _, _ := s.Run(t, provider.ExecRequest{Env: env,
		Command: `printf '%s|%s|%s|%s|' "$A" "$QUOTE" "$LINES_OF" "$UMLAUT"; ` +
			`printf '%s|%s|%s' "${EMPTY-unset}" "$LATIN" "$OF_INSTANCE"`})
	if want := "plain|" + env["QUOTE"] + "|one\ntwo\n|größe ✓||\xe9\xff|it's set"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	s.Check(t, `echo "${A-unset}"`, "unset\n", 0)
}

func directory(t *testing.T, s Instance) {
	s.Check(t, "pwd -P", s.Output(t, "cd "+s.Dir+" && pwd -P"), 0)
	dir := s.Dir + "/a b'ü"
	s.Check(t, `mkdir -p "`+dir+`"`, "", 0)
	out, _, _ := s.Run(t, provider.ExecRequest{Cwd: dir, Command: "pwd"})
	if out != dir+"\n" {
		t.Errorf("in %q", out)
	}
	// Where there is no such directory, the command does not run somewhere else.
	var b bytes.Buffer
	r, err := s.Exec(Within(t), s.ID, provider.ExecRequest{Cwd: s.Dir + "/none", Command: "echo ran"}, &b, &b)
	if strings.Contains(b.String(), "ran") || err == nil && r.ExitCode == 0 {
		t.Errorf("without its directory: %q %+v %v", b.String(), r, err)
	}
}

func words(t *testing.T, s Instance) {
	s.Check(t, "cat <<'X'\n$HOME `date` \\ ' \"\nX\n", "$HOME `date` \\ ' \"\n", 0)
	s.Check(t, `echo "a'b" 'c"d' \\ $((1+1)) # comment`, "a'b c\"d \\ 2\n", 0)
	s.Check(t, "f() { echo in $1; }\nf x", "in x\n", 0)
	s.Check(t, "[[ abc == a* ]] && echo bash", "bash\n", 0)
	s.Check(t, "echo 'gr\xfc\xdfe'", "gr\xfc\xdfe\n", 0)
	long := strings.Repeat("x", 150_000)
	s.Check(t, "v="+long+"; echo ${#v}", "150000\n", 0)
	if _, err, r := s.Run(t, provider.ExecRequest{Command: "if"}); r.ExitCode == 0 || err == "" {
		t.Errorf("a syntax error: %q %+v", err, r)
	}
}

func timeout(t *testing.T, s Instance) {
	file := s.Dir + "/timeout.pid"
	for limit := 2 * time.Second; ; limit *= 4 {
		begin := time.Now()
		out, _, r := s.Run(t, provider.ExecRequest{Command: "sleep 300 & echo $! >" + file +
			"; echo begin; wait; echo end", Timeout: limit})
		if out == "" && r.TimedOut && limit < Limit/4 {
			continue // on a busy machine it did not begin in time
		}
		if !r.TimedOut || out != "begin\n" || time.Since(begin) < limit {
			t.Errorf("%q %+v after %v", out, r, time.Since(begin))
		}
		break
	}
	s.Gone(t, file)
	out, _, r := s.Run(t, provider.ExecRequest{Command: "echo in time", Timeout: Limit})
	if r.TimedOut || out != "in time\n" {
		t.Errorf("%q %+v", out, r)
	}
}

func cancelled(t *testing.T, s Instance) {
	file := s.Dir + "/cancel.pid"
	ctx, cancel := context.WithCancel(Within(t))
	defer cancel()
	out := NewExpect("begin\n")
	done := make(chan error, 1)
	go func() {
		_, err := s.Exec(ctx, s.ID, provider.ExecRequest{Command: "sleep 300 & echo $! >" + file +
			"; echo begin; wait; echo end"}, out, out)
		done <- err
	}()
	out.Wait(t)
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) || errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%v", err)
		}
	case <-time.After(Limit):
		t.Fatal("the call did not end")
	}
	s.Gone(t, file)
	// One that never began.
	if _, err := s.Exec(ctx, s.ID, provider.ExecRequest{Command: "true"}, out, out); !errors.Is(err, context.Canceled) {
		t.Errorf("after: %v", err)
	}
}

// background: a command ends with its shell, not with what the shell leaves.
func background(t *testing.T, s Instance) {
	begin := time.Now()
	s.Check(t, "sleep 300 & echo $! >"+s.Dir+"/bg.pid; echo done", "done\n", 0)
	if d := time.Since(begin); d >= 300*time.Second {
		t.Errorf("took %v", d)
	}
	s.Check(t, "kill $(cat "+s.Dir+"/bg.pid)", "", 0)
}

func concurrent(t *testing.T, s Instance) {
	var g sync.WaitGroup
	for n := range 8 {
		g.Go(func() {
			out, err, r := s.Run(t,
				provider.ExecRequest{Command: fmt.Sprintf(
					"for i in 1 2 3; do echo %d; echo e%d >&2; sleep 0.02; done; exit %d", n, n, n)})
			want := strings.Repeat(fmt.Sprintln(n), 3)
			if out != want || err != strings.ReplaceAll(want, fmt.Sprint(n), fmt.Sprintf("e%d", n)) || r.ExitCode != n {
				t.Errorf("%d: %q %q %+v", n, out, err, r)
			}
		})
	}
	g.Wait()
}

func writerFails(t *testing.T, s Instance) {
	file := s.Dir + "/writer.pid"
	_, err := s.Exec(Within(t), s.ID, provider.ExecRequest{Command: "sleep 300 & echo $! >" + file + "; echo x; wait"},
		broken{}, broken{})
	if !errors.Is(err, errBroken) || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("%v", err)
	}
	s.Gone(t, file)
}

// StatePersistence carries what a command left to the next one, as the terminal's state does.
func StatePersistence(t *testing.T, s Instance) {
	out := s.Output(t, "mkdir -p "+s.Dir+"/sub && cd "+s.Dir+
		"/sub && export V='of the first' && echo x >made && printf '%s\\0' \"$PWD\" \"$V\"")
	f := strings.Split(out, "\x00")
	if len(f) != 3 {
		t.Fatalf("%q", out)
	}
	again, _, _ := s.Run(t, provider.ExecRequest{Cwd: f[0], Env: map[string]string{"V": f[1]},
		Command: `pwd; echo "$V"; cat made`})
	if want := s.Dir + "/sub\nof the first\nx\n"; again != want {
		t.Errorf("%q, want %q", again, want)
	}
}
