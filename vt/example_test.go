package vt_test

import (
	"fmt"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// A terminal takes any bytes, split anywhere, answers queries by an effect, and
// returns what viewers get.
func ExampleNewEngine() {
	term := vt.NewEngine(vt.Config{
		Cols: 20, Rows: 2, Scrollback: vt.DefaultScrollback,
		Effects: &vt.Effects{Reply: func(p []byte) { fmt.Printf("for the program: %q\n", p) }},
	})
	text := term.Write([]byte("\x1b[1;32mhello\x1b[m 世界\r\n\x1b[6n"))
	fmt.Printf("for viewers: %q\n", text)

	frame := term.Freeze() // immutable: the terminal may go on while this is read
	fmt.Printf("screen: %q\n", snapshot.Text(frame, 0))
	fmt.Printf("snapshot: %q\n", snapshot.ANSI(frame, snapshot.Options{Scrollback: -1}))
	// Output:
	// for the program: "\x1b[2;1R"
	// for viewers: "\x1b[1;32mhello\x1b[m 世界\r\n"
	// screen: "hello 世界\n\n"
	// snapshot: "\x18\x1b[1;32mhello\x1b[m 世界\x1b[20l\x1b[?25h\x1b[2H"
}
