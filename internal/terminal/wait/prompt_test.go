package wait_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/wire"
)

const (
	noPromptFor = 600 * time.Millisecond // four times the silence that makes a prompt
	running     = "R'UN'NING"            // typed; what is printed differs
)

// hasPrompt reports whether a wait for a prompt is met soon.
func hasPrompt(t *testing.T, term *terminal.Terminal, since *uint64) bool {
	t.Helper()
	w := wire.Wait{Any: []wire.WaitCondition{{For: "prompt"}}, Since: since, TimeoutMS: noPromptFor.Milliseconds()}
	_, err := waits.Wait(context.Background(), term, w)
	if err != nil && !errors.Is(err, terminal.ErrTimeout) {
		t.Fatal(err)
	}
	return err == nil
}

// TestPromptIsNone: whatever looks like a prompt and is none.
func TestPromptIsNone(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	bash := []string{"bash", "--norc"}
	for name, c := range map[string]struct {
		cmd   []string
		typed string // at the prompt, if any
	}{
		"a slow start":           {[]string{"bash", "-c", "sleep 1000"}, ""},
		"a command substitution": {bash, "echo " + running + "; x=$(sleep 1000)"},
		"wait":                   {bash, "sleep 1000 & echo " + running + "; wait"},
		"a busy loop":            {bash, "echo " + running + "; while :; do :; done"},
		"read -p":                {bash, "read -p " + running + "': ' x"},
		"the rest of a command":  {bash, "echo " + running + "; for i in 1"},
		"an open quote":          {bash, "echo " + running + `; echo "`},
		"sleep in Python":        {bash, "python3 -ic 'import time; print(\"RUN\"\"NING\"); time.sleep(1000)'"},
		"a pager":                {bash, "echo " + running + "; seq 1000 | less"},
		"a password":             {bash, "read -sp " + running + "': ' x"},
		"cat":                    {bash, "echo " + running + "; cat"},
		"cat without a shell":    {[]string{"sh", "-c", "printf RUNNING; exec cat"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(c.typed, "less") {
				if _, err := exec.LookPath("less"); err != nil {
					t.Skip("no less here")
				}
			}
			term := start(t, m, c.cmd...)
			var since *uint64
			if c.typed != "" {
				waitFor(t, term, wire.WaitCondition{For: "prompt"})
				seq := typeIn(t, term, c.typed+"\r")
				since = &seq
				if !strings.Contains(c.typed, "echo") {
					await(t, term, one(wire.WaitCondition{For: "text", Pattern: "RUNNING"}, since))
				}
			}
			if hasPrompt(t, term, nil) {
				t.Errorf("a prompt is seen in\n%s", screen(term))
			}
			if since != nil && hasPrompt(t, term, since) {
				t.Errorf("behind the input a prompt is seen in\n%s", screen(term))
			}
			if c.typed == "" {
				return
			}
			waitFor(t, term, wire.WaitCondition{For: "prompt", Not: true})
			if strings.Contains(c.typed, "less") {
				typeIn(t, term, "q")
			} else {
				typeIn(t, term, "\x03\x03\x03")
			}
			if strings.Contains(c.typed, "python3") {
				see(t, term, ">>> $")
				typeIn(t, term, "exit()\r")
			}
			await(t, term, one(wire.WaitCondition{For: "prompt"}, since))
		})
	}
}

// TestPromptIsOne: the shells that are believed.
func TestPromptIsOne(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	for _, shell := range []string{"bash --norc", "bash --norc --posix", "zsh -f", "fish --no-config", "mksh", "ksh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			cmd := strings.Fields(shell)
			if _, err := exec.LookPath(cmd[0]); err != nil {
				t.Skip("no such shell here")
			}
			term := start(t, m, cmd...)
			waitFor(t, term, wire.WaitCondition{For: "prompt"})
			begin := time.Now()
			seq := typeIn(t, term, "sleep 0.5\r")
			await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
			if d := time.Since(begin); d < 500*time.Millisecond {
				t.Errorf("a prompt after %v of sleep 0.5", d)
			}
			seq = typeIn(t, term, "abc")
			if hasPrompt(t, term, &seq) {
				t.Error("the echo of what was typed is taken for a prompt")
			}
			typeIn(t, term, "\x03")
			await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
			seq = typeIn(t, term, shell+"\r") // another one inside
			await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
			seq = typeIn(t, term, "echo ne''sted; sleep 1000\r")
			await(t, term, one(wire.WaitCondition{For: "regex", Pattern: "^nested$"}, &seq))
			if hasPrompt(t, term, &seq) || hasPrompt(t, term, nil) {
				t.Error("a prompt while a program of the inner shell runs")
			}
		})
	}
}

// TestPromptMarks: marks are believed, once, and only those behind the position.
func TestPromptMarks(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	const marks = `PS1='\[\e]133;A\a\]p> \[\e]133;B\a\]'`
	for name, set := range map[string]string{
		"A and B":         marks,
		"A, B, C and D":   marks + `; PS0='\[\e]133;C\a\]'; PROMPT_COMMAND='printf "\e]133;D\a"'`,
		"A and B, cooked": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := []string{"bash", "--norc"}
			if set == "" {
				cmd, set = append(cmd, "--noediting"), marks
			}
			term := start(t, m, cmd...)
			see(t, term, `[$#] $`)
			typeIn(t, term, set+"\n")
			see(t, term, "^p> $")
			waitFor(t, term, wire.WaitCondition{For: "prompt"})
			seq := term.Hub().Stats().Seq
			if hasPrompt(t, term, &seq) {
				t.Error("a mark before the position counts")
			}
			seq = typeIn(t, term, "abc")
			if hasPrompt(t, term, &seq) || hasPrompt(t, term, nil) {
				t.Error("a mark counts that something was typed behind")
			}
			typeIn(t, term, "\x15\n")
			await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
			begin := time.Now()
			seq = typeIn(t, term, "sleep 0.5\n")
			await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
			if d := time.Since(begin); d < 500*time.Millisecond {
				t.Errorf("a prompt after %v of sleep 0.5", d)
			}
			seq = typeIn(t, term, "bash --norc\n")
			await(t, term, one(wire.WaitCondition{For: "regex", Pattern: "bash.*[$#] $"}, &seq))
			await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq)) // it has no marks, but an editor
			seq = typeIn(t, term, "sleep 1000\n")
			await(t, term, one(wire.WaitCondition{For: "text", Pattern: "sleep"}, &seq))
			if hasPrompt(t, term, nil) {
				t.Error("marks of the outer shell count for a program of the inner one")
			}
		})
	}
}

// TestPromptNotBeforeOutput: a login shell with a slow start shows none.
func TestPromptNotBeforeOutput(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	dir := t.TempDir()
	rc := dir + "/rc"
	if err := exec.Command("sh", "-c", "echo 'sleep 1' > "+rc).Run(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	term := start(t, m, "bash", "--rcfile", rc)
	w := waitFor(t, term, wire.WaitCondition{For: "prompt"})
	if d := time.Since(begin); d < time.Second || w.Seq == 0 {
		t.Errorf("a prompt after %v at position %d; the shell sleeps for 1 s before it", d, w.Seq)
	}
}

// TestPromptAfterAnotherServer: a shell that waits is seen under the next server too, and a
// mark from before is not believed.
func TestPromptAfterAnotherServer(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	m := open(t, dir)
	waits := start(t, m, "bash", "--norc")
	waitFor(t, waits, wire.WaitCondition{For: "prompt"})
	busy := start(t, m, "bash", "-c", `printf '\e]133;A\ap> \e]133;B\a'; sleep 1000`)
	see(t, busy, "^p> $")
	leave(t, m)
	m = open(t, dir)
	waitFor(t, find(t, m, waits.ID), wire.WaitCondition{For: "prompt"})
	if hasPrompt(t, find(t, m, busy.ID), nil) {
		t.Error("a mark from before is believed")
	}
}

// TestTextForOthersIsNotAtThePrompt: what a program before the prompt has read is not typed at it.
func TestTextForOthersIsNotAtThePrompt(t *testing.T) {
	parallel(t)
	m := openNative(t, t.TempDir())
	term := start(t, m, "bash", "--norc", "--noprofile")
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
	for command, keys := range map[string]string{
		"bash --norc":                     "\x04",
		"read -n1 -p RE''ADY":             "y",
		"bash -c 'read -n1 -p RE\"\"ADY'": "y",
		"read -sn1 -p RE''ADY":            "y",
		"read -en1 -p RE''ADY:":           "y",
	} {
		seq := typeIn(t, term, command+"\r")
		if strings.Contains(command, "READY") || strings.Contains(command, "ADY") {
			await(t, term, one(wire.WaitCondition{For: "text", Pattern: "READY"}, &seq))
		} else {
			await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
		}
		seq = typeIn(t, term, keys)
		await(t, term, one(wire.WaitCondition{For: "prompt"}, &seq))
	}
}

func TestWaitPromptBelievesTheShell(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "sh", "-c",
		`printf '\033]133;C\007busy'; read x; printf '\033]133;A\007ready\033]133;B\007'; read x`)
	waitFor(t, term, wire.WaitCondition{For: "text", Pattern: "busy"})
	if _, err := waits.Wait(context.Background(), term,
		within(wire.WaitCondition{For: "prompt"}, 400*time.Millisecond)); !errors.Is(err, terminal.ErrTimeout) {
		t.Errorf("a command is running by its own word: %v, want ErrTimeout", err)
	}
	if _, err := term.Input(context.Background(), []byte("\n")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, term, wire.WaitCondition{For: "prompt"})
}
