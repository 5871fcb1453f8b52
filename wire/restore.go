package wire

import (
	"encoding/json"
	"fmt"
)

// Restore says what starts in the terminal by itself after a crash of the machine, or of keeper and server at once,
// where it would be `lost`: nothing (`none`), its own command (`command`), or another one. It starts below the old
// screen as POST …/restart does it, once for each crash.
//
//schema:oneOf [{"type": "string", "enum": ["none", "command"]}, {"type": "object", "additionalProperties": false,
//schema:and "required": ["cmd"], "properties": {"cmd": {"description": "The program and its arguments.", "type":
//schema:and "array", "minItems": 1, "maxItems": 4096, "items": {"type": "string"}}}}]
//schema:examples ["command", {"cmd": ["claude", "--resume", "3f1c"]}]
type Restore []string // nil is none, one without words command

// The values of Restore besides a command of its own, and how it is written.
const (
	restoreNone    = "none"
	restoreCommand = "command"
)

// RestoreCommand is the Restore that starts the terminal's own command.
func RestoreCommand() Restore { return Restore{} }

// RestoreError is the error of a Restore in another form.
type RestoreError struct {
	Field string // that an object may not have; "" when the value is wrong in another way
}

// Error implements error.
func (e *RestoreError) Error() string {
	const allowed = `"none", "command" or {"cmd": [program, argument...]} is allowed`
	if e.Field == "" {
		return allowed
	}
	return fmt.Sprintf("%s, not the field %.80q", allowed, e.Field)
}

// Own reports whether the terminal's own command starts.
func (r Restore) Own() bool { return r != nil && len(r) == 0 }

// MarshalJSON implements json.Marshaler.
func (r Restore) MarshalJSON() ([]byte, error) {
	switch {
	case r == nil:
		return json.Marshal(restoreNone)
	case r.Own():
		return json.Marshal(restoreCommand)
	}
	return json.Marshal(map[string][]string{"cmd": r})
}

// UnmarshalJSON implements json.Unmarshaler. Errors: *RestoreError.
func (r *Restore) UnmarshalJSON(b []byte) error {
	var word string
	if json.Unmarshal(b, &word) == nil {
		switch word {
		case restoreNone:
			*r = nil
			return nil
		case restoreCommand:
			*r = RestoreCommand()
			return nil
		}
		return &RestoreError{}
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil {
		return &RestoreError{}
	}
	for name := range members {
		if name != "cmd" {
			return &RestoreError{Field: name}
		}
	}
	var cmd []string
	if json.Unmarshal(members["cmd"], &cmd) != nil || len(cmd) == 0 || cmd[0] == "" {
		return &RestoreError{}
	}
	*r = cmd
	return nil
}
