package conversation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/permission"
)

// Patched is the state with some fields changed.
func Patched(s State, patch map[string]json.RawMessage) (State, error) {
	fields, defaults := stateFields(s), stateFields(NewState())
	for name, v := range patch {
		if _, known := defaults[name]; !known {
			return s, fmt.Errorf("%w: the state has no field %.80q", ErrInvalid, name)
		}
		if fields[name] = v; string(v) == "null" {
			fields[name] = defaults[name]
		}
		if err := checkField(name, v); err != nil {
			return s, err
		}
	}
	_, typed := patch["runtime_owner_type"]
	if _, pathed := patch["runtime_owner_path"]; typed && !pathed {
		fields["runtime_owner_path"] = json.RawMessage("null")
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	var next State
	if err := json.Unmarshal(b, &next); err != nil {
		return s, fieldError(patch, err)
	}
	if next.RuntimeOwnerPath == nil && next.RuntimeOwnerType != nil && typed {
		path := OwnerPath(*next.RuntimeOwnerType)
		next.RuntimeOwnerPath = &path
	}
	next = NormalState(next)
	return next, permission.CheckMode(next.PermissionMode)
}

func stateFields(s State) map[string]json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("invariant violation: a state without JSON: %v", err)) // it came from JSON
	}
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(b, &fields) // an object, as all structs
	return fields
}

// checkField refuses what the type of a field would let pass.
func checkField(name string, v json.RawMessage) error {
	switch name {
	case "permission_rule_counts":
		counts := map[string]json.RawMessage{}
		if json.Unmarshal(v, &counts) != nil {
			return nil //nolint:nilerr // told with the others
		}
		for key, raw := range counts {
			var n *int
			if err := json.Unmarshal(raw, &n); err != nil || key != permission.Allow && key != permission.Deny &&
				key != permission.Ask || n == nil || *n < 0 {
				return fmt.Errorf("%w: permission_rule_counts.%.40s is %.40s; it has whole numbers from 0 under "+
					"allow, deny and ask", ErrInvalid, key, raw)
			}
		}
	case "prompt_sections":
		var names []*string
		if json.Unmarshal(v, &names) == nil && slices.Contains(names, nil) {
			return fmt.Errorf("%w: prompt_sections has texts only, no null", ErrInvalid)
		}
	}
	return nil
}

// fieldError says which field of a patch has a value of a wrong type.
func fieldError(patch map[string]json.RawMessage, err error) error {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Errorf("%w: %s cannot be %s %s", ErrInvalid, t.Field, article(t.Value), t.Value)
	}
	for name, v := range patch {
		alone, _ := json.Marshal(map[string]json.RawMessage{name: v}) // it was JSON before
		if json.Unmarshal(alone, new(State)) != nil {
			return fmt.Errorf("%w: %s cannot be %.80s", ErrInvalid, name, v)
		}
	}
	return fmt.Errorf("%w: the state does not fit together", ErrInvalid)
}

func article(word string) string {
	if strings.ContainsAny(word[:1], "aeiou") {
		return "an"
	}
	return "a"
}
