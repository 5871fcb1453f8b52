package snapshot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// charsetScreens are what vttest sends in its tests of character sets, in words of our
// own: menus that are answered, and a screen with each set in G0 and in G1.
func charsetScreens() string {
	var b strings.Builder
	menu := func(choice string) {
		b.WriteString("\x1b[2J\x1b[?42l\x1b(B\x1b)A\x1b*A\x1b+A\x1b[2J\x1b[3;10HA menu\x1b[5;10HTake one:\r\r\n" +
			"\x1b[6;1H\x1b[0J\r\r\n")
		for i := range 13 {
			fmt.Fprintf(&b, "          %d. an entry of the menu\r\n", i)
		}
		b.WriteString("\r\n          Number: " + choice + "\r\n")
	}
	b.WriteString("\x1b[?1l\x1b[?3l\x1b[?4l\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?8l\x1b[?40h\x1b[?45l\x1b[r\x1b[0m")
	menu("3")
	menu("8")
	b.WriteString("\x1b[2J\x1b[1;10HIn G0 (SI)\x1b[1;48HIn G1 (SO)\x1b)B\x1b(B\x0e")
	for i, set := range "BA012" {
		y := 3 + 4*i
		fmt.Fprintf(&b, "\x1b[%d;1H\x1b[1mSet %c\x1b[0m", y, set)
		for g, column := range []int{10, 48} {
			if set == 'A' {
				b.WriteString("\x1b[?42h")
			}
			if g == 0 {
				fmt.Fprintf(&b, "\x1b(%c\x1b)B\x0f", set)
			} else {
				fmt.Fprintf(&b, "\x1b)%c\x1b(B\x0e", set)
			}
			for row := range 3 {
				fmt.Fprintf(&b, "\x1b[%d;%dH", y+1+row, column)
				for c := range 32 {
					b.WriteByte(byte(0x20 + 32*row + c))
				}
			}
			if set == 'A' {
				b.WriteString("\x1b[?42l")
			}
		}
		b.WriteString("\x1b)B\x1b(B\x0e")
	}
	b.WriteString("\x1b(B\x1b)B\x0f\x1b[24;1HPress a key\r\n")
	menu("\r\n\r\n\r\n\r\n0")
	return b.String()
}

// TestCharacterSetsResized: a program with character sets, whose window becomes smaller
// and then larger in the middle, goes on for viewers that come anywhere. At the end the
// cursor that was never saved is restored: its line went into the history.
func TestCharacterSetsResized(t *testing.T) {
	t.Parallel()
	j := startJudge(t)
	text := charsetScreens()
	first, second := len(text)*45/100, len(text)*75/100
	tr := trial{
		stream: stream{cols: 80, rows: 24, scrollback: 5000, unicode: vt.Unicode11},
		tokens: []token{{text: text[:first]}, {cols: 60, rows: 19}, {text: text[first:second]}, {cols: 91, rows: 30},
			{text: text[second:]}},
	}
	jb := resumed(engineUnderTest, tr, cutEvery*few(2, 9))
	for _, m := range j.resume(t, jb) {
		t.Errorf("cut at byte %d, seen at the %s:\n%s", jb.heads[m.Cut], m.When, strings.Join(m.What, "\n"))
	}
}
