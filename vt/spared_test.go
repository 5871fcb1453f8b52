package vt

import "testing"

// TestSelectiveEraseAgain: DECSED, DECSEL and DECSERA erase a row again once the screen is wider,
// and once the number of a style is another's.
func TestSelectiveEraseAgain(t *testing.T) {
	changes := map[string]func(e *Terminal){
		"a wider screen": func(e *Terminal) { e.Resize(20, 3) },
		"other numbers": func(e *Terminal) {
			e.styles.sweep(loseNothing, e.screens()...)
			e.penChanged()
			e.Write([]byte("\x1b[45m"))
		},
	}
	for name, change := range changes {
		for _, screen := range []string{"", "\x1b[?1049h"} {
			for _, erase := range []string{"\x1b[?2J", "\x1b[?2K", "\x1b[1;1;9;99${"} {
				e := New(Config{Cols: 10, Rows: 3})
				e.Write([]byte(screen + "\x1b[41mx\r\x1b[1\"qa\x1b[\"q\x1b[44m" + erase + erase))
				change(e)
				e.Write([]byte(erase))
				want := e.blankStyle()
				for x, c := range e.screen.cells(e.screen.row()) {
					if x > 0 && c.style() != want {
						t.Errorf("%s, %q: column %d has style %d, not %d", name, screen+erase, x, c.style(), want)
					}
				}
			}
		}
	}
}
