package catalog_test

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

// do runs a command and fails on an error.
func (s spot) do(t *testing.T, r provider.ExecRequest) (stdout, stderr string, res provider.ExecResult) {
	t.Helper()
	var out, err bytes.Buffer
	res, e := s.Exec(within(t), s.id, r, &out, &err)
	if e != nil {
		t.Fatalf("%.80q: %v", r.Command, e)
	}
	return out.String(), err.String(), res
}

// sh runs a command and compares.
func (s spot) sh(t *testing.T, command, stdout string, code int) {
	t.Helper()
	out, stderr, r := s.do(t, provider.ExecRequest{Command: command})
	if out != stdout || r.ExitCode != code || r.TimedOut {
		t.Errorf("%s: stdout %q stderr %q %+v; want %q, %d", command, out, stderr, r, stdout, code)
	}
}

func exitCodes(t *testing.T, s spot) {
	for command, code := range map[string]int{"true": 0, "false": 1, "exit 7": 7, "exit 255": 255, "no-such-command-here": 127, "kill -9 $$": 137, "kill -TERM $$": 143, "(exit 3)": 3} {
		s.sh(t, command, "", code)
	}
	s.sh(t, "set -e\necho one\nfalse\necho two", "one\n", 1)
}

func output(t *testing.T, s spot) {
	out, err, r := s.do(t, provider.ExecRequest{Command: `printf 'o\0\377\376\r\n'; printf 'e\200\n' >&2; printf 'no newline'; exit 4`})
	if out != "o\x00\xff\xfe\r\nno newline" || err != "e\x80\n" || r.ExitCode != 4 {
		t.Errorf("%q %q %+v", out, err, r)
	}
}

// input also shows that bytes come back as they went.
func input(t *testing.T, s spot) {
	data := make([]byte, 200_000)
	for i := range data {
		data[i] = byte(rand.Uint32())
	}
	out, _, _ := s.do(t, provider.ExecRequest{Command: "cat", Stdin: data})
	if out != string(data) {
		t.Errorf("%d bytes came back of %d, or others", len(out), len(data))
	}
	_, err, _ := s.do(t, provider.ExecRequest{Command: "cat >&2", Stdin: data[:5000]})
	if err != string(data[:5000]) {
		t.Error("other bytes on stderr")
	}
	out, _, r := s.do(t, provider.ExecRequest{Command: "cat; echo end"})
	if out != "end\n" || r.ExitCode != 0 {
		t.Errorf("no input at all: %q %+v", out, r)
	}
	out, _, _ = s.do(t, provider.ExecRequest{Command: "head -n 1", Stdin: bytes.Repeat([]byte("line\n"), 50_000)})
	if out != "line\n" {
		t.Errorf("input that is not read to its end: %q", out)
	}
}

func bigOutput(t *testing.T, s spot) {
	const lines = 200_000
	out, err, _ := s.do(t, provider.ExecRequest{Command: fmt.Sprintf("seq %d; seq %d >&2", lines, lines)})
	var want strings.Builder
	for i := 1; i <= lines; i++ {
		fmt.Fprintln(&want, i)
	}
	if out != want.String() || err != want.String() {
		t.Errorf("%d and %d bytes, want %d of each", len(out), len(err), want.Len())
	}
}

// seen is a writer that tells when a text has come.
type seen struct {
	mu   sync.Mutex
	text bytes.Buffer
	want string
	hit  chan struct{}
}

func newSeen(want string) *seen { return &seen{want: want, hit: make(chan struct{})} }

func (s *seen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	had := strings.Contains(s.text.String(), s.want)
	s.text.Write(p)
	if !had && strings.Contains(s.text.String(), s.want) {
		close(s.hit)
	}
	return len(p), nil
}

func (s *seen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (s *seen) wait(t *testing.T) {
	t.Helper()
	select {
	case <-s.hit:
	case <-time.After(limit):
		t.Fatalf("no %q in %q", s.want, s)
	}
}

// streams: output is there while the command runs, for it ends only after its output was seen.
func streams(t *testing.T, s spot) {
	out, file := newSeen("first\n"), s.dir+"/go"
	done := make(chan error, 1)
	ctx := within(t)
	go func() {
		_, err := s.Exec(ctx, s.id, provider.ExecRequest{Command: "echo first; while [ ! -e " + file + " ]; do sleep 0.05; done; echo last"}, out, out)
		done <- err
	}()
	out.wait(t)
	if err := s.WriteFile(within(t), s.id, file, nil); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || out.String() != "first\nlast\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func environment(t *testing.T, s spot) {
	env := map[string]string{"A": "plain", "QUOTE": `it's "$HOME" \`, "LINES_OF": "one\ntwo\n", "UMLAUT": "größe ✓", "EMPTY": "", "LATIN": "\xe9\xff"}
	out, _, _ := s.do(t, provider.ExecRequest{Env: env, Command: `printf '%s|%s|%s|%s|%s|%s|%s' "$A" "$QUOTE" "$LINES_OF" "$UMLAUT" "${EMPTY-unset}" "$LATIN" "$OF_INSTANCE"`})
	if want := "plain|" + env["QUOTE"] + "|one\ntwo\n|größe ✓||\xe9\xff|it's set"; out != want {
		t.Errorf("%q, want %q", out, want)
	}
	s.sh(t, `echo "${A-unset}"`, "unset\n", 0)
}

func directory(t *testing.T, s spot) {
	s.sh(t, "pwd -P", s.do1(t, "cd "+s.dir+" && pwd -P"), 0)
	dir := s.dir + "/a b'ü"
	s.sh(t, `mkdir -p "`+dir+`"`, "", 0)
	out, _, _ := s.do(t, provider.ExecRequest{Cwd: dir, Command: "pwd"})
	if out != dir+"\n" {
		t.Errorf("in %q", out)
	}
	// Where there is no such directory, the command does not run somewhere else.
	var b bytes.Buffer
	r, err := s.Exec(within(t), s.id, provider.ExecRequest{Cwd: s.dir + "/none", Command: "echo ran"}, &b, &b)
	if strings.Contains(b.String(), "ran") || err == nil && r.ExitCode == 0 {
		t.Errorf("without its directory: %q %+v %v", b.String(), r, err)
	}
}

func (s spot) do1(t *testing.T, command string) string {
	t.Helper()
	out, _, _ := s.do(t, provider.ExecRequest{Command: command})
	return out
}

func words(t *testing.T, s spot) {
	s.sh(t, "cat <<'X'\n$HOME `date` \\ ' \"\nX\n", "$HOME `date` \\ ' \"\n", 0)
	s.sh(t, `echo "a'b" 'c"d' \\ $((1+1)) # comment`, "a'b c\"d \\ 2\n", 0)
	s.sh(t, "f() { echo in $1; }\nf x", "in x\n", 0)
	s.sh(t, "[[ abc == a* ]] && echo bash", "bash\n", 0)
	s.sh(t, "echo 'gr\xfc\xdfe'", "gr\xfc\xdfe\n", 0)
	long := strings.Repeat("x", 150_000)
	s.sh(t, "v="+long+"; echo ${#v}", "150000\n", 0)
	if _, err, r := s.do(t, provider.ExecRequest{Command: "if"}); r.ExitCode == 0 || err == "" {
		t.Errorf("a syntax error: %q %+v", err, r)
	}
}

// gone fails when a process of the instance is still there after a while. Its number is in a file.
func (s spot) gone(t *testing.T, file string) {
	t.Helper()
	s.sh(t, "p=$(cat "+file+") && [ -n \"$p\" ] && for i in $(seq 600); do kill -0 $p 2>/dev/null || { echo gone; break; }; sleep 0.1; done", "gone\n", 0)
}

func timeout(t *testing.T, s spot) {
	file := s.dir + "/timeout.pid"
	begin := time.Now()
	out, _, r := s.do(t, provider.ExecRequest{Command: "echo begin; sleep 300 & echo $! >" + file + "; wait; echo end", Timeout: 2 * time.Second})
	if !r.TimedOut || out != "begin\n" || time.Since(begin) < 2*time.Second {
		t.Errorf("%q %+v after %v", out, r, time.Since(begin))
	}
	s.gone(t, file)
	out, _, r = s.do(t, provider.ExecRequest{Command: "echo in time", Timeout: limit})
	if r.TimedOut || out != "in time\n" {
		t.Errorf("%q %+v", out, r)
	}
}

func cancelled(t *testing.T, s spot) {
	file := s.dir + "/cancel.pid"
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	out := newSeen("begin\n")
	done := make(chan error, 1)
	go func() {
		_, err := s.Exec(ctx, s.id, provider.ExecRequest{Command: "sleep 300 & echo $! >" + file + "; echo begin; wait; echo end"}, out, out)
		done <- err
	}()
	out.wait(t)
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) || errors.Is(err, provider.ErrNotStarted) {
			t.Errorf("%v", err)
		}
	case <-time.After(limit):
		t.Fatal("the call did not end")
	}
	s.gone(t, file)
	// One that never began.
	if _, err := s.Exec(ctx, s.id, provider.ExecRequest{Command: "true"}, out, out); !errors.Is(err, context.Canceled) {
		t.Errorf("after: %v", err)
	}
}

// background: a command ends with its shell, not with what the shell leaves.
func background(t *testing.T, s spot) {
	begin := time.Now()
	s.sh(t, "sleep 300 & echo $! >"+s.dir+"/bg.pid; echo done", "done\n", 0)
	if d := time.Since(begin); d >= 300*time.Second {
		t.Errorf("took %v", d)
	}
	s.sh(t, "kill $(cat "+s.dir+"/bg.pid)", "", 0)
}

func concurrent(t *testing.T, s spot) {
	var g sync.WaitGroup
	for n := range 8 {
		g.Go(func() {
			out, err, r := s.do(t, provider.ExecRequest{Command: fmt.Sprintf("for i in 1 2 3; do echo %d; echo e%d >&2; sleep 0.02; done; exit %d", n, n, n)})
			want := strings.Repeat(fmt.Sprintln(n), 3)
			if out != want || err != strings.ReplaceAll(want, fmt.Sprint(n), fmt.Sprintf("e%d", n)) || r.ExitCode != n {
				t.Errorf("%d: %q %q %+v", n, out, err, r)
			}
		})
	}
	g.Wait()
}

// broken is a writer that takes nothing.
type broken struct{}

var errBroken = errors.New("no room")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func writerFails(t *testing.T, s spot) {
	file := s.dir + "/writer.pid"
	_, err := s.Exec(within(t), s.id, provider.ExecRequest{Command: "sleep 300 & echo $! >" + file + "; echo x; wait"}, broken{}, broken{})
	if !errors.Is(err, errBroken) || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("%v", err)
	}
	s.gone(t, file)
}

// statePersistence carries what a command left to the next one, as the terminal's state does.
func statePersistence(t *testing.T, s spot) {
	out := s.do1(t, "mkdir -p "+s.dir+"/sub && cd "+s.dir+"/sub && export V='of the first' && echo x >made && printf '%s\\0' \"$PWD\" \"$V\"")
	f := strings.Split(out, "\x00")
	if len(f) != 3 {
		t.Fatalf("%q", out)
	}
	again, _, _ := s.do(t, provider.ExecRequest{Cwd: f[0], Env: map[string]string{"V": f[1]}, Command: `pwd; echo "$V"; cat made`})
	if want := s.dir + "/sub\nof the first\nx\n"; again != want {
		t.Errorf("%q, want %q", again, want)
	}
}
