package tests

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAttachKeepsTheHistoryOfTmux: in a terminal that moves what ED erases into its scrollback, and reports whether its
// mouse is read. Nothing of the user's is erased, and nothing is there twice after a lost connection.
func TestAttachKeepsTheHistoryOfTmux(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("needs tmux as the user's terminal")
	}
	s := start(t, launch{})
	id := s.create("bash", "-c", `printf 'marked once\n\e[?1003h'; while read -r l; do printf "$l"; done`).ID
	socket := filepath.Join(t.TempDir(), "t")
	tmux := func(args ...string) string {
		t.Helper()
		args = append([]string{"-S", socket, "-f", "/dev/null"}, args...)
		out, err := exec.CommandContext(s.ctx(), "tmux", args...).Output()
		s.must(err)
		return string(out)
	}
	shows := func(text string) {
		t.Helper()
		eventually(t, text, func() bool { return strings.Contains(tmux("capture-pane", "-p"), text) })
	}
	reads := func(mouse string) {
		t.Helper()
		eventually(t, "the mouse", func() bool {
			return tmux("display-message", "-p", "#{mouse_any_flag}") == mouse+"\n"
		})
	}
	tmux("new-session", "-d", "-x", "80", "-y", "24",
		"seq 1000 1060; env -u TMUX "+binary+" attach "+id+" --data-dir "+s.how.dir+"; cat")
	t.Cleanup(func() { tmux("kill-server") })
	shows("marked once")
	reads("1")
	s.kill()
	shows("lost, trying again")
	reads("0")
	s.again()
	reads("1")
	shows("marked once")
	s.input(id, `\e[3J\ecbehind the reset`+"\n")
	shows("behind the reset")
	reads("0")
	s.must(s.Delete(s.ctx(), id, false))
	shows("[exited")
	all := tmux("capture-pane", "-p", "-S", "-")
	if !strings.Contains(all, "1000\n") || !strings.Contains(all, "1060\n") || strings.Count(all, "marked once") > 1 {
		t.Errorf("in the end there is\n%s", all)
	}
}
