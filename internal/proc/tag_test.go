package proc

import (
	"fmt"
	"os"
	"testing"
)

func FuzzParseTag(f *testing.F) {
	own, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own, uint64(1<<62-1))
	for _, text := range []string{"", "\n", "\nMax file locks", "\nMax file locks ", "Max file locks  7 7 locks\n",
		"\nMax file locks  unlimited  unlimited  locks", "\nMax file locks  -1 7"} {
		f.Add([]byte(text), uint64(7))
	}
	f.Fuzz(func(t *testing.T, before []byte, tag uint64) {
		parseTag(before)
		// As the kernel writes it.
		line := fmt.Appendf(nil, "\n%-25s %-20d %-20s %-10s\n", "Max file locks", tag, "unlimited", "locks")
		if got := parseTag(append(line, before...)); got != tag {
			t.Errorf("%d, not %d", got, tag)
		}
	})
}
