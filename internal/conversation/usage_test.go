package conversation

import (
	"encoding/json"
	"math"
	"testing"
)

func TestParseUsage(t *testing.T) {
	for raw, want := range map[string]Usage{
		``:                                     {},
		`null`:                                 {},
		`[1]`:                                  {},
		`{"prompt_tokens":9}`:                  {InputTokens: 9},
		`{"completion_tokens":3,"x":4}`:        {OutputTokens: 3},
		`{"prompt_tokens":9,"input_tokens":8}`: {InputTokens: 8},
		`{"prompt_tokens":9,"input_tokens":"many"}`:                                               {InputTokens: 9},
		`{"input_tokens":-1,"output_tokens":1.5,"tool_calls":2.0,"turns":true,"iterations":9e99}`: {ToolCalls: 2},
		`{"cache_creation_tokens":1,"cache_read_tokens":2,"tool_calls":3,"iterations":4,` +
			`"turns":5}`: {CacheCreationTokens: 1, CacheReadTokens: 2, ToolCalls: 3, Iterations: 4, Turns: 5},
		`{"input_tokens":9223372036854775807,"output_tokens":9223372036854775808,` +
			`"iterations":3.0e+2}`: {InputTokens: math.MaxInt64, Iterations: 300},
	} {
		if got := ParseUsage(json.RawMessage(raw)); got != want {
			t.Errorf("%s is %+v, want %+v", raw, got, want)
		}
	}
}

// TestUsageOfTurns is the seed's, and a second turn.
func TestUsageOfTurns(t *testing.T) {
	total := Sum(Usage{}, OfTurn(json.RawMessage(`{"prompt_tokens":9,"completion_tokens":3}`), 2, 1))
	if want := (Usage{InputTokens: 9, OutputTokens: 3, ToolCalls: 2, Iterations: 1, Turns: 1}); total != want {
		t.Errorf("one turn is %+v", total)
	}
	total = Sum(total, OfTurn(json.RawMessage(`{"input_tokens":1,"cache_read_tokens":5,"tool_calls":0,"turns":40}`), 7,
		3))
	if want := (Usage{InputTokens: 10, OutputTokens: 3, CacheReadTokens: 5, ToolCalls: 2, Iterations: 4,
		Turns: 2}); total != want {
		t.Errorf("two turns are %+v", total)
	}
	huge := Usage{InputTokens: math.MaxInt64}
	if got := Sum(huge, Usage{InputTokens: 1, Turns: 1}); got.InputTokens != math.MaxInt64 || got.Turns != 1 {
		t.Errorf("an overflow is %+v", got)
	}
}

// TestUsageKeys: a conversation that came from a file writes the keys that the file had, one of
// ours all.
func TestUsageKeys(t *testing.T) {
	for _, c := range []struct {
		came string
		u    Usage
		want string
	}{
		{`{}`, Usage{}, `{}`},
		{`{"input_tokens":9,"tool_calls":0}`, Usage{InputTokens: 12, Turns: 1},
			`{"input_tokens":12,"tool_calls":0,"turns":1}`},
		{`{"prompt_tokens":0,"cost":0.50}`, Usage{}, `{"cost":0.50,"input_tokens":0}`},
		{``, Usage{Turns: 2}, `{"cache_creation_tokens":0,"cache_read_tokens":0,"input_tokens":0,"iterations":0,` +
			`"output_tokens":0,"tool_calls":0,"turns":2}`},
	} {
		if b, err := json.Marshal(usageKeys(c.u, json.RawMessage(c.came))); err != nil || string(b) != c.want {
			t.Errorf("%+v in a file that had %s is %s (%v)", c.u, c.came, b, err)
		}
	}
}
