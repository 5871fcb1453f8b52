package conversation

import (
	"strings"
	"unicode/utf8"
)

// What a compaction goes by unless the caller says otherwise; Loader's.
const (
	DefaultThreshold = 100_000 // estimated tokens below which nothing is compacted
	MinThreshold     = 12_000  // the least threshold that comes of a context window
	DefaultKeep      = 4       // messages that stay as they are
)

const charsPerToken = 4 // an estimate for English text and code

// What a message that stands for archived ones is made of.
const (
	compactedMark = "[COMPACTED CONTEXT]\n"
	continueMark  = "\n\nContinuation instructions:\n"
	continueText  = "- The messages before this one are archived; the summary above stands for them.\n" +
		"- Go on with the task from where the messages below stop, and do not ask for what is said here.\n" +
		"- Look at files and commands again before relying on details that the summary leaves out."
)

// CompactOptions say when and how. The zero value has the defaults.
type CompactOptions struct {
	// estimated tokens from which on it is worth it; 0 is 1 when there is a Summary, else what
	// ContextWindow gives, else DefaultThreshold
	Threshold int64
	// tokens of the model, 0 when not known: the threshold is three quarters of it, MinThreshold at
	// least
	ContextWindow int64
	Keep          int // messages that stay; 0 is DefaultKeep
	// the caller's own summary: stands as it is, with the merged lines behind it; a blank one is none
	Summary     *string
	CurrentTask *string // for the line Scope
}

// Compacted is what a compaction does: the first Removed of the messages are to be archived, and
// Message stands before those that stay. Removed counts the message of the compaction before,
// Compaction.RemovedMessageCount does not.
type Compacted struct {
	Removed    int
	Message    Message
	Compaction Compaction
}

// Compact decides on the messages that are not archived, in their order, and last, the compaction
// before this one (nil: none). ok is false when they are below the threshold or not more than Keep,
// the message of the compaction before not counted. It changes nothing, and the same input gives
// the same result.
func Compact(messages []Message, last *Compaction, o CompactOptions) (c Compacted, ok bool) {
	keep := o.Keep
	if keep <= 0 {
		keep = DefaultKeep
	}
	earlier, first := earlierSummary(messages, last)
	removed := len(messages) - keep
	tokens := Tokens(messages)
	if removed <= first || tokens < o.threshold() {
		return Compacted{}, false
	}
	var count int64
	if last != nil {
		count = last.Count
	}
	s := summary(messages[first:removed], o, earlierLines(earlier, count))
	c.Removed = removed
	c.Message = NormalMessage(Message{Role: RoleUser, Content: compactedMark + s + continueMark + continueText})
	c.Compaction = Compaction{
		Count:                 count + 1,
		RemovedMessageCount:   int64(removed - first),
		Summary:               s,
		OriginalInputTokens:   tokens,
		CompressedInputTokens: Tokens(append([]Message{c.Message}, messages[removed:]...)),
	}
	return c, true
}

func (o CompactOptions) threshold() int64 {
	switch {
	case o.Threshold > 0:
		return o.Threshold
	case o.Summary != nil && !blank(*o.Summary):
		return 1
	case o.ContextWindow > 0:
		return max(MinThreshold, o.ContextWindow/4*3)
	}
	return DefaultThreshold
}

// earlierSummary returns the summary of the compaction before, and how many of the messages stand
// for it: 1, or 0 when there is none.
func earlierSummary(messages []Message, last *Compaction) (summary string, first int) {
	if len(messages) > 0 && messages[0].Role == RoleUser {
		if rest, ok := strings.CutPrefix(messages[0].Content, compactedMark); ok {
			summary, _, _ = strings.Cut(rest, continueMark)
			first = 1
		}
	}
	if last != nil && last.Summary != "" {
		summary = last.Summary
	}
	return summary, first
}

// Tokens estimates what messages cost a model: a quarter of the characters (code points) of
// contents, names and arguments of tool calls and contents of tool results, 1 at least.
func Tokens(messages []Message) int64 {
	var chars int
	for _, m := range messages {
		chars += utf8.RuneCountInString(m.Content)
		for _, c := range m.ToolCalls {
			chars += utf8.RuneCountInString(c.Name) + utf8.RuneCount(c.Arguments)
		}
		for _, r := range m.ToolResults {
			chars += utf8.RuneCountInString(r.Content)
		}
	}
	return int64(max(1, chars/charsPerToken))
}
