package tests

import (
	"strings"
	"testing"
)

// TestRemoteExec is a shell wherever it runs (F-093:
// tests/test_sandbox_integration.py, test_*_basic_execution and test_*_terminal_state_persistence).
func TestRemoteExec(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, at *site) {
		w := at.rent("work", nil)
		w.run("echo hello").is(0, "hello\n")
		w.run("exit 7").is(7, "")
		w.run("(exit 255)").is(255, "")
		w.run("echo out; echo err >&2; false").fails(1, "out\n", "err")
		w.run(`printf '\0\1\377\n\200x'`).is(0, "\x00\x01\xff\n\x80x")
		w.run("cat", body{"stdin": "typed\n"}).is(0, "typed\n")
		w.run("head -c 300000 /dev/zero | tr '\\0' x").is(0, strings.Repeat("x", 300000))

		w.run("mkdir -p 'a dir/b' && cd 'a dir/b' && export WHO=\"it's me\" LINES2=$'a\\nb' && unset HOME").is(0, "")
		w.run(`printf '%s|%s|%s' "$WHO" "$LINES2" "${HOME-none}"; basename "$PWD"`).is(0, "it's me|a\nb|noneb\n")
		w.run("pwd", body{"cwd": ".."}).is(0, strings.TrimSuffix(w.says("pwd"), "/b")+"\n")
		w.run("pwd", body{"cwd": "/no/such"}).fails(1, "", "/no/such")
		w.run("echo $ONCE$WHO", body{"env": body{"ONCE": "1", "WHO": "2"}}).is(0, "12\n")
		w.run("echo $ONCE$WHO").is(0, "it's me\n")
		w.run("sleep 30; echo NOT", body{"timeout_ms": 700}).timedOut()
		w.run("echo after").is(0, "after\n")

		state := w.terminal()
		if !strings.HasSuffix(state.Cwd, "a dir/b") || state.EnvDelta["WHO"] != "it's me" {
			t.Errorf("the terminal is %+v", state)
		}
		if list := w.commands(""); len(list) < 10 || !list[0].ended("done", 0) {
			t.Errorf("the history is %v", list)
		}
	})
}

// TestRemoteCommandsStayInOrder: commands of one shell wait for each other, also those that are sent at once; one in
// the background waits for nobody.
func TestRemoteCommandsStayInOrder(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, at *site) {
		w := at.rent("order", nil)
		w.run("n=0; export n").is(0, "")
		var all []*came
		for range 5 {
			all = append(all, w.later(body{"command": "sleep 0.05; n=$((n+1)); echo $n"}))
		}
		for _, c := range all {
			c.result()
		}
		w.run("echo $n").is(0, "5\n")
		w.send(body{"command": "sleep 1; echo late", "background": true}).wants(202)
		w.run("echo now").is(0, "now\n")
	})
}
