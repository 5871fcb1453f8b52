package terminal_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// TestPasteRunsNothing: what is pasted at a prompt of bash is text, whatever it holds,
// until Enter is pressed.
func TestPasteRunsNothing(t *testing.T) {
	m := open(t, t.TempDir())
	for _, sets := range []string{"", "stty intr @ quit % susp !\n"} {
		term := start(t, m, "bash", "--norc")
		see(t, term, `[$#] $`)
		if sets != "" {
			sent := typeIn(t, term, sets)
			await(t, term, wire.Wait{Any: []wire.WaitCondition{{For: "regex", Pattern: `[$#] $`}}, Since: &sent})
		}
		if !term.Hub().Modes().BracketedPaste {
			t.Skip("this bash does not ask for brackets")
		}
		s, err := term.Paste(context.Background(), "harmless \x03\x1c\x1a\x04@%!      echo INJ\"\"ECTED\n")
		if err != nil {
			t.Fatal(err)
		}
		see(t, term, "echo INJ")
		w, err := waits.Wait(context.Background(), term, wire.Wait{
			Any: []wire.WaitCondition{{For: "text", Pattern: "INJECTED"}}, Since: &s.Seq, TimeoutMS: 500})
		if !errors.Is(err, terminal.ErrTimeout) {
			t.Errorf("after %q: %v; the paste ran:\n%s", sets, err, w.Text)
		}
	}
}

// TestPastedLinesAreNotDoubled: CR LF is one newline for a program that asked for brackets.
func TestPastedLinesAreNotDoubled(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `stty -echo; printf '\e[?2004hready'
		for i in 1 2 3; do IFS= read -r l; printf '<%q>' "$l"; done; printf end; read x`)
	see(t, term, "ready")
	if _, err := term.Paste(context.Background(), "one\r\ntwo\r\n"); err != nil {
		t.Fatal(err)
	}
	typeIn(t, term, "\n")
	w := see(t, term, "end")
	if !strings.Contains(w.Text, "one'><two>") || strings.Contains(w.Text, "<''>") {
		t.Errorf("the program read %q", w.Text)
	}
}

// TestMouse: a program gets what it asked for and nothing when it asked for nothing.
func TestMouse(t *testing.T) {
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `stty raw -echo; printf ready; read -rn1 x
		printf '\e[?1002h\e[?1006hasked'; read -rn 21 x; printf '%q' "$x"; sleep 1000`)
	see(t, term, "ready")
	at := vt.MouseEvent{X: 4, Y: 2, Button: "right"}
	if s, err := term.Mouse(context.Background(), at); err != nil || s.Bytes != 0 {
		t.Errorf("nobody asked for a mouse: %+v, %v", s, err)
	}
	typeIn(t, term, "x")
	see(t, term, "asked")
	if s, err := term.Mouse(context.Background(), at); err != nil || s.Bytes == 0 {
		t.Errorf("the program asked for a mouse: %+v, %v", s, err)
	}
	if _, err := term.Mouse(context.Background(), vt.MouseEvent{Action: "move"}); err != nil {
		t.Error(err)
	}
	see(t, term, `E\[<2;5;3M.E\[<2;5;3m.E\[<`)
}
