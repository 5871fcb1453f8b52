package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
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

// givenShown is how much of a wrong value an error shows, in bytes: it is one sentence.
const givenShown = 80

// RestoreError is the error of a Restore in another form.
type RestoreError struct {
	Given string // the value, as JSON
	Field string // that an object may not have; "" when the value is wrong in another way
}

// Error implements error.
func (e *RestoreError) Error() string {
	const allowed = `"none", "command" or {"cmd": [program, argument...]}`
	if e.Field != "" {
		return fmt.Sprintf("got the field %.80q, allowed is %s", e.Field, allowed)
	}
	given := e.Given
	if len(given) > givenShown {
		given = strings.ToValidUTF8(given[:givenShown], "") + "…"
	}
	return fmt.Sprintf("got %s, allowed is %s", given, allowed)
}

// wrongRestore is the error of a value, which it writes on one line.
func wrongRestore(b []byte) error {
	var line bytes.Buffer
	_ = json.Compact(&line, b) // it was decoded
	return &RestoreError{Given: line.String()}
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

// UnmarshalJSON implements json.Unmarshaler; null is no value, as for every field. Errors: *RestoreError.
func (r *Restore) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
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
		return wrongRestore(b)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(b, &members) != nil {
		return wrongRestore(b)
	}
	for name := range members {
		if name != "cmd" {
			return &RestoreError{Field: name}
		}
	}
	var cmd []string
	if json.Unmarshal(members["cmd"], &cmd) != nil || len(cmd) == 0 || cmd[0] == "" {
		return wrongRestore(b)
	}
	*r = cmd
	return nil
}
