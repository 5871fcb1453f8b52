package pty

import (
	"fmt"
	"os"
	"testing"
)

func FuzzParseBrand(f *testing.F) {
	own, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(own, uint64(1<<62-1))
	for _, text := range []string{"", "\n", "\nMax file locks", "\nMax file locks ", "Max file locks  7 7 locks\n", "\nMax file locks  unlimited  unlimited  locks", "\nMax file locks  -1 7"} {
		f.Add([]byte(text), uint64(7))
	}
	f.Fuzz(func(t *testing.T, before []byte, brand uint64) {
		parseBrand(before)
		line := fmt.Appendf(nil, "\n%-25s %-20d %-20s %-10s\n", "Max file locks", brand, "unlimited", "locks") // as the kernel writes it
		if got := parseBrand(append(line, before...)); got != brand {
			t.Errorf("%d, not %d", got, brand)
		}
	})
}
