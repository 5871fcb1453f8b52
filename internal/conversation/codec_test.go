package conversation

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
)

func sample(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/loader-v11.json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLoaderFile: a file of Loader's, every key in use, comes back byte for byte, and is what it
// says.
func TestLoaderFile(t *testing.T) {
	b := sample(t)
	d, err := DecodeDocument(b)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, b) {
		t.Errorf("the file came back as\n%s", again)
	}
	if got := string(*d.WorkflowTimeline[0].RouteScore) + " " + string(*d.WorkflowComplexityScore); got != "0.72 1.0" {
		t.Errorf("scores are %s", got)
	}
	if d.SessionID != "20260407T120000Z-1a2b3c4d" || d.PermissionMode != "allow" || len(d.Messages) != 4 ||
		d.Usage.InputTokens != 22 || *d.RuntimeOwnerPath != "runtime-handle" {
		t.Errorf("decoded as %+v", d)
	}
	if c := d.Messages[1].ToolCalls[0]; c.ID != "write-1" ||
		object(c.Arguments).text("file_path", "") != "/work/hello.txt" {
		t.Errorf("the tool call is %+v", c)
	}
	if d.WorkflowLedger.Assumptions[0].Status != "contradicted" ||
		d.PromptHistory[1].Content != "# Introduction\nexecute around notes.txt\n# Project Context\npython\n" {
		t.Errorf("ledger %+v, prompts %+v", d.WorkflowLedger, d.PromptHistory)
	}
	if d.CompletionTrace[0].DecisionCode != "verification_failed_reentry" {
		t.Errorf("trace %+v", d.CompletionTrace)
	}
}

// TestDocumentKeys: the empty record has the keys that a new conversation of Loader's has, and
// completion_trace only when there is one.
func TestDocumentKeys(t *testing.T) {
	b, err := Document{SessionID: "a"}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "active_dod_path": null,
  "active_turn_phase": null,
  "compaction": null,
  "created_at": "",
  "current_task": null,
  "last_completion_decision_code": null,
  "last_completion_decision_summary": null,
  "last_turn_transition_kind": null,
  "last_turn_transition_reason_code": null,
  "last_turn_transition_summary": null,
  "messages": [],
  "permission_mode": "workspace-write",
  "permission_prompting_enabled": false,
  "permission_rule_counts": {
    "allow": 0,
    "ask": 0,
    "deny": 0
  },
  "permission_rules_source": null,
  "prompt_format": null,
  "prompt_history": [],
  "prompt_sections": [],
  "runtime_owner_path": null,
  "runtime_owner_type": null,
  "session_id": "a",
  "updated_at": "",
  "usage": {
    "cache_creation_tokens": 0,
    "cache_read_tokens": 0,
    "input_tokens": 0,
    "iterations": 0,
    "output_tokens": 0,
    "tool_calls": 0,
    "turns": 0
  },
  "version": 11,
  "workflow_ambiguity_score": null,
  "workflow_complexity_score": null,
  "workflow_decision_kind": null,
  "workflow_ledger": {
    "acceptance_anchors": [],
    "assumptions": [],
    "decision_boundaries": []
  },
  "workflow_mode": "execute",
  "workflow_reason_code": null,
  "workflow_reason_summary": null,
  "workflow_scheduled_next_mode": null,
  "workflow_timeline": []
}
`
	if string(b) != want {
		t.Errorf("an empty record is\n%s", b)
	}
}

// TestTolerant: what is missing or odd gets what a new conversation has; it is never an error.
func TestTolerant(t *testing.T) {
	fresh := decodeDocument(fields{})
	for name, file := range map[string]string{
		"nothing": `{}`,
		"nulls": `{"version":null,"messages":null,"usage":null,"workflow_timeline":null,` +
			`"workflow_ledger":null,"compaction":null,"prompt_sections":null}`,
		"blanks": `{"current_task":"  ","prompt_format":"","workflow_mode":"","permission_mode":" \n",` +
			`"prompt_sections":[""," "]}`,
		"other types": `{"version":"x","session_id":5,"messages":{},"usage":null,"current_task":7,` +
			`"workflow_mode":[],"permission_prompting_enabled":"yes","permission_rule_counts":[],` +
			`"workflow_ambiguity_score":"0.5","prompt_history":"","workflow_timeline":3,"workflow_ledger":[],` +
			`"compaction":"","completion_trace":{}}`,
		"odd elements": `{"messages":[1,null,"x",[]],"prompt_sections":[1,null,{}],"prompt_history":[{},` +
			`{"content":""},5],"workflow_timeline":[null,"x"],"completion_trace":[false]}`,
		"odd numbers":    `{"permission_rule_counts":{"allow":-1,"deny":1.5,"ask":"2"},"version":-3}`,
		"empty ledger":   `{"workflow_ledger":{"assumptions":[{"text":" "},{},4],"acceptance_anchors":7}}`,
		"no compaction":  `{"compaction":{}}`,
		"an empty trace": `{"completion_trace":[]}`,
	} {
		t.Run(name, func(t *testing.T) {
			d, err := DecodeDocument([]byte(file))
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(d, fresh) {
				t.Errorf("decoded as %+v", d)
			}
		})
	}
}

// TestTolerantParts: an element with gaps keeps what it has.
func TestTolerantParts(t *testing.T) {
	d, err := DecodeDocument([]byte(`{
		"messages":[{"content":"a"},{"role":"critic","tool_calls":[{"name":"n","arguments":"x"}],
			"tool_results":[{"is_error":true}]}],
		"workflow_timeline":[{"summary":"s","route_score":1e2,"pressure_pass_complete":1,
			"evidence_provenance":[{"subject":" "}]}],
		"workflow_ledger":{"decision_boundaries":[{"text":" b ","evidence":["",2,"e"]}]},
		"prompt_history":[{"content":"c"}],
		"compaction":{"count":2.0},
		"completion_trace":[{"stage":"s"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if m := d.Messages; m[0].Role != "user" || m[1].Role != "critic" || string(m[1].ToolCalls[0].Arguments) != "{}" ||
		!m[1].ToolResults[0].IsError {
		t.Errorf("messages %+v", m)
	}
	e := d.WorkflowTimeline[0]
	if e.Kind != "route" || e.Mode != "execute" || *e.RouteScore != "1e2" || e.PressurePassComplete ||
		e.EvidenceProvenance[0].Status != "context" || e.EvidenceProvenance[0].Subject != nil {
		t.Errorf("entry %+v", e)
	}
	if i := d.WorkflowLedger.DecisionBoundaries[0]; i.Text != " b " || i.Status != "tracked" ||
		*i.IntroducedPhase != "unknown" || !reflect.DeepEqual(i.Evidence, []string{"e"}) {
		t.Errorf("item %+v", i)
	}
	if p := d.PromptHistory[0]; p.WorkflowMode != "execute" || p.PermissionMode != "workspace-write" ||
		p.PromptSections == nil {
		t.Errorf("prompt %+v", p)
	}
	if d, err := DecodeDocument([]byte(`{"runtime_owner_type":"FooBar"}`)); err != nil ||
		*d.RuntimeOwnerPath != "foo-bar" {
		t.Errorf("the owner's path is %v (%v)", d.RuntimeOwnerPath, err)
	}
	if d.Compaction.Count != 2 || d.CompletionTrace[0].Stage != "s" {
		t.Errorf("compaction %+v, trace %+v", d.Compaction, d.CompletionTrace)
	}
}

// TestUnknownKeys: what we do not know comes back, numbers as they were written.
func TestUnknownKeys(t *testing.T) {
	const file = `{"later":{"b":1.50,"a":12345678901234567890},"usage":{"prompt_tokens":3,"cost":0.10},` +
		`"workflow_timeline":[{"kind":"route","later":[1.0]}]}`
	d, err := DecodeDocument([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"later":{"a":12345678901234567890,"b":1.50}`,
		`"usage":{"cost":0.10,"input_tokens":3}`, `"later":[1.0]`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in %s", want, b)
		}
	}
}

func TestNotADocument(t *testing.T) {
	for _, file := range []string{"", "null", "[]", `"x"`, "{", `{} {}`, `{"a":NaN}`, strings.Repeat("[", 20000)} {
		if _, err := DecodeDocument([]byte(file)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%.20q: %v", file, err)
		}
	}
	if _, err := DecodeDocument(make([]byte, MaxDocument+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a long one: %v", err)
	}
}

// TestEntryJSON: an entry is the same alone as in a document; extra keys cannot take the place of
// ours.
func TestEntryJSON(t *testing.T) {
	e := Entry{Kind: "completion_check", Summary: "<ok>",
		Extra: map[string]json.RawMessage{"kind": json.RawMessage(`"x"`), "own": json.RawMessage(`{"n":1.0}`)}}
	b, err := marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back Entry
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	e.Extra = map[string]json.RawMessage{"own": e.Extra["own"]}
	if !reflect.DeepEqual(back, e.Normal()) {
		t.Errorf("%s came back as %+v", b, back)
	}
	if err := json.Unmarshal([]byte(`[]`), &back); !errors.Is(err, ErrInvalid) {
		t.Errorf("a list as an entry: %v", err)
	}
}

// FuzzDocument: nothing makes the decoder fail otherwise than by its errors, and what was decoded
// once is a fixed point.
func FuzzDocument(f *testing.F) {
	f.Add(sample(f))
	f.Add([]byte(`{"messages":[{"tool_calls":[{"arguments":{"b":1,"a":[1e9]}}]}],"usage":{"tool_calls":0},"x":1}`))
	f.Add([]byte(`{"workflow_timeline":[{"kind":"\ud800","route_score":-0.0}],"compaction":{"count":9e99}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := DecodeDocument(b)
		if err != nil {
			return
		}
		first, err := d.Encode()
		if err != nil {
			t.Fatalf("a decoded document cannot be encoded: %v", err)
		}
		d, err = DecodeDocument(first)
		if err != nil {
			t.Fatalf("an encoded document cannot be decoded: %v\n%s", err, first)
		}
		if again, err := d.Encode(); err != nil || !bytes.Equal(first, again) {
			t.Fatalf("%v: encoded as\n%s\nand then as\n%s", err, first, again)
		}
	})
}

// TestLongIndents: a document that indents would make too long is in one line, and the same.
func TestLongIndents(t *testing.T) {
	const levels = 9000 // their indents alone would have 160 MiB
	d := Document{Messages: []Message{{Role: RoleAssistant,
		ToolCalls: []ToolCall{{ID: "1", Arguments: json.RawMessage(`{"a":` + strings.Repeat("[",
			levels) + strings.Repeat("]", levels) + `}`)}}}}}
	b, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 1<<20 || bytes.Count(b, []byte("\n")) != 1 || b[len(b)-1] != '\n' {
		t.Errorf("it has %d bytes in %d lines", len(b), bytes.Count(b, []byte("\n")))
	}
	again, err := DecodeDocument(b)
	if err != nil || string(again.Messages[0].ToolCalls[0].Arguments) != string(d.Messages[0].ToolCalls[0].Arguments) {
		t.Errorf("it came back as %.200v (%v)", again, err)
	}
}

// TestIndentedSize is what indenting makes of JSON.
func TestIndentedSize(t *testing.T) {
	var file bytes.Buffer
	if err := json.Compact(&file, sample(t)); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{}`, `[]`, `0`, `""`, `"\""`, `"\\"`, `{"a":[{},[],[[]],{"b":{}}]}`,
		`{"{":"}","[\\":"]\",:"}`, `[1,[2,3],{"a":1,"b":[null,true]}]`, file.String()} {
		var out bytes.Buffer
		if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := indentedSize([]byte(text), MaxDocument); got != out.Len() {
			t.Errorf("%.100s: %d bytes, want %d", text, got, out.Len())
		}
	}
	if got := indentedSize(bytes.Repeat([]byte("["), 100), 50); got <= 50 {
		t.Errorf("%d is not above the most", got)
	}
}
