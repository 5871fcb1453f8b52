package wait_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

// editors are line editors whose prompt is `p# `, without marks and with them.
var editors = map[string]struct{ shell, set string }{
	"bash":        {"bash --norc --noprofile", "PS1='p# '"},
	"bash, marks": {"bash --norc --noprofile", `PS1='\[\e]133;A\a\]p# \[\e]133;B\a\]'`},
	"bash, vi":    {"bash --norc --noprofile -o vi", "PS1='p# '"},
	"zsh":         {"zsh -f", "PS1='p# '; RPROMPT=right; bindkey -e"},
	"zsh, marks":  {"zsh -f", `PS1=$'%{\e]133;A\a%}p# %{\e]133;B\a%}'; bindkey -e`},
	"fish": {"fish --no-config",
		"function fish_prompt; echo 'p# '; end; function fish_right_prompt; echo right; end"},
	"fish, marks": {"fish --no-config", `function fish_prompt; printf '\e]133;A\ap# \e]133;B\a'; end`},
}

// edit starts an editor and waits for its prompt; it skips where there is none.
func edit(t *testing.T, m *supervisor.Supervisor, name string) *terminal.Terminal {
	t.Helper()
	e := editors[name]
	cmd := strings.Fields(e.shell)
	if _, err := exec.LookPath(cmd[0]); err != nil {
		t.Skip("no such shell here")
	}
	term := start(t, m, cmd...)
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
	seq := typeIn(t, term, e.set+"\r")
	await(t, term, one(wire.WaitCondition{For: "regex", Pattern: `^p# ( *right)?$`}, &seq))
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
	return term
}

// typeSlowly types what shows something and waits until a screen has settled behind that.
func typeSlowly(t *testing.T, term *terminal.Terminal, keys string) {
	t.Helper()
	seq := typeIn(t, term, keys)
	await(t, term, one(wire.WaitCondition{For: "idle", IdleMS: (noPromptFor / 4).Milliseconds()}, &seq))
}

// blocked has the terminal run a program that prints `output` when release is called.
func blocked(t *testing.T, term *terminal.Terminal, how ...string) (release func()) {
	t.Helper()
	file := t.TempDir() + "/released"
	command := "echo be''gun; sh -c 'until test -e " + file + "; do sleep 0.05; done; echo out''put'"
	seq := typeIn(t, term, strings.Join(append([]string{command}, how...), " ")+"\r")
	await(t, term, one(wire.WaitCondition{For: "text", Pattern: "begun"}, &seq))
	return func() {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Error(err)
		}
	}
}

// TestPromptWhileALineIsEdited: a prompt is none while something is typed at it, and one again when
// that is gone, however it went.
func TestPromptWhileALineIsEdited(t *testing.T) {
	parallel(t)
	m := openNative(t, t.TempDir())
	for name := range editors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leave := "+\x07" // a search
			if strings.HasPrefix(name, "fish") {
				leave = "+\x1b"
			}
			// Keys: "-" stands before those that leave text, "+" before the others.
			for what, steps := range map[string][]string{
				"typed ahead":          {"ahead", "-n", "+\x7f\x7f\x7f\x7f\x7f\x7f"},
				"only typed ahead":     {"ahead", "+\x15"},
				"ahead, then history":  {"ahead", "-\x17\x1b[A", "+\x15"},
				"nothing to erase":     {"", "+\x15", "+\x7f", "+\x1b", "+\x17", "+\x0c", "+\x03", "+\x03\x03"},
				"blanks":               {"", "-   ", "+\x7f\x7f\x7f"},
				"a cursor that moved":  {"", "-a b\x02\x02", "+\x03"},
				"words":                {"", "-ha lf", "-\x17", "-\x7f", "+\x17"},
				"history":              {"", "-\x1b[A", "+\x1b[B"},
				"lines in brackets":    {"", "-\x1b[200~one\rtwo\x1b[201~", "+\x03"},
				"a search":             {"", "-\x12ec", leave},
				"shown again":          {"", "-half", "-\x0c", "+\x15"},
				"the rest of a loop":   {"", "-for i in 1 2\r", "-do\r", "-x", "-\x7f", "+\x03"},
				"the rest of a line":   {"", "-echo \\\r", "-ab", "-\x15", "+\x03"},
				"the rest of a string": {"", "-echo 'a\r", "-b", "+\x03"},
				"a word completed":     {"", "-cd /\t", "+\x15"},
				"wide characters":      {"", "-ü€", "+\x7f\x7f"},
			} {
				term := edit(t, m, name)
				if steps[0] != "" {
					release := blocked(t, term)
					seq := typeIn(t, term, steps[0])
					await(t, term, one(wire.WaitCondition{For: "text", Pattern: "ahead"}, &seq))
					release()
					await(t, term, one(wire.WaitCondition{For: "regex", Pattern: `p# ahead`}, &seq))
				}
				for _, step := range steps[1:] {
					if step[0] == '+' {
						typeIn(t, term, step[1:])
						waitFor(t, term, wire.WaitCondition{For: "prompt"})
					} else if typeSlowly(t, term, step[1:]); hasPrompt(t, term, nil) {
						t.Errorf("%s: at %q a prompt is seen in\n%s", what, step, screen(term))
					}
				}
			}
		})
	}
}

// TestPromptOnAChangedScreen: a line knows its prompt after a resize, and below output that came in
// between.
func TestPromptOnAChangedScreen(t *testing.T) {
	parallel(t)
	m := openNative(t, t.TempDir())
	for name := range editors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, keys := range []string{"half", "\x1b[A"} {
				term := edit(t, m, name)
				typeSlowly(t, term, keys)
				if err := term.Resize(50, 20); err != nil {
					t.Fatal(err)
				}
				waitFor(t, term, wire.WaitCondition{For: "idle", IdleMS: (noPromptFor / 4).Milliseconds()})
				if hasPrompt(t, term, nil) {
					t.Errorf("%q: after a resize a prompt is seen in\n%s", keys, screen(term))
				}
				seq := typeIn(t, term, "\x15")
				if strings.Contains(name, "marks") || name == "zsh" {
					waitFor(t, term, wire.WaitCondition{For: "prompt"}) // its mark, or its right prompt, is before
				} else {
					await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
				}
			}
			term := edit(t, m, name)
			release := blocked(t, term, "&")
			waitFor(t, term, wire.WaitCondition{For: "prompt"})
			typeSlowly(t, term, "half")
			release()
			see(t, term, "output")
			if hasPrompt(t, term, nil) {
				t.Errorf("below output a prompt is seen in\n%s", screen(term))
			}
			typeIn(t, term, "\x15")
			waitFor(t, term, wire.WaitCondition{For: "prompt"})
		})
	}
}

// TestPromptWithTextAfterAnotherServer: the next server knows of a line that was begun, and when it
// is gone.
func TestPromptWithTextAfterAnotherServer(t *testing.T) {
	parallel(t)
	for name := range editors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := openNative(t, dir)
			ids := map[string]string{}
			for _, keys := range []string{"half", "\x1b[A", "half\x15", "half\x03", "ahead"} {
				term := edit(t, m, name)
				ids[keys] = term.ID
				switch keys {
				case "half", "\x1b[A":
					typeSlowly(t, term, keys)
				case "ahead":
					release := blocked(t, term)
					typeSlowly(t, term, keys)
					release()
					await(t, term, one(wire.WaitCondition{For: "regex", Pattern: "p# ahead"}, nil))
				default:
					typeIn(t, term, keys)
					waitFor(t, term, wire.WaitCondition{For: "prompt"})
				}
			}
			leave(t, m)
			m = openNative(t, dir)
			for keys, id := range ids {
				term := find(t, m, id)
				if keys == "half" || keys == "\x1b[A" || keys == "ahead" {
					if hasPrompt(t, term, nil) {
						t.Errorf("%q: a prompt is seen in\n%s", keys, screen(term))
					}
					typeIn(t, term, "\x15")
				}
				waitFor(t, term, wire.WaitCondition{For: "prompt"})
				typeSlowly(t, term, "x")
				if hasPrompt(t, term, nil) {
					t.Errorf("%q: behind x a prompt is seen in\n%s", keys, screen(term))
				}
				typeIn(t, term, "\x7f\x15")
				waitFor(t, term, wire.WaitCondition{For: "prompt"})
			}
		})
	}
}
