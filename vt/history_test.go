package vt

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPushAll: lines that are added at once are those that were added one by one, whatever their sizes and the limits;
// the same goes for what is added behind them.
func TestPushAll(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var lines []Line
		for range rnd.IntN(3000) {
			size := rnd.IntN(100)
			if rnd.IntN(500) == 0 {
				size = rnd.IntN(2 * maxBlock)
			}
			letter := string(rune('a' + rnd.IntN(26)))
			lines = append(lines, Line{packed: strings.Repeat(letter, size), wrapped: rnd.IntN(2) == 0})
		}
		limit := []int{0, 1, 7, 1000, 5000}[rnd.IntN(5)]
		one, all := history{limit: limit, most: 64 << 20}, history{limit: limit, most: 64 << 20}
		for _, l := range lines {
			one.push([]byte(l.packed), l.wrapped)
		}
		all.pushAll(LinesOf(lines...))
		for range 2 {
			got := all.freeze().Slice()
			if want := lines[len(lines)-min(len(lines), limit):]; !slices.Equal(got, want) {
				t.Fatalf("seed %d: %d lines, want %d", seed, len(got), len(want))
			}
			if want := one.freeze().Slice(); !slices.Equal(got, want) || all.count != one.count {
				t.Fatalf("seed %d: %d lines at once, %d one by one", seed, len(got), len(want))
			}
			more := Line{packed: "more"}
			lines = append(lines, more)
			one.push([]byte(more.packed), false)
			all.push([]byte(more.packed), false)
		}
	}
}

// TestPushAllInLittleMemory: the newest lines stay within the bound.
func TestPushAllInLittleMemory(t *testing.T) {
	var lines []Line
	for i := range 5000 {
		lines = append(lines, Line{packed: strings.Repeat("x", i%90)})
	}
	h := history{limit: 5000, most: 3 * maxBlock}
	h.pushAll(LinesOf(lines...))
	got := h.freeze().Slice()
	if !slices.Equal(got, lines[len(lines)-len(got):]) || len(got) < 1000 || h.bytes > h.most || !h.short ||
		h.dropped != len(lines)-len(got) {
		t.Errorf("%d lines in %d bytes, %d dropped", len(got), h.bytes, h.dropped)
	}
}
