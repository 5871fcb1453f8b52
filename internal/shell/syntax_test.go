package shell

import (
	"strings"
	"testing"
)

// TestSyntaxErrorsNameNoFile: what bash says of a text that it cannot read has the line of the text and no path of
// ours, however the command is run.
func TestSyntaxErrorsNameNoFile(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, c := range []struct{ text, says string }{
		{"if then", "bash: eval: line 1: syntax error near unexpected token `then'\nbash: eval: line 1: `if then'\n"},
		{"true\n\n}\ntrue", "bash: eval: line 3: syntax error near unexpected token `}'\nbash: eval: line 3: `}'\n"},
		{"true\necho 'x", "bash: eval: line 2: unexpected EOF while looking for matching `''\n"},
		{"-x() { (\n}", "bash: eval: line 2: syntax error near unexpected token `}'\nbash: eval: line 2: `}'\n"},
		{strings.Repeat("true and more words\n", 1000) + "fi",
			"bash: eval: line 1001: syntax error near unexpected token `fi'\nbash: eval: line 1001: `fi'\n"},
	} {
		for name, command := range map[string]Command{
			"plain": {Text: c.text}, "directory": {Text: c.text, Cwd: "/usr"},
			"variables": {Text: c.text, Env: map[string]string{"K": "v"}},
		} {
			if r := do(t, s, command); r.ExitCode != 2 || r.err != c.says {
				t.Errorf("%s: %.40q: code %d, %q; want %q", name, c.text, r.ExitCode, r.err, c.says)
			}
		}
	}
	run(t, s, "trap 'echo E' ERR")
	if r := run(t, s, "if then"); strings.Contains(r.err, s.spec.Dir) || r.ExitCode != 2 || r.out != "" {
		t.Errorf("%+v", r)
	}
}
