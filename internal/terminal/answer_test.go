package terminal_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// quits are the ways in which vim is left before it has read all answers to its queries.
var quits = map[string]struct{ typed, then string }{
	"at once":     {"vim -u NONE -c q\r", ""},
	"typed ahead": {"vim\r:q\r", ""},
	"typed":       {"vim\r", ":q\r"},
}

// openNative opens a server with the engine that answers all that vim asks.
func openNative(t *testing.T) *supervisor.Supervisor {
	t.Helper()
	return supervisortest.OpenWith(t, t.TempDir(),
		supervisor.Config{Terminals: terminal.Config{
			Engine: func(c vt.Config) vt.Engine { return vt.New(c) }}})
}

// TestAnswersDoNotReachTheShell: of 75 programs that are quit at once, none leaves an answer in
// the line of the shell.
func TestAnswersDoNotReachTheShell(t *testing.T) {
	if _, err := exec.LookPath("vim"); err != nil {
		t.Skip("vim is not installed")
	}
	m := openNative(t)
	for name, q := range quits {
		t.Run(name, func(t *testing.T) {
			term := readyShell(t, m)
			left := 0
			for i := range 25 {
				seq := supervisortest.TypeIn(t, term, q.typed)
				if q.then != "" {
					awaitSince(t, term, wire.WaitCondition{For: "alt_screen"}, &seq)
					supervisortest.TypeIn(t, term, q.then)
				}
				left += strange(t, term, seq, i)
			}
			if left > 0 {
				t.Errorf("%d of 25 times an answer was left in the line", left)
			}
		})
	}
}

// TestAnswersOfProgramsThatEnd: nothing is left of a query whose program has ended, and a shell
// that reads the answer itself gets it.
func TestAnswersOfProgramsThatEnd(t *testing.T) {
	m := openNative(t)
	term := readyShell(t, m)
	i := 0
	for _, query := range []string{`\e[c`, `\e[>c`, `\e[6n`, `\e[5n`, `\e]10;?\a`, `\e]11;?\a`, `\e[?2004$p`, `\e[?u`,
		`\e[>q`, `\eP+q436F\e\\`, `\eP$qm\e\\`, `\e[18t`, `\e[c\e[6n\e[c`} {
		for _, command := range []string{"printf '%s'", "/usr/bin/printf '%s'", "(/usr/bin/printf '%s')",
			`bash -c "printf '%s'"`} {
			command = fmt.Sprintf(command, query)
			seq := supervisortest.TypeIn(t, term, command+"\r")
			if n := strange(t, term, seq, i); n > 0 {
				t.Errorf("an answer is left of %s", command)
			}
			i++
		}
	}
	for _, c := range []string{
		`/usr/bin/printf '\e[6n'; IFS= read -rs -d R x; printf 'got %q\n' "$x"`,
		`tput u7; IFS= read -r -d R x; printf 'got %q\n' "$x"`,
		`stty raw -echo; /usr/bin/printf '\e[6n'; IFS= read -r -d R x; stty sane; printf 'got %q\n' "$x"`,
		`printf '\e[6n'; IFS= read -rs -d R x; printf 'got %q\n' "$x"`,
		`printf '\e[6n'; IFS= read -r -d R x; printf 'got %q\n' "$x"`,
		`bash -c 'printf "\e[6n"; IFS= read -rs -d R x; printf "got %q\n" "$x"'`,
		`dash -c 'stty -icanon -echo; printf "\033[6n"; x=$(head -c 7 | tr -d "\033"); stty sane; ` +
			`printf "got %s\n" "$x"'`,
		`stty raw -echo; printf '\e[6n'; IFS= read -r -d R x; stty sane; printf 'got %q\n' "$x"`,
	} {
		seq := supervisortest.TypeIn(t, term, c+"\r")
		awaitSince(t, term, wire.WaitCondition{For: "regex", Pattern: `got .*\[\d`}, &seq)
		awaitSince(t, term, wire.WaitCondition{For: "prompt"}, &seq)
	}
}

// readyShell is a bash at its prompt.
func readyShell(t *testing.T, m *supervisor.Supervisor) *terminal.Terminal {
	t.Helper()
	term := supervisortest.Start(t, m, "bash", "--norc", "--noprofile")
	seq := supervisortest.TypeIn(t, term, "PS1='p# '\r")
	awaitSince(t, term, wire.WaitCondition{For: "regex", Pattern: "^p# $"}, &seq)
	return term
}

func awaitSince(t *testing.T, term *terminal.Terminal, c wire.WaitCondition, since *uint64) wire.Waited {
	t.Helper()
	return supervisortest.Await(t, term, wire.Wait{Any: []wire.WaitCondition{c}, Since: since})
}

// strange types a command once the shell has its prompt behind seq, and reports whether its line
// has more than what was typed: 1 or 0.
func strange(t *testing.T, term *terminal.Terminal, seq uint64, i int) int {
	t.Helper()
	awaitSince(t, term, wire.WaitCondition{For: "prompt"}, &seq)
	seq = supervisortest.TypeIn(t, term, fmt.Sprintf("echo d''one%d\r", i))
	got := awaitSince(t, term, wire.WaitCondition{For: "regex", Pattern: fmt.Sprintf(`^(.*)done%d$|command not found`,
		i)}, &seq)
	want := regexp.MustCompile(fmt.Sprintf(`(?m)^p# echo d''one%d\ndone%d$`, i, i))
	if !want.MatchString(got.Text) {
		t.Logf("%q", got.Text)
		supervisortest.TypeIn(t, term, "\x03")
		return 1
	}
	return 0
}
