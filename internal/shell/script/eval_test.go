package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// evaluated are texts whose run could tell that eval has it.
var evaluated = []string{
	"echo $LINENO\necho $LINENO; f() {\n echo $LINENO ${BASH_LINENO[@]}\n}\nf", "return 3\necho NOT",
	"echo a\nexit_nothing\n(exit 4)", "set -u; echo $nope; echo NOT\necho on", "echo ${nope:?gone}\necho on",
	"shopt -s expand_aliases\nalias foo='echo FOO'\nfoo a", "cat <<X\nhi $LINENO\n", "echo a \\", "echo a # b",
	"break; continue; echo on", "local x; echo $?", "((1/0)); echo $?\n: $((1/0))\necho on",
	"readonly R=1; R=2; echo NOT\necho on", "trap 'echo E $LINENO' ERR; false\nfalse",
	"trap 'echo R' RETURN; f() { :; }; f", "set -- a b; echo \"$@\" $#", "shift 3; echo $?", "return 300", "return abc",
	"echo ${#BASH_SOURCE[@]} ${FUNCNAME[@]}", "caller >/dev/null; echo $?", "x=1 y=2; echo $x$y; unset x",
	"{ echo a; echo b >&2; }", "cat < <(echo a); echo b > >(cat); wait", "for i in 1 2; do echo $i; done\n:", "",
	"\n\n", "# only", "-x", "--",
	"echo 'it'\\''s' \"$'x'\" $'a\\tb'", "echo é€ 漢 \xff\x01\x7f\x80", "false", "! false", "( exit 5 )",
	"if true; then return 7; fi", "eval 'return 8'; echo NOT", "eval 'if then'; echo $?", "echo \"${BASH_COMMAND}\"",
	"set -o history\necho a\nhistory | cut -c8-", "echo $BASH_SUBSHELL $SHLVL; echo ${-//[^hBH]}",
	"a=(1 2\n3); echo ${a[2]} $LINENO", "case x in\nx) echo $LINENO;;\nesac",
	"coproc cat; kill $!; wait 2>/dev/null; true", "echo $_",
	"printf '%s\n' \"$0\" $#", "shopt -s extglob\necho @(a|b)", "TIMEFORMAT=timed; time true 2>/dev/null >&2",
	"kill -USR1 $$ & wait $!; echo $?", "trap 'echo U $LINENO' USR1; kill -USR1 $BASHPID; echo on",
}

// TestEvalIsNotSeen: a text that eval has runs as one that is sourced: its outputs, its status and what it leaves are
// the same.
func TestEvalIsNotSeen(t *testing.T) {
	t.Parallel()
	for _, text := range evaluated {
		words := evalWords(text)
		eval, source := evalRun(t, `\eval -- `+words+"\n"), evalRun(t, text)
		if eval != source {
			t.Errorf("%q: %q, sourced %q", text, eval, source)
		}
	}
}

// evalRun is what a bash like a shell's prints when it sources a text, then its status and a summary of its state.
func evalRun(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, shelldir.EvalFile)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "--noediting", "-i")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "PS1=", "PS2=", "HISTFILE="}
	cmd.Stdin = strings.NewReader("PS1= PS2=; set +H +o history; exec 2>&1\n{ \\. " + state.Quote(file) +
		"\n} </dev/null\necho \"= $?\"; trap; set +o | grep -v history; alias; echo \"$@ $x $y\"\n")
	out, _ := cmd.CombinedOutput()
	_, after, _ := strings.Cut(strings.ReplaceAll(string(out), dir, "DIR"), "no job control in this shell\n")
	after = strings.ReplaceAll(after, "bash: DIR/"+shelldir.EvalFile+": ", "bash: eval: ")
	return after
}

// TestEvalWords: the words of eval are the text, whatever is in it.
func TestEvalWords(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"spaces": strings.Repeat(" ", 3*evalWord), "quotes": strings.Repeat("' ", evalWord), "none": strings.Repeat("x",
			5*evalWord), "mixed": strings.Repeat("a 'b'\n\t\\ \"$c\" ", 2000),
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "/dev/stdin")
		cmd.Stdin = strings.NewReader("f() { printf %s \"$*\"; }\nf " + evalWords(text) + "\n")
		if out, err := cmd.Output(); err != nil || string(out) != text {
			t.Errorf("%s: %d bytes of %d, %v", name, len(out), len(text), err)
		}
	}
	for name, text := range map[string]string{"long": strings.Repeat("x ", maxEval/2+1),
		"quotes without a space": strings.Repeat("'", maxWordQuotes+1)} {
		if evalWords(text) != "" {
			t.Errorf("%s: bash would take long", name)
		}
	}
}
