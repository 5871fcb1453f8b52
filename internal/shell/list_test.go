package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entries is what history lists, one entry a line, without its own entry.
func entries(t *testing.T, s *Shell) string {
	t.Helper()
	r := run(t, s, "history")
	var list []string
	for line := range strings.Lines(r.out) {
		_, text, _ := strings.Cut(strings.TrimLeft(strings.TrimSuffix(line, "\n"), " "), "  ")
		list = append(list, text)
	}
	if n := len(list); n > 0 && list[n-1] == "history" {
		list = list[:n-1]
	}
	return strings.Join(list, "\n")
}

// TestHistoryIsTheUsers: who turns history on finds the texts of commands in the list and the file, an entry each, and
// never a line of ours, whatever happens to commands.
func TestHistoryIsTheUsers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	s, _, leave := firstServer(t, data)
	file := filepath.Join(data, "kept")
	if err := os.WriteFile(file, []byte("earlier\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := entries(t, s); got != "" {
		t.Errorf("of a fresh shell: %q", got)
	}
	run(t, s, "HISTFILE="+file+" HISTCONTROL=ignorespace\nset -o history")
	expect(t, run(t, s, "echo 'one'  two; [[ -o history ]] && echo on"), 0, "one two\non\n")
	run(t, s, " echo not kept")
	do(t, s, Command{Text: "pwd", Cwd: "/usr"})
	do(t, s, Command{Text: "echo $K", Env: map[string]string{"K": "v"}})
	do(t, s, Command{Text: "echo beside", Background: true})
	if err := s.SetEnv(limited(t), map[string]string{"A": "1"}, nil); err != nil {
		t.Fatal(err)
	}
	e := begin(t, s, Command{Text: ">began; sleep 1000; echo NOT"})
	if !poll(func() bool { _, err := os.Stat(filepath.Join(data, "began")); return err == nil }) {
		t.Fatal("it does not begin")
	}
	e.Cancel()
	if r := result(t, e); !r.Cancelled || r.ShellEnded {
		t.Errorf("%+v", r)
	}
	run(t, s, "echo ${nope?gone}")
	run(t, s, "set -x")
	run(t, s, "set +x")
	run(t, s, "trap 'true' ERR")
	run(t, s, "false")
	run(t, s, "if then")
	want := "earlier\necho 'one'  two; [[ -o history ]] && echo on\npwd\necho $K\n>began; sleep 1000; echo NOT\necho " +
		"${nope?gone}\nset -x\nset +x\ntrap 'true' ERR\nfalse\nif then"
	if got := entries(t, s); got != want {
		t.Errorf("the list is\n%s\nwant\n%s", got, want)
	}
	settled(t, s)
	leave()
	s = nextServer(t, data)
	run(t, s, "exit 3")
	want += "\nhistory\nexit 3"
	if text, err := os.ReadFile(file); err != nil || string(text) != want+"\n" {
		t.Errorf("the file is\n%s\nwant\n%s\n(%v)", text, want, err)
	}
	if r := run(t, s, "[[ -o history ]] && echo on; echo $HISTFILE"); r.out != "on\n"+file+"\n" || !r.Recreated {
		t.Errorf("%+v", r)
	}
	want += "\n[[ -o history ]] && echo on; echo $HISTFILE"
	if got := entries(t, s); got != want {
		t.Errorf("again the list is\n%s\nwant\n%s", got, want)
	}
	run(t, s, "set +o history")
	expect(t, run(t, s, "history -c; history; [[ -o history ]] || echo off"), 0, "off\n")
	expect(t, run(t, s, "history"), 0, "")
}

// TestHistoryOfARun: what follows the option in the same text is remembered line by line, as in a script.
func TestHistoryOfARun(t *testing.T) {
	t.Parallel()
	s := start(t)
	run(t, s, "set -o history\ntrue one\ntrue two")
	if got := entries(t, s); got != "true one\ntrue two" {
		t.Errorf("%q", got)
	}
}
