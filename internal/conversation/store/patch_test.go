package store_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/conversation"
)

// everyField is a patch of all fields but those with a meaning of their own.
const everyField = `{"current_task":"Inspect","runtime_owner_type":"RuntimeHandle","permission_mode":"allow",` +
	`"permission_prompting_enabled":true,
	"permission_rule_counts":{"allow":2,"deny":1,"ask":4},"permission_rules_source":"/p/rules.json",
		"prompt_format":"native","prompt_sections":["A","B"],
	"workflow_mode":"plan","active_dod_path":"/dod","active_turn_phase":"act","workflow_reason_code":"task_is_complex",
		"workflow_reason_summary":"long",
	"workflow_decision_kind":"initial_route","workflow_ambiguity_score":0.2,"workflow_complexity_score":0.60,
		"workflow_scheduled_next_mode":"execute",
	"last_completion_decision_code":"c","last_completion_decision_summary":"s","last_turn_transition_summary":"ts",
		"last_turn_transition_kind":"terminal",
	"last_turn_transition_reason_code":"turn_complete"}`

func fieldsOf(t *testing.T, s conversation.State) map[string]json.RawMessage {
	t.Helper()
	var f map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(asJSON(t, s)), &f))
	return f
}

// TestPatchOfEveryField: all come back after a restart; one more changes nothing else; null clears
// each alone.
func TestPatchOfEveryField(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	s, err := r.Patch("t", json.RawMessage(everyField))
	must(t, err)
	r.again()
	read, err := r.State("t", "")
	must(t, err)
	same(t, "the state", read, s)
	all := fieldsOf(t, read)
	var given map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(everyField), &given))
	given["runtime_owner_path"] = json.RawMessage(`"runtime-handle"`)
	for name, want := range given {
		var a, b any
		must(t, json.Unmarshal(all[name], &a))
		must(t, json.Unmarshal(want, &b))
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s is %s, want %s", name, all[name], want)
		}
	}
	if len(all) != len(given) {
		t.Errorf("%d of %d fields are tested", len(given), len(all))
	}
	if got := string(all["workflow_complexity_score"]); got != "0.60" {
		t.Errorf("0.60 is %s", got)
	}
	fresh := fieldsOf(t, conversation.NewState())
	for name := range given {
		_, err := r.Patch("t", json.RawMessage(everyField))
		must(t, err)
		s, err := r.Patch("t", json.RawMessage(`{"`+name+`":null}`))
		must(t, err)
		for other, v := range fieldsOf(t, s) {
			want := all[other]
			if other == name || name == "runtime_owner_type" && other == "runtime_owner_path" {
				want = fresh[other]
			}
			if string(v) != string(want) {
				t.Errorf("after null for %s, %s is %s, want %s", name, other, v, want)
			}
		}
	}
}

func TestPatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, first, then, field, want string
	}{
		{"absent keeps", `{"current_task":"a"}`, `{"prompt_format":"x"}`, "current_task", `"a"`},
		{"an empty patch", `{"current_task":"a"}`, `{}`, "current_task", `"a"`},
		{"null of a mode is the default", `{"workflow_mode":"plan"}`, `{"workflow_mode":null}`, "workflow_mode",
			`"execute"`},
		{"false is a value", `{"permission_prompting_enabled":true}`, `{"permission_prompting_enabled":false}`,
			"permission_prompting_enabled", `false`},
		{"an empty list is a value", `{"prompt_sections":["a"]}`, `{"prompt_sections":[]}`, "prompt_sections", `[]`},
		{"a type brings its path", `{"runtime_owner_path":"x"}`, `{"runtime_owner_type":"FooBar"}`,
			"runtime_owner_path", `"foo-bar"`},
		{"a path that is given stays", `{}`, `{"runtime_owner_type":"FooBar","runtime_owner_path":"mine"}`,
			"runtime_owner_path", `"mine"`},
		{"a path alone", `{"runtime_owner_type":"FooBar"}`, `{"runtime_owner_path":"mine"}`, "runtime_owner_type",
			`"FooBar"`},
		{"a type that goes takes its path along", `{"runtime_owner_type":"FooBar"}`, `{"runtime_owner_type":null}`,
			"runtime_owner_path", `null`},
		{"open words", `{}`, `{"workflow_mode":"dream"}`, "workflow_mode", `"dream"`},
		{"exact numbers", `{}`, `{"workflow_ambiguity_score":0.30000000000000004}`, "workflow_ambiguity_score",
			`0.30000000000000004`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := open(t, 0)
			_, err := r.Patch("t", json.RawMessage(c.first))
			must(t, err)
			s, err := r.Patch("t", json.RawMessage(c.then))
			must(t, err)
			if got := string(fieldsOf(t, s)[c.field]); got != c.want {
				t.Errorf("%s is %s, want %s", c.field, got, c.want)
			}
		})
	}
}

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	before, err := r.Patch("t", json.RawMessage(everyField))
	must(t, err)
	for patch, text := range map[string]string{
		`[]`:                         "JSON object",
		`null`:                       "JSON object",
		`{"current_task":1}`:         "current_task",
		`{"mood":"good"}`:            `"mood"`,
		`{"Current_Task":"x"}`:       `"Current_Task"`,
		`{"prompt_sections":"a"}`:    "prompt_sections",
		`{"prompt_sections":[1]}`:    "prompt_sections",
		`{"prompt_sections":[null]}`: "prompt_sections",
		`{"permission_rule_counts":{"allow":-1}}`:                                   "permission_rule_counts",
		`{"permission_rule_counts":{"maybe":1}}`:                                    "permission_rule_counts",
		`{"permission_rule_counts":{"allow":"1"}}`:                                  "permission_rule_counts",
		`{"permission_rule_counts":[]}`:                                             "permission_rule_counts",
		`{"permission_mode":"root"}`:                                                `"root"`,
		`{"permission_prompting_enabled":"yes"}`:                                    "permission_prompting_enabled",
		`{"workflow_ambiguity_score":"high"}`:                                       "high",
		`{"prompt_format":"a","last_turn_transition_kind":{}}`:                      "last_turn_transition_kind",
		`{"current_task":"` + strings.Repeat("x", conversation.MaxItemBytes) + `"}`: "at most",
	} {
		_, err := r.Patch("t", json.RawMessage(patch))
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%.60s: %v", patch, err)
		}
	}
	after, err := r.State("t", "")
	must(t, err)
	same(t, "the state", after, before)
}

func TestOwnerPath(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"Agent": "public-agent", "RuntimeHandle": "runtime-handle", "FooBar": "foo-bar", "foo": "foo",
		"HTTPServer": "http-server", "A": "a", "My_Agent": "my-agent",
		"already-kebab": "already-kebab", "Gpt4Agent": "gpt4-agent", "ÄrgerMacher": "ärger-macher", "": "",
	} {
		if got := conversation.OwnerPath(kind); got != want {
			t.Errorf("%q is %q, want %q", kind, got, want)
		}
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	_, err := r.Attach("t", "Agent")
	must(t, err)
	s, err := r.Attach("t", "RuntimeHandle")
	must(t, err)
	same(t, "the path", s.RuntimeOwnerPath, "runtime-handle")
	same(t, "the file", r.saved(r.head("t").SessionID).RuntimeOwnerPath, "runtime-handle")
	r.again()
	s, err = r.State("t", "")
	must(t, err)
	same(t, "the type", s.RuntimeOwnerType, "RuntimeHandle")
	for _, bad := range []string{"", "  ", strings.Repeat("x", conversation.MaxOwner+1)} {
		_, err := r.Attach("t", bad)
		refused(t, err, conversation.ErrInvalid)
	}
	same(t, "events", r.events("t"), []string{"record.created", "record.attached", "record.attached"})
}
