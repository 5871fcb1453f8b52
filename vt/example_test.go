package vt_test

import (
	"fmt"
	"regexp"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// A terminal takes any bytes, split anywhere, and keeps the screen.
func Example() {
	term := vt.New(vt.Config{Cols: 20, Rows: 2})
	term.Write([]byte("\x1b[1mhel"))
	term.Write([]byte("lo\x1b[m 世界\r\n$ "))

	cell := term.Cell(0, 0)
	fmt.Printf("cell: %q bold %t\n", cell.Text, cell.Style.Attr&vt.Bold != 0)
	for y := range 2 {
		fmt.Printf("row %d: %q\n", y, term.Row(y).Text())
	}
	fmt.Printf("cursor: %d,%d\n", term.Cursor().X, term.Cursor().Y)
	// Output:
	// cell: "h" bold true
	// row 0: "hello 世界"
	// row 1: "$"
	// cursor: 2,1
}

// The terminal answers queries itself and takes them out of the text for viewers,
// which would answer a second time.
func ExampleTerminal_Write() {
	term := vt.New(vt.Config{
		Cols: 20, Rows: 2,
		Effects: &vt.Effects{Reply: func(p []byte) { fmt.Printf("for the program: %q\n", p) }},
	})
	text := term.Write([]byte("\x1b[1;32mhello\x1b[m\r\n\x1b[6n")) // asks where the cursor is
	fmt.Printf("for viewers: %q\n", text)
	// Output:
	// for the program: "\x1b[2;1R"
	// for viewers: "\x1b[1;32mhello\x1b[m\r\n"
}

// Lines that scroll off the top of the screen have negative numbers.
func ExampleTerminal_Scrollback() {
	term := vt.New(vt.Config{Cols: 20, Rows: 2, Scrollback: 1000})
	term.Write([]byte("one\r\ntwo\r\nthree\r\nfour"))
	for y := -term.Scrollback(); y < 0; y++ {
		fmt.Println(y, term.Row(y).Text())
	}
	// Output:
	// -2 one
	// -1 two
}

// A program that draws a terminal asks which rows changed since it drew last.
func ExampleDamage() {
	term := vt.New(vt.Config{Cols: 20, Rows: 3})
	var damage vt.Damage
	for _, output := range []string{"a\r\nb\r\n", "c", "", "\x1b[1;1Hd"} {
		term.Write([]byte(output))
		fmt.Printf("after %q:\n", output)
		for _, y := range damage.Rows(term) {
			fmt.Printf("  row %d is %q\n", y, term.Row(y).Text())
		}
	}
	// Output:
	// after "a\r\nb\r\n":
	//   row 0 is "a"
	//   row 1 is "b"
	//   row 2 is ""
	// after "c":
	//   row 2 is "c"
	// after "":
	// after "\x1b[1;1Hd":
	//   row 0 is "d"
}

// Text that the right margin broke is copied in one piece.
func ExampleFrame_SelectedText() {
	term := vt.New(vt.Config{Cols: 10, Rows: 4})
	term.Write([]byte("a long line of text\r\nnext"))
	frame := term.Freeze()
	fmt.Printf("%q\n", frame.SelectedText(vt.Selection{From: vt.Position{X: 2}, To: vt.Position{X: 3, Y: 2}}))
	fmt.Printf("%q\n", frame.SelectedText(vt.Selection{From: vt.Position{X: 2}, To: vt.Position{X: 3, Y: 2},
		Block: true}))
	// Output:
	// "long line of text\nnext"
	// "lo\nof\nxt"
}

func ExampleFrame_FindRegexp() {
	term := vt.New(vt.Config{Cols: 20, Rows: 2, Scrollback: 1000})
	term.Write([]byte("error: 17\r\nok\r\nerror: 42\r\n"))
	for _, m := range term.Freeze().FindRegexp(regexp.MustCompile(`error: \d+`), 100) {
		fmt.Printf("%q at row %d, column %d\n", m.Text, m.From.Y, m.From.X)
	}
	// Output:
	// "error: 17" at row -2, column 0
	// "error: 42" at row 0, column 0
}

// Keys, mouse events and pasted text depend on the modes that the program has set.
func ExampleEncodeKeys() {
	term := vt.New(vt.Config{Cols: 20, Rows: 2})
	for _, output := range []string{"", "\x1b[?1h\x1b[?2004h"} {
		term.Write([]byte(output))
		keys, err := vt.EncodeKeys([]string{"C-c", "Up"}, term.Modes())
		fmt.Printf("%q %v %q\n", keys, err, vt.Paste("two\nlines", term.Modes(), ""))
	}
	// Output:
	// "\x03\x1b[A" <nil> "two\rlines"
	// "\x03\x1bOA" <nil> "\x1b[200~two\nlines\x1b[201~"
}

// A Frame is immutable: the terminal may go on while another goroutine encodes it.
func ExampleTerminal_Freeze() {
	term := vt.New(vt.Config{Cols: 20, Rows: 2})
	term.Write([]byte("\x1b[1;32mhello\x1b[m"))
	frame := term.Freeze()
	term.Write([]byte("\x1b[2J"))
	fmt.Printf("screen: %q\n", snapshot.Text(frame, 0))
	fmt.Printf("snapshot: %q\n", snapshot.ANSI(frame, snapshot.Options{Scrollback: -1}))
	// Output:
	// screen: "hello\n\n"
	// snapshot: "\x18\x1b[1;32mhello\x1b[20l\x1b[?25h\x1b[1;6H\x1b[m"
}

// A Tracker reports each text that is shown, also text that is gone a moment later,
// and where in the output it was printed.
func ExampleTracker() {
	tracker := vt.NewTracker(vt.Config{Cols: 20, Rows: 2})
	tracker.Begin(0, vt.TrackerHooks{Line: func(l vt.TextLine) {
		fmt.Printf("%q, printed up to byte %d\n", l.Text, l.Offsets[len(l.Offsets)-1])
	}})
	tracker.Write([]byte("50%\r100%\x1b[2J\x1b[Hdone"))
	tracker.Report()
	// Output:
	// "50%", printed up to byte 3
	// "100%", printed up to byte 8
	// "done", printed up to byte 19
}
