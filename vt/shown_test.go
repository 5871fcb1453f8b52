package vt

import (
	"fmt"
	"strings"
	"testing"
)

// TestViewersGetWhatIsKnown: of what viewers do not show, or no snapshot restores, they get
// nothing that does anything, however it is split and whatever ends it.
func TestViewersGetWhatIsKnown(t *testing.T) {
	hidden := []string{
		"\x1b[>4;2m", "\x1b[>4m", "\x1b[?4m", "\x1b[5i", "\x1b[?5i",
		"\x1b[4i", "\x1b[#{", "\x1b[#p", "\x1b[>1T", "\x1b[>2t",
		"\x1b[1c", "\x1b[?99n", "\x1b[7n", "\x1b[61\"p",
		"\x1b[2*x", "\x1b[?2048h", "\x1b[?2048l", "\x1b[?5522h", "\x1b[2h",
		"\x1b[12l", "\x1b[?3h", "\x1b[?2l", "\x1b[?12h",
		"\x1b[?1007h", "\x1b[?2027h", "\x1b[?2031h", "\x1b[?1005h", "\x1b[?1001h",
		"\x1b[?69h", "\x1b[?1000s", "\x1b[2q", "\x1b[1;2;3;4$r",
		"\x1b[1y", "\x1b[>1p", "\x1b[10$x", "\x1b[120;3;3;1;1$x", "\x1b[3;3;1;1$z", "\x1b[4;1;1;9${",
		"\x1b[22;0t", "\x1b[1;2 p",
		"\x1b#3", "\x1b#6", "\x1b G", "\x1b F", "\x1bN", "\x1bO",
		"\x1bV", "\x1b%Z", "\x1b(?", "\x1b/A", "\x1bl", "\x1b(\"?",
		"\u008d", "\u008e", "\u0096", "\u009a",
		"\x1b]22;text\a", "\x1b]9;4;1;50\x1b\\", "\x1b]9;hello\a",
		"\x1b]777;notify;a;b\a", "\x1b]133;A\a", "\x1b]633;A\u009c",
		"\x1b]1337;File=:AAAA\a", "\x1b]1337;SetUserVar=a=Yg==\a", "\x1b]21;a=b\a",
		"\x1b]30001\a", "\x1b]5;1;#fff\a", "\x1b]13;#fff\a",
		"\x1b]117\a", "\x1b]66;s=2;big\a", "\x1b]99;;x\a",
		"\x1b]3;a=b\a", "\x1b]l title\a", "\x1b]x\a", "\x1b];\a",
		"\x1b]50;font\x1b\\", "\u009d52;c;YQ==\u009c", "\x1b]4;1;red\a", "\x1b]4;300;#fff\a",
		"\x1bP1;2q#0~\x1b\\", "\x1bPtmux;x\x1b\\", "\x1bP0;1|17/17\x1b\\", "\u0090$qm\u009c", "\x1bP1$t1\x1b\\",
		"\x1b_Gi=1;AAAA\x1b\\", "\u009fx\u009c", "\x1b^pm\x1b\\",
		"\x1bXsos\x1b\\", "\u0098s\u009c", "\x1bP?x\x1b\\",
	}
	for _, in := range hidden {
		for _, end := range []string{"", "\x1b[1A", "\x18"} {
			for n := 1; n <= len(in); n++ {
				given := New(Config{Cols: 9, Rows: 3})
				var text []byte
				for p := "a" + in + end + "b"; p != ""; p = p[min(n, len(p)):] {
					text = append(text, given.Write([]byte(p[:min(n, len(p))]))...)
				}
				viewer := newRecorder()
				viewer.feed(string(text), len(text))
				log := strings.Join(viewer.log, "|")
				for _, harmless := range []string{"18", "ESC \\", "CSI A 1", "a", "b", "|"} {
					log = strings.ReplaceAll(log, harmless, "")
				}
				if log != "" {
					t.Errorf("%q in pieces of %d: viewers get %q: %s", in+end, n, text, log)
				}
			}
		}
	}
}

// TestViewersGetKnownModes: a mode that viewers do not get takes none of the others along.
func TestViewersGetKnownModes(t *testing.T) {
	many := "\x1b[?" + strings.Repeat("7;", maxParams) + "2048h"
	for in, want := range map[string]string{
		"\x1b[?12;25h": "\x1b[?25h", "\x1b[?1000;1005;1006h": "\x1b[?1000;1006h", "\x1b[2;4l": "\x1b[4l",
		"\x1b[?1049;2031h": "\x1b[?1049h",
		many:               "\x1b[?" + strings.Repeat("7;", maxParams-1) + "7h",
	} {
		if got := New(Config{}).Write([]byte(in)); string(got) != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	e := New(Config{Cols: 9, Rows: 9})
	e.Write([]byte("\x1b[?1049h\x1b[?1049l"))
	e.Resize(9, 5)
	if got := string(e.Write([]byte("\x1b[?1049;2048h"))); got != "\x1b[?1047h\x1b[?1047l\x1b[?1049h" {
		t.Errorf("the alternate screen that was higher: %q", got)
	}
	for guest, want := range map[bool]string{false: "\x1b[?1000;1016h", true: "\x1b[?1000;1006h"} {
		if got := New(Config{Guest: guest}).Write([]byte("\x1b[?1000;1016h")); string(got) != want {
			t.Errorf("Guest %v: %q, want %q", guest, got, want)
		}
	}
}

// TestGuestsKeepTheirHistory: RIS resets all that a program has set in a viewer that draws on
// a person's own terminal, and neither it nor ED 3 erases that person's history.
func TestGuestsKeepTheirHistory(t *testing.T) {
	const history = "a\r\nb\r\nc\r\nd\r\n"
	state := func(e *Terminal) string {
		f := *e.Freeze()
		hidden := Screen{}
		if f.Hidden != nil {
			hidden = *f.Hidden
		}
		for _, s := range []*SavedCursor{&f.Main.Saved, &hidden.Saved} {
			if s.X == 0 && s.Y == 0 {
				*s = SavedCursor{} // in the corner, as one that never was
			}
		}
		text := ""
		for _, l := range f.Main.Lines {
			text += l.Text() + "|"
		}
		f.Main.Lines = nil
		return fmt.Sprintf("%+v %+v %v %v %v %+v %+v %v", f.Modes, f.Pen, f.Charsets, f.CursorStyle, f.Alt != nil,
			f.Main, hidden, text)
	}
	for _, in := range []string{
		"x", "\x1b[?1049h\x1b7\x1b[>5ux", "\x1b[5;5H\x1b7\x1b[?1049h\x1b[3;3H\x1b7\x1b[?1049l", "\x1b[>5u\x1b[=3u",
		"\x1b[?1;5;6;9;45;66;1000;1002;1003;1004;1006;1016;2004;2026h\x1b[?7l\x1b[4;20h\x1b[?25l\x1b=",
		"\x1b[2;3r\x1b[?6h\x1b[31;4m\x1b[1\"q\x1b[3 q\x1b(0\x0e", "\x1b[3g\x1b[5G\x1bH", "\x1b]8;;http://x/\ax",
		"\x1b[?1047h\x1b[3g\x1b[2;3r\x1b[?25l",
	} {
		for _, cut := range []int{0, 1, 2} { // of RIS, where two writes part
			program := New(Config{Cols: 20, Rows: 4, Scrollback: 9, Guest: true})
			person := New(Config{Cols: 20, Rows: 4, Scrollback: 9})
			for _, p := range []string{history + in + "\x1b[3J\x1bc"[:4+cut], "\x1bc"[cut:]} {
				person.Write(program.Write([]byte(p)))
			}
			if got, want := state(person), state(program); got != want {
				t.Errorf("%q: the person's terminal is\n%s\nwant\n%s", in, got, want)
			}
			if p, n := program.Freeze().History.Len(), person.Freeze().History.Len(); p != 0 || n == 0 {
				t.Errorf("%q: %d lines of the program's history are left and %d of the person's", in, p, n)
			}
		}
	}
}
