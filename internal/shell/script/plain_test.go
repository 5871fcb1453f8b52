package script

import (
	"os/exec"
	"strings"
	"testing"
)

// TestIsPlain: what is called plain bash reads to its end and not beyond, whatever stands around it.
func TestIsPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"true": true, " true ": true, "false | true": true, "a && b || c; d": true, "a;": true, "(exit 42)": true,
		"(a; b) >/dev/null 2>&1": true, "echo 'it' \"$x ${y} $(date)\" $? $1": true, "x=1": true, "x=1 cmd": true,
		"! true": true, "echo a\\ b \\' \"\\\"\"": true, "cd /usr": true, "<file": true, "<in": false, "2>&1": true,
		"echo {a,b} [!a]*": true,
		"echo ${x:-y}":     true, "echo a#b": true, "[ -e x ]": true,
		"": false, " ": false, "a\nb": false, "a &": false, "a | ": false, "a &&": false, "; a": false, "a ;; b": false,
		"(a": false, "a)": false, "()": false, "f() { a; }": false, "f()": false, "echo 'x": false, "echo \"x": false,
		"echo $(a": false, "echo ${x": false, "cat <<X": false, "cat <<<x": false, "a \\": false, "if true": false,
		"{ a": false, "}": false, "for x in a": false, "echo `a`": false, "# a": false, "a # b": false, "exit 3": false,
		"return": false, "exec a": false, "echo a >": false, "a ||| b": false, "((1))": false, "$((1))": false,
		"echo $'a'": false, "echo $\"a\"": false, "[[ a ]]": false, "time a": false, "a |& b": false, "cat <(a)": false,
		"!": false, "! ": false, "a=(1 2)": false, "eval a": false, "coproc a": false, "echo a\x00": false,
		"(a) b":   false,
		"a b (c)": false, "a <>x": false, "$(exit 3)": true, strings.Repeat("(", 50) + "a" + strings.Repeat(")",
			50): false,
	} {
		if got := IsPlain(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
		if !want {
			continue
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-n")
		cmd.Stdin = strings.NewReader("{ " + text + "\n}\n( " + text + "\n)\n")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q: %v, %s", text, err, out)
		}
	}
}

// FuzzIsPlain: bash agrees about what is plain.
func FuzzIsPlain(f *testing.F) {
	for _, text := range []string{"a 'b' \"$c\" | (d; e) >f && $(g)", "! x=\\' ${y:-z}", "((a))", "a\\"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !IsPlain(text) || strings.Contains(text, "\x00") {
			return
		}
		cmd := exec.CommandContext(t.Context(), "bash", "-n")
		cmd.Env = []string{"LC_ALL=C.UTF-8"}
		cmd.Stdin = strings.NewReader("{ " + text + "\n}\n( " + text + "\n)\n")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%q: %v, %s", text, err, out)
		}
	})
}
