package tests

import (
	"fmt"
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
								if clipped(whole, x, y, w[0], w[1]) == mine {
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
