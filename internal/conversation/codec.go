package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// MaxDocument is how long a conversation file may be, in bytes: 100,000 messages of a page each
// need less, and a server holds it in memory for a moment.
const MaxDocument = 128 << 20

// DecodeDocument reads a conversation file of Loader's, of whatever version, or one of ours. It is
// tolerant as Loader is: a value that is missing or has a type that cannot be meant gets the
// default of a new conversation, blank texts of fields that may be null are null, elements of lists
// that are not what the list has are left out. Unlike Loader it leaves texts and numbers otherwise
// as they were given, and keeps keys that it does not know in Extra (a timeline entry's in its
// own). Extra also has usage as it came, whose keys Encode writes. Errors: ErrInvalid for anything
// but one JSON object, ErrTooLarge beyond MaxDocument, ErrTooMany for a list of more than MaxItems.
func DecodeDocument(b []byte) (Document, error) {
	if len(b) > MaxDocument {
		return Document{}, fmt.Errorf("%w: the document has %d bytes, at most %d are read", ErrTooLarge, len(b),
			MaxDocument)
	}
	var f fields
	if err := json.Unmarshal(b, &f); err != nil {
		return Document{}, fmt.Errorf("%w: a record is a JSON object%s", ErrInvalid, brokenAt(err))
	}
	if f == nil {
		return Document{}, fmt.Errorf("%w: a record is a JSON object, this is null", ErrInvalid)
	}
	for _, key := range [...]string{"workflow_timeline", "completion_trace", "prompt_history"} {
		n := 0
		for range f.elements(key) {
			if n++; n > MaxItems {
				return Document{}, fmt.Errorf("%w: %s has more than %d entries", ErrTooMany, key, MaxItems)
			}
		}
	}
	return decodeDocument(f), nil
}

func decodeDocument(f fields) Document {
	version, ok := f.count("version")
	if !ok {
		version = Version
	}
	d := Document{
		Version:          int(version),
		SessionID:        f.text("session_id", ""),
		CreatedAt:        f.text("created_at", ""),
		UpdatedAt:        f.text("updated_at", ""),
		Messages:         listOf(f, "messages", decodeMessage),
		Usage:            ParseUsage(f["usage"]),
		State:            decodeState(f),
		PromptHistory:    decodePrompts(f),
		WorkflowTimeline: listOf(f, "workflow_timeline", decodeEntry),
		WorkflowLedger:   decodeLedger(object(f["workflow_ledger"])),
		Compaction:       decodeCompaction(object(f["compaction"])),
		Extra:            f.others(documentKeys),
	}
	if trace := listOf(f, "completion_trace", decodeTrace); len(trace) > 0 {
		d.CompletionTrace = trace
	}
	if usage := object(f["usage"]); usage != nil {
		if d.Extra == nil {
			d.Extra = map[string]json.RawMessage{}
		}
		d.Extra["usage"] = f["usage"]
	}
	return d
}

// Encode writes a conversation file: keys sorted, indented by two, numbers as they were given,
// ending in a newline. What indents would make longer than MaxDocument is in one line: an argument
// of a tool may nest thousands of levels deep, or be a list of a million digits. The version that
// is written is the constant Version whatever d says. A file of Loader's that is decoded and
// encoded is the same JSON value. Errors: a RawMessage or Number in d that is no JSON.
func (d Document) Encode() ([]byte, error) {
	b, err := d.MarshalJSON()
	if err != nil {
		return nil, err
	}
	size := indentedSize(b, MaxDocument)
	if size >= MaxDocument { // with the newline
		return append(b, '\n'), nil
	}
	var out bytes.Buffer
	out.Grow(size + 1)
	if err := json.Indent(&out, b, "", indent); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

const indent = "  " // of a level in a file

// indentedSize is how many bytes JSON without space between its words has when it is indented, or
// some number above most.
func indentedSize(b []byte, most int) (size int) {
	depth, text := 0, false
	for i := 0; i < len(b) && size <= most; i++ {
		size++
		switch c := b[i]; {
		case text && c == '\\':
			i++
			size++
		case c == '"':
			text = !text
		case text:
		case c == '{' || c == '[':
			if depth++; b[i+1] != c+2 { // '{' and '}', '[' and ']' are two apart
				size += 1 + depth*len(indent)
			}
		case c == '}' || c == ']':
			if depth--; b[i-1] != c-2 {
				size += 1 + depth*len(indent)
			}
		case c == ',':
			size += 1 + depth*len(indent)
		case c == ':':
			size++
		}
	}
	return size
}

// MarshalJSON is Encode without indentation.
func (d Document) MarshalJSON() ([]byte, error) {
	state, err := marshal(NormalState(d.State))
	if err != nil {
		return nil, fmt.Errorf("encoding the state: %w", err)
	}
	top := map[string]any{
		"version": Version, "session_id": d.SessionID, "created_at": d.CreatedAt, "updated_at": d.UpdatedAt,
		"messages":          each(d.Messages, ordered),
		"usage":             usageKeys(d.Usage, d.Extra["usage"]),
		"prompt_history":    inOrder(d.PromptHistory, func(p Prompt) Prompt { p, _ = NormalPrompt(p); return p }),
		"workflow_timeline": inOrder(d.WorkflowTimeline, Entry.Normal),
		"workflow_ledger":   canonical{NormalLedger(d.WorkflowLedger)},
		"compaction":        canonical{d.Compaction},
	}
	if len(d.CompletionTrace) > 0 {
		top["completion_trace"] = inOrder(d.CompletionTrace, NormalTrace)
	}
	for key, raw := range object(state) {
		top[key] = raw
	}
	for key, raw := range d.Extra {
		if !slices.Contains(documentKeys, key) {
			top[key] = canonical{raw}
		}
	}
	return marshal(top)
}

// canonical is a value whose JSON has the keys of all objects in it sorted. The elements of a list
// are sorted one by one, so that it takes the memory of about one.
type canonical struct{ v any }

func (c canonical) MarshalJSON() ([]byte, error) { return sorted(c.v) }

func inOrder[T any](list []T, normal func(T) T) []canonical {
	return each(list, func(v T) canonical { return canonical{normal(v)} })
}

// The keys that are known, of a document and of a timeline entry.
var (
	entryKeys    = jsonKeys(reflect.TypeFor[Entry]())
	stateKeys    = jsonKeys(reflect.TypeFor[State]())
	documentKeys = append([]string{"version", "session_id", "created_at", "updated_at", "messages", "usage",
		"prompt_history",
		"workflow_timeline", "workflow_ledger", "compaction", "completion_trace"}, stateKeys...)
)

func jsonKeys(t reflect.Type) []string {
	var keys []string
	for f := range t.Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "-" {
			keys = append(keys, key)
		}
	}
	return keys
}

// brokenAt says in words where a text ceases to be JSON; "" when it is JSON of another kind.
func brokenAt(err error) string {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return ", this is something else"
	}
	return fmt.Sprintf("; this ceases to be JSON at byte %d", syntax.Offset)
}
