package conversation

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata that a person has read.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || got != string(want) {
		t.Errorf("%s (%v) would be\n%s", path, err, got)
	}
}

func talk(texts ...string) []Message {
	var list []Message
	for i, text := range texts {
		list = append(list, Message{Role: []string{RoleUser, RoleAssistant}[i%2], Content: text})
	}
	return list
}

// seedTalk are the seed's six messages.
func seedTalk() []Message {
	return talk("Kick off runtime audit", "Initial findings", "Focus on sessions", "Compaction design drafted",
		"Preserve the latest four messages", "Ready to compact")
}

// TestCompactionVector is the seed's compaction, with the message that Loader's summary has for it.
func TestCompactionVector(t *testing.T) {
	messages := seedTalk()
	c, ok := Compact(messages, nil, CompactOptions{Threshold: 1})
	if !ok || c.Removed != 2 || c.Message.Role != RoleUser || !reflect.DeepEqual(messages, seedTalk()) {
		t.Fatalf("%v %+v", ok, c)
	}
	golden(t, "compaction-first.txt", c.Message.Content+"\n")
	want := Compaction{Count: 1, RemovedMessageCount: 2, Summary: c.Compaction.Summary, OriginalInputTokens: 32,
		CompressedInputTokens: Tokens(append([]Message{c.Message}, messages[2:]...))}
	if c.Compaction != want {
		t.Errorf("the compaction is %+v, want %+v", c.Compaction, want)
	}
	for _, line := range []string{
		"Conversation summary:", "- Scope: Kick off runtime audit", "- Current work: Initial findings",
		"- Pending work: Kick off runtime audit", "- Key files referenced: None referenced.",
		"- Tools mentioned: None yet.", "- Recent user requests: Kick off runtime audit",
		"- Newly compacted context: 2 earlier message(s) summarized.",
	} {
		if !slices.Contains(strings.Split(c.Compaction.Summary, "\n"), line) {
			t.Errorf("%q is missing", line)
		}
	}
}

func TestCompactionOrNot(t *testing.T) {
	six, own := seedTalk(), "my own"
	compacted := append([]Message{{Role: RoleUser, Content: compactedMark + "x" + continueMark}}, six...)
	for _, c := range []struct {
		name     string
		messages []Message
		o        CompactOptions
		removed  int // 0 is none
	}{
		{"below the default threshold", six, CompactOptions{}, 0},
		{"below a threshold", six, CompactOptions{Threshold: 33}, 0},
		{"at the threshold", six, CompactOptions{Threshold: 32}, 2},
		{"no more than keep", six, CompactOptions{Threshold: 1, Keep: 6}, 0},
		{"one more than keep", six, CompactOptions{Threshold: 1, Keep: 5}, 1},
		{"no messages", nil, CompactOptions{Threshold: 1}, 0},
		{"a summary is a wish", six, CompactOptions{Summary: &own}, 2},
		{"but not against a threshold", six, CompactOptions{Summary: &own, Threshold: 1000}, 0},
		{"a blank summary is none", six, CompactOptions{Summary: some(" \n")}, 0},
		{"a small window has the least threshold", six, CompactOptions{ContextWindow: 10}, 0},
		{"only the summary would go", compacted[:5], CompactOptions{Threshold: 1}, 0},
		{"the summary and one message", compacted[:6], CompactOptions{Threshold: 1}, 2},
	} {
		if got, ok := Compact(c.messages, nil, c.o); got.Removed != c.removed || ok != (c.removed > 0) {
			t.Errorf("%s: %d removed, %v", c.name, got.Removed, ok)
		}
	}
	for o, want := range map[CompactOptions]int64{{}: DefaultThreshold, {ContextWindow: 8000}: MinThreshold,
		{ContextWindow: 200_000}: 150_000, {ContextWindow: 200_000, Threshold: 5}: 5} {
		if got := o.threshold(); got != want {
			t.Errorf("the threshold of %+v is %d, want %d", o, got, want)
		}
	}
}

func TestTokens(t *testing.T) {
	for _, c := range []struct {
		messages []Message
		want     int64
	}{
		{nil, 1},
		{talk("abc"), 1},
		{talk("abcd", "efgh"), 2},
		{talk("ääää"), 1},
		{[]Message{{Content: "1234", ToolCalls: []ToolCall{{ID: "not this", Name: "bash",
			Arguments: []byte(`{"a":1}`)}}, ToolResults: []ToolResult{{ToolCallID: "nor this", Content: "12345"}}}}, 5},
	} {
		if got := Tokens(c.messages); got != c.want {
			t.Errorf("%+v is %d tokens, want %d", c.messages, got, c.want)
		}
	}
}

// TestSummaryOfWork: files, tools and requests as they are told, and that nothing makes a line
// longer.
func TestSummaryOfWork(t *testing.T) {
	call := func(name, arguments string) ToolCall { return ToolCall{Name: name, Arguments: []byte(arguments)} }
	c, ok := Compact([]Message{
		{Role: RoleSystem, Content: "system"},
		{Role: RoleUser, Content: "Look  at\n`src/main.go`, ./run and https://example.com/x.go; then /compact e.g. " +
			"and/or v1.2 or example.com"},
		{Role: RoleAssistant, Content: "Reading.",
			ToolCalls: []ToolCall{call("read", `{"file_path":"/w/a b.txt"}`),
				call("bash", `{"command":"make","path":7}`)}},
		{Role: RoleTool, Content: "ok", ToolResults: []ToolResult{{Content: "contents of secret.txt"}}},
		{Role: RoleUser, Content: strings.Repeat("word ", 60)},
		{Role: RoleAssistant, ToolCalls: []ToolCall{call("bash", `null`), call("write", `{"directory":"out"}`)}},
		{Role: RoleAssistant, Content: " "},
		{Role: RoleUser, Content: "one"}, {Role: RoleUser, Content: "two"}, {Role: RoleUser, Content: "three"},
		{Role: RoleUser, Content: "kept"},
	}, nil, CompactOptions{Threshold: 1, Keep: 1, CurrentTask: some("Make\nit work")})
	if !ok {
		t.Fatal("not compacted")
	}
	golden(t, "compaction-work.txt", c.Compaction.Summary+"\n")
}

// step compacts a conversation as a conversation does.
func step(t *testing.T, messages []Message, last *Compaction, o CompactOptions) ([]Message, *Compaction) {
	t.Helper()
	c, ok := Compact(messages, last, o)
	if !ok {
		t.Fatal("not compacted")
	}
	return append([]Message{c.Message}, messages[c.Removed:]...), &c.Compaction
}

// TestCompactionsCarryOn: three compactions, the second with a summary of the caller's.
func TestCompactionsCarryOn(t *testing.T) {
	o := CompactOptions{Threshold: 1, Keep: 2}
	messages, last := step(t, seedTalk(), nil, o)
	messages = append(messages, talk("Now rotate the files in store.go", "Rotation is in", "And the docs",
		"Docs written")...)
	o.Summary = some("The audit is done.\n- Confirmed facts: the limit is 250 bytes; " +
		strings.Repeat("rotation happens by growth, ",
			8) + "as decided.\n\n- Preferred next step: write docs/record.md")
	messages, last = step(t, messages, last, o)
	messages = append(messages, talk("Ship it", "Shipped")...)
	o.Summary = nil
	_, last = step(t, messages, last, o)
	golden(t, "compaction-third.txt", last.Summary+"\n")
	if last.Count != 3 || last.RemovedMessageCount != 2 {
		t.Errorf("the compaction is %+v", last)
	}
}

// TestCompactionOfLoaders: the message alone says what was compacted before, as after an import of
// a file without the rest.
func TestCompactionOfLoaders(t *testing.T) {
	messages := append([]Message{{Role: RoleUser, Content: compactedMark +
		"Conversation summary:\n- Scope: From Loader\n- Current work: Old work\n\n" +
		"Continuation instructions:\n- Go on."}},
		seedTalk()...)
	_, last := step(t, messages, nil, CompactOptions{Threshold: 1})
	lines := strings.Split(last.Summary, "\n")
	if lines[1] != "- Scope: From Loader" || !slices.Contains(lines, "- Current work: Old work") ||
		last.RemovedMessageCount != 2 || last.Count != 1 {
		t.Errorf("%+v", last)
	}
}

// checkBounds: what a compaction says itself keeps to Loader's limits, what it carries on to ours.
func checkBounds(t *testing.T, seed uint64, summary string) {
	t.Helper()
	own, carried, _ := strings.Cut(summary+"\n", "\n"+carriedStart)
	if n := strings.Count(own, "\n") + 1; n > SummaryLines || utf8.RuneCountInString(own) > SummaryChars {
		t.Fatalf("seed %d: %d lines, %d characters:\n%s", seed, n, utf8.RuneCountInString(own), own)
	}
	if n := strings.Count(carried, "\n"); n > CarriedLines ||
		utf8.RuneCountInString(carriedStart+carried) > CarriedChars {
		t.Fatalf("seed %d: %d lines, %d characters are carried:\n%s", seed, n,
			utf8.RuneCountInString(carriedStart+carried), carried)
	}
	for line := range strings.SplitSeq(summary, "\n") {
		if utf8.RuneCountInString(line) > SummaryLine {
			t.Fatalf("seed %d: a line of %d characters: %s", seed, utf8.RuneCountInString(line), line)
		}
	}
}

// words are n different ones, so that no line equals another.
func words(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%x ", r.Uint32())
	}
	return strings.TrimSpace(b.String())
}

func randomMessage(r *rand.Rand) Message {
	m := Message{Role: []string{RoleUser, RoleAssistant, RoleTool, RoleSystem}[r.IntN(4)],
		Content: words(r, r.IntN(40))}
	if m.Role == RoleAssistant && r.IntN(2) == 0 {
		m.ToolCalls = []ToolCall{{ID: "c", Name: words(r, 1), Arguments: []byte(`{"path":"` + words(r, 1) + `.go"}`)}}
	}
	if m.Role == RoleTool {
		m.ToolResults = []ToolResult{{ToolCallID: "c", Content: words(r, 3)}}
	}
	return m
}

// TestNothingLost: over many compactions of random conversations, what was archived and what is
// kept are together all messages, verbatim and in order; the bounds hold; the scope stays; and what
// a summary says of its own messages is in the next ones while there is room: in the five after it
// always, however long its lines are.
func TestNothingLost(t *testing.T) {
	for seed := range uint64(randomRuns) {
		r := rand.New(rand.NewPCG(seed, 2))
		var all, archived, live []Message
		var last *Compaction
		var said [][]string // the facts of each compaction's own lines
		for range 2 + r.IntN(8) {
			for range 6 + r.IntN(8) {
				m := randomMessage(r)
				all, live = append(all, m), append(live, m)
			}
			o := CompactOptions{Threshold: 1, Keep: 1 + r.IntN(5)}
			c, ok := Compact(live, last, o)
			if !ok {
				t.Fatalf("seed %d: not compacted", seed)
			}
			first := 0
			if last != nil {
				first = 1
			}
			archived = append(archived, live[first:c.Removed]...)
			if int(c.Compaction.RemovedMessageCount) != c.Removed-first {
				t.Fatalf("seed %d: %d removed: %+v", seed, c.Removed, c.Compaction)
			}
			live = append([]Message{c.Message}, live[c.Removed:]...)
			last = &c.Compaction
			checkBounds(t, seed, last.Summary)
			own, _, _ := strings.Cut(last.Summary, "\n"+carriedStart)
			said = append(said, factsOf(own))
			checkSaid(t, seed, said, last.Summary)
			if got := append(slices.Clone(archived), live[1:]...); !reflect.DeepEqual(got, all) {
				t.Fatalf("seed %d: %d messages archived and %d kept are not the %d that there were", seed,
					len(archived), len(live)-1, len(all))
			}
		}
	}
}

func factsOf(own string) (facts []string) {
	for line := range strings.SplitSeq(own, "\n") {
		if hasContent(line) {
			facts = append(facts, line)
		}
	}
	return facts
}

func checkSaid(t *testing.T, seed uint64, said [][]string, summary string) {
	t.Helper()
	lines := strings.Split(summary, "\n")
	for i, facts := range said {
		for _, fact := range facts {
			old := len(said) - 1 - i
			if (old <= 4 || strings.HasPrefix(fact, summaryScope)) && !slices.Contains(lines, fact) {
				t.Fatalf("seed %d: %d compactions later %q is not in\n%s", seed, old, fact, summary)
			}
		}
	}
}

// TestCarriedBounds: hundreds of compactions, with summaries of callers' that are long, keep to the
// bounds, and what was left out is counted.
func TestCarriedBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	var last *Compaction
	live := talk("The first request of all")
	for i := range 300 {
		for range 5 {
			live = append(live, randomMessage(r))
		}
		o := CompactOptions{Threshold: 1, Keep: 1}
		if i%10 == 9 {
			o.Summary = some(strings.Repeat(words(r, 10)+"\n", 20))
		}
		live, last = step(t, live, last, o)
		if o.Summary == nil {
			checkBounds(t, 7, last.Summary)
		}
	}
	if !strings.Contains(last.Summary, lostStart) {
		t.Errorf("nothing was left out:\n%s", last.Summary)
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		line  string
		parts []string
	}{
		{"", []string{""}}, {"abc", []string{"abc"}}, {"ab cd ef", []string{"ab cd", "ef"}},
		{"abcdefgh i", []string{"abcde", "fgh i"}}, {"a abcdefghijk", []string{"a", "abcde", "fghij", "k"}},
		{"äöü äö", []string{"äöü", "äö"}},
	} {
		if got := splitLine(c.line, 5); !slices.Equal(got, c.parts) {
			t.Errorf("%q is folded to %q, want %q", c.line, got, c.parts)
		}
	}
}

// FuzzSummary: whatever a summary says can be carried on, within the bounds, and more than once.
func FuzzSummary(f *testing.F) {
	for _, name := range []string{"compaction-first.txt", "compaction-third.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), "x")
	}
	f.Add("Summary of compaction 99:\n- Left out: 5 line(s)\n- Left out: x\nSummary of compaction -1:", "\xff")
	f.Fuzz(func(t *testing.T, earlier, text string) {
		last := &Compaction{Count: 3, Summary: earlier}
		messages := talk(text, text, text, text, "e", "f")
		for range 3 {
			messages, last = step(t, append(messages, talk(text, "g", "h", "i")...), last, CompactOptions{Threshold: 1})
			checkBounds(t, 0, last.Summary)
		}
	})
}
