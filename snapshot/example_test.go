package snapshot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// screen returns a small terminal to which a program has printed output.
func screen(output string) *vt.Terminal {
	t := vt.New(vt.Config{Cols: 20, Rows: 3, Scrollback: 100})
	t.Write([]byte(output))
	return t
}

// A viewer that comes late gets the snapshot first and then the output behind it.
func ExampleANSI() {
	program := screen("one\r\n\x1b[1;31mtwo\x1b[m")
	text := snapshot.ANSI(program.Freeze(), snapshot.Options{Scrollback: -1})

	viewer := vt.New(vt.Config{Cols: 20, Rows: 3, Scrollback: 100})
	viewer.Write(text)
	viewer.Write(program.Write([]byte(" three")))
	fmt.Print(snapshot.Text(viewer.Freeze(), 0))
	fmt.Println(viewer.Cell(0, 1).Style.FG == program.Cell(0, 1).Style.FG)
	// Output:
	// one
	// two three
	//
	// true
}

func ExampleText() {
	f := screen("1\r\n2\r\n3\r\n4\r\n5").Freeze()
	fmt.Printf("%q\n", snapshot.Text(f, 0))
	fmt.Printf("%q\n", snapshot.Text(f, -1))
	// Output:
	// "3\n4\n5\n"
	// "1\n2\n3\n4\n5\n"
}

func ExampleJSON() {
	s := snapshot.JSON(screen("a \x1b[4mlink\x1b[m").Freeze(), 0)
	runs, err := json.Marshal(s.Lines[0].Runs[:1])
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Cursor.X, s.Cursor.Y)
	fmt.Println(string(runs))
	// Output:
	// 6 0
	// [{"text":"a ","cells":2,"fg":null,"bg":null,"attrs":[]}]
}

func ExampleHTML() {
	fmt.Println(snapshot.HTML(screen("\x1b[3m<b>\x1b[m\r\n2\r\n3").Freeze(), 0))
	// Output:
	// <pre style="color:#e5e5e5;background:#000000"><span style="font-style:italic;">&lt;b&gt;</span>
	// 2
	// 3
	// </pre>
}

// The Write functions send a large snapshot piece by piece and never hold it as a whole.
func ExampleWriteText() {
	if err := snapshot.WriteText(os.Stdout, screen("to a file or socket").Freeze(), 0); err != nil {
		panic(err)
	}
	// Output:
	// to a file or socket
}

// A snapshot file holds the whole state, so an engine continues from it as if never interrupted.
func ExampleDecode() {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	file := snapshot.Encode(snapshot.Header{Seq: 9, Time: at}, screen("\x1b]0;top\x07\x1b[3").Freeze())

	header, frame, err := snapshot.Decode(file)
	if err != nil {
		panic(err)
	}
	next := vt.New(vt.Config{Cols: 20, Rows: 3, Scrollback: 100})
	fmt.Println(next.Restore(frame), next.Title(), header.Seq, header.Time)
	next.Write([]byte("Cx")) // the end of the sequence that the file has begun
	fmt.Printf("%q\n", snapshot.Text(next.Freeze(), 0))
	// Output:
	// true top 9 2026-01-02 03:04:05 +0000 UTC
	// "   x\n\n\n"
}

func ExampleDifferences() {
	want := snapshot.Normalize(screen("abc").Freeze(), snapshot.Options{Scrollback: -1})
	for _, d := range snapshot.Differences(want, screen("abd").Freeze()) {
		fmt.Println(d)
	}
	// Output:
	// row 0: 1 cells differ, first column 2: want "c" (1 wide), got "d" (1 wide)
	// character that REP repeats: want 'c', got 'd'
}
