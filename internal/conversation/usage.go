package conversation

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
)

// usageNames are the keys of a usage by the field they count for, the first that is given counts.
// The second is what model servers call it.
var usageNames = []struct {
	field func(*Usage) *int64
	names []string
}{
	{func(u *Usage) *int64 { return &u.InputTokens }, []string{"input_tokens", "prompt_tokens"}},
	{func(u *Usage) *int64 { return &u.OutputTokens }, []string{"output_tokens", "completion_tokens"}},
	{func(u *Usage) *int64 { return &u.CacheCreationTokens }, []string{"cache_creation_tokens"}},
	{func(u *Usage) *int64 { return &u.CacheReadTokens }, []string{"cache_read_tokens"}},
	{func(u *Usage) *int64 { return &u.ToolCalls }, []string{"tool_calls"}},
	{func(u *Usage) *int64 { return &u.Iterations }, []string{"iterations"}},
	{func(u *Usage) *int64 { return &u.Turns }, []string{"turns"}},
}

// ParseUsage reads a usage: an object of whole numbers from 0. prompt_tokens is input_tokens and
// completion_tokens output_tokens; when both names are given, our own counts. Unknown keys and
// other values count nothing, and anything but an object is all 0.
func ParseUsage(raw json.RawMessage) Usage {
	var u Usage
	f := object(raw)
	for _, n := range usageNames {
		for _, name := range n.names {
			if v, ok := f.count(name); ok {
				*n.field(&u) = v
				break
			}
		}
	}
	return u
}

// CheckUsage refuses a usage in which something that is counted is no whole number from 0, for who
// has just been given it: in files it counts nothing. Errors: ErrInvalid names the key.
func CheckUsage(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	f := object(raw)
	if f == nil {
		return fmt.Errorf("%w: usage is an object of whole numbers from 0", ErrInvalid)
	}
	for _, n := range usageNames {
		for _, name := range n.names {
			if v, given := f[name]; given && string(v) != "null" {
				if _, ok := f.count(name); !ok {
					return fmt.Errorf("%w: usage.%s is %.40s; a whole number from 0 is needed", ErrInvalid, name, v)
				}
			}
		}
	}
	return nil
}

// OfTurn is what one turn adds to the totals: its usage, the turn's own tool calls and iterations
// where the usage does not say, and 1 turn, whatever the usage says.
func OfTurn(usage json.RawMessage, toolCalls, iterations int64) Usage {
	u, f := ParseUsage(usage), object(usage)
	if _, ok := f.count("tool_calls"); !ok {
		u.ToolCalls = toolCalls
	}
	if _, ok := f.count("iterations"); !ok {
		u.Iterations = iterations
	}
	u.Turns = 1
	return u
}

// Sum adds two usages, field by field. It stays at the largest number instead of overflowing.
func Sum(u, v Usage) Usage {
	for _, n := range usageNames {
		sum, more := n.field(&u), *n.field(&v)
		if *sum > math.MaxInt64-more {
			*sum = math.MaxInt64
		} else {
			*sum += more
		}
	}
	return u
}

// usageKeys is u as a conversation file has it. Loader writes only keys that something was counted
// for; came is the usage of the file that a conversation was made from, and nil for one of ours,
// which has all keys. Keys of came that are not known stay as they are.
func usageKeys(u Usage, came json.RawMessage) map[string]json.RawMessage {
	old := object(came)
	keys := map[string]json.RawMessage{}
	maps.Copy(keys, old)
	for _, n := range usageNames {
		given := old == nil || *n.field(&u) != 0
		for _, name := range n.names {
			given = given || keys[name] != nil
			delete(keys, name)
		}
		if given {
			keys[n.names[0]], _ = json.Marshal(*n.field(&u))
		}
	}
	return keys
}
