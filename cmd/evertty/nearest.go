package main

import "strings"

// maxSlips is how many slips of the fingers may lie between a word and what was meant: with more, most words are near.
const maxSlips = 2

// nearest is the word that was most likely meant, "" for none: the one that is fewest slips away (a letter more, less,
// another or two exchanged; the optimal string alignment distance), else the first that begins with what was typed.
func nearest(typed string, words []string) string {
	best, least := "", min(maxSlips, len(typed)-1)+1
	for _, w := range words {
		if n := slips(typed, w); n < least {
			best, least = w, n
		}
	}
	if best != "" || typed == "" {
		return best
	}
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			return w
		}
	}
	return ""
}

// slips is the optimal string alignment distance of two words, of bytes.
func slips(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			other := 1
			if a[i] == b[j] {
				other = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+other)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
