package conversation

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How the lines of earlier summaries stand in a newer one: under a line that says of which
// compaction they are, the newest first, each as it was.
const (
	carriedHead  = "Summary of compaction %d:"
	carriedLost  = "- Left out: %d line(s) of earlier summaries; the archived messages have everything."
	carriedStart = "Summary of compaction "
	lostStart    = "- Left out: "
)

// summaryLine is a line of an earlier summary. What stands for lines that were left out long ago is
// one without text.
type summaryLine struct {
	of   int64 // the number of the compaction
	line string
	lost int
}

// earlierLines takes a summary apart, of compaction number of. Lines that say nothing of the
// conversation are left out, long ones (of a caller's) folded.
func earlierLines(summary string, of int64) []summaryLine {
	var list []summaryLine
	for _, line := range strings.Split(summary, "\n") {
		line = oneLine(line)
		if rest, ok := strings.CutPrefix(line, carriedStart); ok {
			if n, err := strconv.ParseInt(strings.TrimSuffix(rest, ":"), 10, 64); err == nil {
				of = n
				continue
			}
		}
		if rest, ok := strings.CutPrefix(line, lostStart); ok {
			number, _, _ := strings.Cut(rest, " ")
			if n, err := strconv.Atoi(number); err == nil && n > 0 {
				list = append(list, summaryLine{lost: n})
				continue
			}
		}
		if hasContent(line) {
			for _, part := range splitLine(line, SummaryLine) {
				list = append(list, summaryLine{of: of, line: part})
			}
		}
	}
	return list
}

// hasContent is false for lines that hold a summary together, and those that name nothing.
func hasContent(line string) bool {
	before, after, _ := strings.Cut(summaryCount, "%d")
	return line != "" && line != summaryHead && line != summaryRetained &&
		!(strings.HasPrefix(line, before) && strings.HasSuffix(line, after)) &&
		!strings.HasSuffix(line, ": "+summaryNone) && !strings.HasSuffix(line, ": "+summaryNoFiles)
}

// mergeSummaries are the lines of earlier summaries for a new one whose own lines are given: those
// that are not in it yet, up to CarriedLines and CarriedChars with the lines between them. When
// they are more, the least important of the oldest go, and a line says how many went.
func mergeSummaries(earlier []summaryLine, own []string) []string {
	lost := 0
	said := map[string]bool{}
	for _, line := range own {
		said[strings.ToLower(oneLine(line))] = true
	}
	var left []summaryLine
	for _, c := range earlier {
		key := strings.ToLower(c.line)
		if lost += c.lost; c.line != "" && !said[key] {
			left = append(left, c)
			said[key] = true
		}
	}
	kept := mostImportant(left)
	lost += len(left) - len(kept)
	var lines []string
	for i, c := range kept {
		if i == 0 || kept[i-1].of != c.of {
			lines = append(lines, fmt.Sprintf(carriedHead, c.of))
		}
		lines = append(lines, c.line)
	}
	if lost > 0 {
		lines = append(lines, fmt.Sprintf(carriedLost, lost))
	}
	return lines
}

// mostImportant returns the lines that there is room for, in their order.
func mostImportant(lines []summaryLine) []summaryLine {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(importance(lines[a].line)-importance(lines[b].line), cmp.Compare(lines[b].of, lines[a].of))
	})
	room, chars := CarriedLines-1, CarriedChars-SummaryLine // without the line about those that went
	heads := map[int64]bool{}
	var kept []int
	for _, i := range order {
		need, size := 1, utf8.RuneCountInString(lines[i].line)+1
		if !heads[lines[i].of] {
			need, size = 2, size+len(fmt.Sprintf(carriedHead, lines[i].of))+1
		}
		if need > room || size > chars {
			break
		}
		room, chars = room-need, chars-size
		heads[lines[i].of] = true
		kept = append(kept, i)
	}
	slices.Sort(kept)
	list := make([]summaryLine, len(kept))
	for k, i := range kept {
		list[k] = lines[i]
	}
	return list
}

// importance of a line: 0 what holds for the whole conversation and what a caller wrote, 1 what was
// being done, 2 what was used and asked on the way.
func importance(line string) int {
	for _, work := range []string{summaryWork, summaryPending} {
		if strings.HasPrefix(line, work) {
			return 1
		}
	}
	for _, way := range []string{summaryToolList, summaryRecent, summaryKeyFiles} {
		if strings.HasPrefix(line, way) {
			return 2
		}
	}
	return 0
}

// splitLine breaks a line at spaces so that no part has more than n code points; a word that has
// more is broken too.
func splitLine(line string, n int) []string {
	var parts []string
	part := []rune{}
	for _, field := range strings.Fields(line) {
		word := []rune(field)
		if len(part) > 0 && len(part)+1+len(word) > n {
			parts, part = append(parts, string(part)), nil
		}
		if len(part) > 0 {
			part = append(part, ' ')
		}
		for len(word) > n {
			parts, word = append(parts, string(word[:n])), word[n:]
		}
		part = append(part, word...)
	}
	return append(parts, string(part))
}
