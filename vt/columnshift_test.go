package vt_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// TestShiftsInARow: shifts of columns and checksums leave the same state, answers and viewers'
// text whether they come at once or one by one, whatever is between them.
func TestShiftsInARow(t *testing.T) {
	parts := []string{"\x1b[ @", "\x1b[3 @", "\x1b[ A", "\x1b[2 A", "\x1b['}", "\x1b[2'~", "\x1b['~", "\x1b[999 A",
		"\x1b6",
		"\x1b9", "\x1b[1;1;1;1;9;99*y", "\x1b[0;1;2;2;4;9*y", "日本", "xyz", "e\u0301", "\r", "\n", "\x1b[4;3H",
		"\x1b[99C", "\x1b[3G", "\x1b[A", "\x1b[2;5r",
		"\x1b[41m", "\x1b[m", "\x1b[K", "\x1b[?1049h", "\x1b[?1049l", "\x1b[4h", "\x1b[4l", "\x1b]2;t\a", "\x1b[2b",
		"\x1bM"}
	for seed := range uint64(few(2000, 200)) {
		r := rand.New(rand.NewPCG(seed, 7))
		var in []string
		for range 30 {
			part := parts[r.IntN(len(parts))]
			in = append(in, strings.Repeat(part, 1+r.IntN(3)*r.IntN(2)))
		}
		once, each := shifted(in, true), shifted(in, false)
		if !reflect.DeepEqual(once, each) {
			t.Fatalf("seed %d: %.800q\nat once   %.800s\none by one %.800s", seed, in, once, each)
		}
	}
}

// shifted is what an engine makes of the output, written at once or byte by byte.
func shifted(in []string, once bool) []string {
	var answers, text strings.Builder
	e := vt.New(vt.Config{Cols: 12, Rows: 6, Scrollback: 50,
		Effects: &vt.Effects{Reply: func(p []byte) { answers.Write(p) }}})
	e.Write([]byte(strings.Repeat("日本語ab\u0301cdef\r\n", 5)))
	if once {
		text.Write(e.Write([]byte(strings.Join(in, ""))))
	} else {
		for _, part := range in {
			for k := 0; k < len(part); {
				n := 1 + strings.IndexByte(part[k+1:]+"\x1b", '\x1b')
				text.Write(e.Write([]byte(part[k : k+n])))
				k += n
			}
		}
	}
	f := e.Freeze()
	return []string{answers.String(), text.String(), fmt.Sprintf("%+v", f.Main), fmt.Sprintf("%+v", f.Alt),
		fmt.Sprint(f.Memory() > 0)}
}
