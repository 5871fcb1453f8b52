package wait

import (
	"slices"
	"testing"

	"github.com/evertty/evertty/vt"
)

// TestJoinLines: each byte of lines together has its own position, also where some lines have none.
func TestJoinLines(t *testing.T) {
	t.Parallel()
	old, now := vt.TextLine{Text: []byte("ab ")}, vt.TextLine{Text: []byte("cd"), Offsets: []uint64{7, 8}}
	for _, c := range []struct {
		lines []vt.TextLine
		want  []uint64
	}{
		{[]vt.TextLine{old, now, old}, []uint64{0, 0, 0, 7, 8, 0, 0, 0, 0}},
		{[]vt.TextLine{now, old, now}, []uint64{7, 8, 0, 0, 0, 0, 7, 8, 0}},
		{[]vt.TextLine{old}, []uint64{0, 0, 0}},
	} {
		all := joinLines(c.lines, true)
		var got []uint64
		for k := range all.Text {
			got = append(got, offset(all, k))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q has %v, want %v", all.Text, got, c.want)
		}
	}
}
