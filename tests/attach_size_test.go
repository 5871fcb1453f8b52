package tests

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// clipped is the part of a screen's text that a window shows from a column and row on.
func clipped(text string, x, y, cols, rows int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out []string
	for _, l := range lines[min(y, len(lines)):min(y+rows, len(lines))] {
		r := []rune(l)
		out = append(out, strings.TrimRight(string(r[min(x, len(r)):min(x+cols, len(r))]), " "))
	}
	return strings.TrimRight(strings.Join(out, "\n"), "\n")
}

// withoutArrows reports whether a window of so many columns shows the text, but for arrows at the end of one row.
func withoutArrows(window, text string, cols int) bool {
	got, want := strings.Split(window, "\n"), strings.Split(text, "\n")
	arrows := 0
	for y := range max(len(got), len(want)) {
		row := func(of []string) string {
			if y >= len(of) {
				return ""
			}
			return of[y]
		}
		g, w := row(got), row(want)
		if g == w {
			continue
		}
		bare := strings.TrimRight(g, "<^v>")
		arrows++
		if n := len(g) - len(bare); n == 0 || len([]rune(g)) != cols ||
			strings.TrimRight(bare, " ") != strings.TrimRight(string([]rune(w)[:min(cols-n, len([]rune(w)))]), " ") {
			return false
		}
	}
	return arrows <= 1
}

// TestAttachOpensWhereTheCursorIs: of a terminal that is larger than the window it shows the cursor, and says with
// arrows where it cuts something off; a window that has room for all of it shows it as it is.
func TestAttachOpensWhereTheCursorIs(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	const rows = `for i in $(seq 38); do printf '%03d%0116d\n' $i 7; done; `
	for name, tc := range map[string]struct{ prints, flags, arrows string }{
		"corner":  {rows + `printf '\e[39;119H#\e[D'`, "", "<^"},
		"middle":  {rows + `printf '\e[20;60H#\e[D'`, "", "<^v>"},
		"top":     {rows + `printf '\e[1;60H#\e[D'`, "", "<v>"},
		"start":   {rows + `printf '\e[H#\e[D'`, "", "v>"},
		"nothing": {`printf '\e[39;119H#\e[D'`, "", ""},
		"status":  {rows + `printf '\e[20;60H#\e[D'`, " --status", "120x40 ^v>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell := []string{"bash", "-c", "stty -echo; " + tc.prints + "; read -r"}
			id := s.createWith(wire.CreateTerminal{Cmd: shell, Cols: new(120), Rows: new(40), SizePolicy: "fixed"}).ID
			s.await(id, "#")
			cmd := []string{binary, "attach", id, "--nested", "--data-dir", s.how.dir}
			cmd = append(cmd, strings.Fields(tc.flags)...)
			cols := 50 + 50*len(strings.Fields(tc.flags)) // a status line has more to say
			me := people.createWith(wire.CreateTerminal{Cmd: cmd, Cols: &cols, Rows: new(12)}).ID
			eventually(t, "the cursor and the arrows are in the window", func() bool {
				screen := screenOf(people, me)
				row := []rune(screen.Lines[screen.Cursor.Y].Text)
				return screen.Cursor.Visible && screen.Cursor.X < len(row) && row[screen.Cursor.X] == '#' &&
					strings.Contains(people.text(me), tc.arrows)
			})
			if tc.arrows == "" && strings.ContainsAny(people.text(me), "<^v>") {
				t.Errorf("nothing is cut off of\n%s", people.text(me))
			}
			people.must(people.Resize(people.ctx(), me, 120, 40+len(strings.Fields(tc.flags))))
			eventually(t, "a window with room for it shows it as it is", func() bool {
				want, got := screenOf(s, id), screenOf(people, me)
				return got.Cursor == want.Cursor && got.Rows >= want.Rows &&
					slices.Equal(looks(got.Lines[:want.Rows]), looks(want.Lines))
			})
		})
	}
}

// TestAttachObeysTheSizePolicy: windows of all sizes on a terminal of every policy. Its
// size is what the policy makes of them, and each shows its part of the screen.
func TestAttachObeysTheSizePolicy(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{auth: "token"}), start(t, launch{})
	screen := func(of *server, id string) string {
		shot, err := of.Snapshot(of.ctx(), id, client.Text, 0)
		of.must(err)
		return shot.Text
	}
	attach := func(id string, cols, rows int, more ...string) string {
		n := s.info(id).Viewers
		cmd := append([]string{binary, "attach", id, "--nested", "--data-dir", s.how.dir}, more...)
		me := people.createWith(wire.CreateTerminal{Cmd: cmd, Cols: new(cols), Rows: new(rows)}).ID
		eventually(t, "attached", func() bool { return s.info(id).Viewers == n+1 })
		return me
	}
	for _, tc := range []struct {
		policy            string
		first, both       [2]int // size with the first window of 60x15, with a second of 110x35 too
		typed, afterwards [2]int // after the first one typed, and when it has gone
	}{
		{"fixed", [2]int{90, 30}, [2]int{90, 30}, [2]int{90, 30}, [2]int{90, 30}},
		{"latest", [2]int{60, 15}, [2]int{110, 35}, [2]int{60, 15}, [2]int{110, 35}},
		{"owner", [2]int{60, 15}, [2]int{60, 15}, [2]int{60, 15}, [2]int{110, 35}},
		{"smallest", [2]int{60, 15}, [2]int{60, 15}, [2]int{60, 15}, [2]int{110, 35}},
		{"largest", [2]int{60, 15}, [2]int{110, 35}, [2]int{110, 35}, [2]int{110, 35}},
	} {
		t.Run(tc.policy, func(t *testing.T) {
			id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "-c",
				"stty -echo; seq 40; printf '%0200d' 7; while read -r l; do printf '%s\\n%060d' \"$l\" 1; done"},
				Cols: new(90), Rows: new(30), SizePolicy: wire.SizePolicy(tc.policy)}).ID
			s.await(id, "0007$")
			is := func(what string, want [2]int) {
				t.Helper()
				eventually(t, fmt.Sprintf("%s: the terminal is %v", what, want), func() bool {
					i := s.info(id)
					return [2]int{i.Cols, i.Rows} == want
				})
			}
			windows := map[string][2]int{}
			all := func(what string) {
				t.Helper()
				for me, w := range windows {
					eventually(t, what+": the window shows its part", func() bool {
						i, whole, mine := s.info(id), screen(s, id), strings.TrimRight(screen(people, me), "\n")
						for y := range max(1, i.Rows-w[1]+1) {
							for x := range max(1, i.Cols-w[0]+1) {
								if withoutArrows(mine, clipped(whole, x, y, w[0], w[1]), w[0]) {
									return true
								}
							}
						}
						return false
					})
				}
			}
			reader := attach(id, 50, 12, "--read-only")
			windows[reader] = [2]int{50, 12}
			is("a reader", [2]int{90, 30})
			all("a reader")
			one := attach(id, 60, 15)
			windows[one] = [2]int{60, 15}
			is("one", tc.first)
			all("one")
			two := attach(id, 110, 35)
			windows[two] = [2]int{110, 35}
			is("two", tc.both)
			all("two")
			people.input(one, "typed\r")
			is("typed", tc.typed)
			all("typed")
			people.input(one, "\x1c\x1c")
			eventually(t, "one has left", func() bool { return s.info(id).Viewers == 2 })
			delete(windows, one)
			is("afterwards", tc.afterwards)
			all("afterwards")
			people.must(people.Resize(people.ctx(), reader, 45, 20))
			windows[reader] = [2]int{45, 20}
			all("the reader's window changed")
			is("the reader's window changed", tc.afterwards)
		})
	}
}
