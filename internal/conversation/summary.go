package conversation

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Bounds of a summary. What a compaction says of the messages that it archives itself keeps
// Loader's, by having no more lines than fit. The lines of earlier summaries would not fit in there
// for long, and dropping them is what must not be; so they have bounds of their own, and come
// behind.
const (
	SummaryLines = 24   // lines about the archived messages
	SummaryChars = 1200 // code points of these, with line ends
	SummaryLine  = 160  // code points of any line; a longer one is cut, or when it is merged, split

	CarriedLines = 64   // lines of earlier summaries: of ten compactions and more
	CarriedChars = 4800 // code points of these, with line ends: a hundredth of what makes a compaction worth it
)

// How many of each a summary names.
const (
	summaryFiles    = 6
	summaryTools    = 5
	summaryRequests = 3
)

// Words of a summary.
const (
	summaryHead     = "Conversation summary:"
	summaryScope    = "- Scope: "
	summaryWork     = "- Current work: "
	summaryPending  = "- Pending work: "
	summaryKeyFiles = "- Key files referenced: "
	summaryToolList = "- Tools mentioned: "
	summaryRecent   = "- Recent user requests: "
	summaryCount    = "- Newly compacted context: %d earlier message(s) summarized."
	summaryRetained = "- Previously compacted context retained."
	summaryNone     = "None yet."
	summaryNoFiles  = "None referenced."
)

// summary tells in a few lines what messages are about that a compaction archives, or what the
// caller says they are, and merges the earlier lines.
func summary(removed []Message, o CompactOptions, earlier []summaryLine) string {
	var lines []string
	if o.Summary != nil && !blank(*o.Summary) {
		lines = strings.Split(strings.TrimSpace(*o.Summary), "\n")
	} else {
		lines = summarize(removed, o.CurrentTask, earlier)
	}
	if len(earlier) > 0 && !slices.Contains(lines, summaryRetained) {
		lines = append(lines, summaryRetained)
	}
	return strings.Join(append(lines, mergeSummaries(earlier, lines)...), "\n")
}

// summarize makes the lines of upstream's summary. The scope stays what it was while nobody sets a
// task.
func summarize(removed []Message, task *string, earlier []summaryLine) []string {
	users, work := contents(removed, RoleUser), contents(removed, RoleAssistant)
	scope := ""
	if task != nil {
		scope = *task
	}
	for _, c := range earlier {
		if rest, ok := strings.CutPrefix(c.line, summaryScope); ok && blank(scope) {
			scope = rest
		}
	}
	if blank(scope) && len(users) > 0 {
		scope = users[0]
	}
	lines := []string{
		summaryHead,
		summaryScope + orNone(scope, summaryNone),
		summaryWork + orNone(strings.Join(newest(work, 1), ""), summaryNone),
		summaryPending + orNone(strings.Join(newest(users, 1), ""), summaryNone),
		summaryKeyFiles + orNone(strings.Join(keyFiles(removed, summaryFiles), ", "), summaryNoFiles),
		summaryToolList + orNone(strings.Join(topTools(removed, summaryTools), ", "), summaryNone),
		summaryRecent + orNone(strings.Join(newest(users, summaryRequests), "; "), summaryNone),
	}
	if len(earlier) > 0 {
		lines = append(lines, summaryRetained)
	}
	lines = append(lines, fmt.Sprintf(summaryCount, len(removed)))
	for i, line := range lines {
		lines[i] = cut(line, SummaryLine)
	}
	return lines
}

// contents returns what the messages of a role say, in one line each.
func contents(messages []Message, role string) []string {
	var list []string
	for _, m := range messages {
		if m.Role == role && !blank(m.Content) {
			list = append(list, oneLine(m.Content))
		}
	}
	return list
}

// topTools are the tools that were called most, with how often.
func topTools(messages []Message, n int) []string {
	calls := map[string]int{}
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			if name := oneLine(c.Name); name != "" {
				calls[name]++
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int {
		return cmp.Or(calls[b]-calls[a], strings.Compare(a, b))
	})
	names = names[:min(n, len(names))]
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, calls[name])
	}
	return names
}

// pathArguments are the arguments of tools that name a file or directory.
var pathArguments = []string{"file_path", "path", "directory"}

// keyFiles are the paths that were named last, in the order in which they were.
func keyFiles(messages []Message, n int) []string {
	var found []string // the newest first
	add := func(path string) {
		if path = oneLine(path); path != "" && len(found) < n && !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	for _, m := range slices.Backward(messages) {
		if len(found) == n {
			break
		}
		for _, c := range slices.Backward(m.ToolCalls) {
			for _, path := range argumentPaths(c.Arguments) {
				add(path)
			}
		}
		for _, word := range slices.Backward(strings.Fields(m.Content)) {
			if path := strings.Trim(word, "`'\"()[]{}<>,;:!?*."); looksLikePath(path) {
				add(path)
			}
		}
	}
	slices.Reverse(found)
	return found
}

func argumentPaths(arguments json.RawMessage) []string {
	var paths []string
	f := object(arguments)
	for _, key := range pathArguments {
		paths = append(paths, f.text(key, ""))
	}
	return paths
}

// fileEndings are what makes a word without a slash the name of a file.
var fileEndings = strings.Fields("bash c cc cfg conf cpp cs css csv env go h hpp html ini ipynb java js json jsx kt " +
	"lock log lua md mjs mod php pl proto py rb rs rst sh sql sum svg swift toml ts tsx txt xml yaml yml zig")

// looksLikePath is for words of a text: a name with a usual ending, or what has a slash and begins
// like a path or ends like a file.
func looksLikePath(word string) bool {
	if len(word) < 3 || len(word) > SummaryLine || strings.Contains(word, "://") || strings.Contains(word, "//") {
		return false
	}
	dir := strings.LastIndexByte(word, '/')
	name, ending, dotted := cutLast(word[dir+1:], ".")
	if dotted && name != "" && slices.Contains(fileEndings, strings.ToLower(ending)) {
		return true
	}
	return strings.HasPrefix(word, "/") && dir > 0 || dir > 1 &&
		(strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || strings.HasPrefix(word, "~/"))
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func orNone(s, none string) string {
	if blank(s) {
		return none
	}
	return oneLine(s)
}

// oneLine is s with every run of white space as one space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens a line to n code points, the last of which are "..." then.
func cut(line string, n int) string {
	if r := []rune(line); len(r) > n {
		return strings.TrimRight(string(r[:n-3]), " ") + "..."
	}
	return line
}
