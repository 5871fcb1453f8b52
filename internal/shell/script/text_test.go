package script

import (
	"os/exec"
	"strings"
	"testing"
)

// TestParseText: bash reads a whole text to its end and not beyond.
func TestParseText(t *testing.T) {
	t.Parallel()
	whole, several := Text{Whole: true}, Text{Whole: true, Several: true}
	shows, reads := Text{Whole: true, Shows: true}, Text{Whole: true, Reads: true}
	traps, returns := Text{Whole: true, Traps: true}, Text{Whole: true, Returns: true}
	for text, want := range map[string]Text{
		"true": whole, " true ": whole, "true\n": whole, "false | true # end": whole, "# begin\n\ntrue\n\n": whole,
		"a && b || c; d": whole, "a;": whole, "a &": whole, "{ a; }": whole, "x=1": whole, "a |\nb": whole,
		"if a; then\nb\nfi": whole, "for x in a b; do c; done | d": whole, "case x in\na) b;;\nesac": whole,
		"cat <<X\nhi\nX": whole, "cat <<X\nhi\nX\n": whole, "echo \\\n": whole, "f() { a; }; f": whole,
		"echo $(a) `b` <(c) $((1+2)) ${x:-y}": whole, "[[ a =~ b ]]": whole, "((1))": whole, "a=(1\n2)": whole,
		"time a": whole, "! a": whole, "a |& b": whole, "f() { return 3; }; f": whole,
		"a\nb": several, "cat <<X\nhi\nX\nb": several, "if a; then\nb\nfi\nc": several, "cat <<X; b\nhi\nX": whole,
		"(exit 42)": whole, "exit 3": whole, "(exec a)": whole, "set -e": whole, "set -- -x": shows,
		"set -euo pipefail": whole,
		". x":               reads, "eval x": reads, "shopt -s nullglob": reads,
		"alias a=b": reads, "set -o history": reads, "f() { alias a=b; }": reads,
		"set -x": shows, "set -euxo pipefail": shows, "set -o xtrace": shows, "a; trap b EXIT": traps,
		"trap a DEBUG": {Whole: true, Shows: true, Traps: true}, "builtin set -v": shows,
		"\\set -v": shows, "command -p set +x": shows,
		"shopt -s extdebug": {Whole: true, Shows: true, Reads: true}, "f() { set -x; }": shows, "(set -x)": shows,
		"return 3": returns, "if a; then return; fi": returns, "f() { a; }; return": returns, "command return": returns,
		"": {}, " ": {}, "# a": {}, "a | ": {}, "a &&": {}, "; a": {}, "a ;; b": {}, "(a": {}, "a)": {}, "echo 'x": {},
		"echo \"x": {}, "echo $(a": {}, "echo ${x": {}, "cat <<X\nhi": {}, "a \\": {}, "if true": {}, "{ a": {},
		"}":          {},
		"for x in a": {}, "echo `a": {}, "a ||| b": {}, "!": {}, "echo a\x00": {}, "a\r\n": {}, "printf() { a; }": {},
		"coproc cat": {}, "time": {}, "f() a": {}, "echo >1>2": {}, "else": {}, "echo @(a|b)": {},
		strings.Repeat("a", maxText+1): {},
	} {
		got := ParseText(text)
		if got != want && (got.Whole || want.Whole) {
			t.Errorf("%.60q: %+v, want %+v", text, got, want)
		}
		if want.Whole {
			if complaint := read(t, text); complaint != "" {
				t.Errorf("%q: %s", text, complaint)
			}
		}
	}
}

// read is what bash says when it reads a text as the control line and the file of a command have it.
func read(t *testing.T, text string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-n")
	cmd.Env = []string{"LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader("{ " + text + "\n}\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return err.Error() + " " + string(out)
	}
	return string(out)
}

// FuzzParseText: bash agrees about what is whole.
func FuzzParseText(f *testing.F) {
	for _, text := range append(evaluated, "a 'b' \"$c\" | (d; e) >f && $(g)", "! x=\\' ${y:-z}", "((a))", "a\\",
		"case x in (a) b;; c|d) e;& f) g;;& esac", "select x; do :; done", "a() ( b )", "cat <<-'X' <<Y\n\tX\nY\n") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if ParseText(text).Whole && !strings.Contains(text, "(}") { // as a pattern of case, which bash refuses
			if complaint := read(t, text); complaint != "" {
				t.Errorf("%q: %s", text, complaint)
			}
		}
	})
}
