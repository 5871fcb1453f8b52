package permission

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParseRules(t *testing.T) {
	r,
		err := ParseRules([]byte(` {"deny" : [ {"tool":"exec", "contains" : "rm -rf"} ], ` +
		`"allow":[{"path_contains":"/tmp"},{"tool":"read"}]} `))
	want := Rules{Allow: []Rule{{PathContains: "/tmp"}, {Tool: "read"}},
		Deny: []Rule{{Tool: "exec", Contains: "rm -rf"}}, Ask: []Rule{}}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("%+v (%v), want %+v", r, err, want)
	}
	if c := NewEnforcer(Rules{}).Counts(Permissions{Rules: r}); c.Allow != 2 || c.Deny != 1 || c.Ask != 0 {
		t.Errorf("counts are %+v", c)
	}
	if r, err := ParseRules([]byte("{}")); err != nil || count(r) != 0 || r.Deny == nil {
		t.Errorf("%+v (%v)", r, err)
	}
}

// TestBadRules: whatever is not understood refuses the whole.
func TestBadRules(t *testing.T) {
	many := strings.Repeat(`{"tool":"x"},`, maxRules) + `{"tool":"x"}`
	for _, test := range []struct{ text, says string }{
		{``, "object"},
		{`null`, "object"},
		{`[]`, "object"},
		{`{`, "EOF"},
		{`{"deny":[]`, "EOF"},
		{`{"deny":[]} x`, "behind"},
		{`{"deny":[]}{}`, "behind"},
		{`{"denied":[]}`, "denied"},
		{`{"Deny":[]}`, "Deny"},
		{`{"deny":[],"deny":[]}`, "twice"},
		{`{"deny":null}`, "list"},
		{`{"deny":{}}`, "list"},
		{`{"deny":"exec"}`, "list"},
		{`{"deny":[null]}`, "rule 1: a JSON object"},
		{`{"deny":["exec"]}`, "rule 1: a JSON object"},
		{`{"deny":[{"tool":"exec"},{}]}`, "rule 2: it is empty"},
		{`{"deny":[{"Tool":"exec"}]}`, "Tool"},
		{`{"deny":[{"tool":"exec","regex":"x"}]}`, "regex"},
		{`{"deny":[{"tool":"exec","tool":"read"}]}`, "twice"},
		{`{"allow":[{"key":"stdin"}]}`, "prefix, equals or contains is needed"},
		{`{"allow":[{"prefix":"a","contains":"b"}]}`, "exclude"},
		{`{"allow":[{"equals":"a","prefix":"b"}]}`, "exclude"},
		{`{"deny":[{"tool":1}]}`, "text"},
		{`{"deny":[{"tool":null}]}`, "text"},
		{`{"deny":[{"tool":["exec"]}]}`, "text"},
		{`{"deny":[{"contains":""}]}`, "1 to"},
		{`{"deny":[{"contains":"  "}]}`, "1 to"},
		{`{"deny":[{"contains":"` + strings.Repeat("x", maxRuleText+1) + `"}]}`, "1 to"},
		{`{"deny":[` + many + `]}`, "at most"},
		{`{"deny":[{"contains":"` + "\xff" + `"}]}`, "UTF-8"},
		{`{"mode":"allow"}`, "mode"},
		{strings.Repeat(" ", MaxRulesFile) + `{}`, "at most"},
	} {
		r, err := ParseRules([]byte(test.text))
		if !errors.Is(err, ErrInvalid) || !strings.Contains(fmt.Sprint(err), test.says) || count(r) != 0 {
			t.Errorf("%.60s: %+v (%v), want an error that says %q", test.text, r, err, test.says)
		}
	}
}

// FuzzParseRules: what is taken comes back the same from its own JSON, has only rules that say
// something, and decides without a panic.
func FuzzParseRules(f *testing.F) {
	for _, seed := range []string{`{}`,
		`{"deny":[{"tool":"exec","contains":"rm -rf"}],"ask":[{"path_contains":"/etc"}],"allow":[{"tool":"read"}]}`,
		`{"deny":[{"contains":"\ud800"}]}`, `{"deny":[{"tool":"exec"}]}x`, `{"deny":null}`, `{"allow":[{}]}`} {
		f.Add([]byte(seed), []byte(`{"command":"rm -rf /","path":"/etc/../x"}`))
	}
	f.Fuzz(func(t *testing.T, text, args []byte) {
		r, err := ParseRules(text)
		if err != nil {
			if !errors.Is(err, ErrInvalid) || count(r) != 0 {
				t.Fatalf("%+v (%v)", r, err)
			}
			return
		}
		for _, rule := range append(append(r.Allow, r.Deny...), r.Ask...) {
			if rule == (Rule{}) {
				t.Fatal("an empty rule was taken")
			}
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseRules(b); len(b) <= MaxRulesFile && (err != nil || !reflect.DeepEqual(again, r)) {
			t.Fatalf("%+v became %+v (%v)", r, again, err)
		}
		d, err := Permissions{Mode: ModeAllow, Rules: r}.decide(Rules{}, Call{"exec", args})
		if err == nil && d.Decision != Allow && d.Rule == nil {
			t.Fatalf("%+v without a rule", d)
		}
	})
}
