package wire

import (
	"encoding/json"
	"errors"
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

// ErrRestore is the error of a Restore in another form.
var ErrRestore = errors.New(`"none", "command" or {"cmd": [program, argument...]} is allowed`)

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

// UnmarshalJSON implements json.Unmarshaler. Errors: ErrRestore.
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
		return ErrRestore
	}
	var members map[string][]string
	err := json.Unmarshal(b, &members)
	if cmd := members["cmd"]; err == nil && len(members) == 1 && len(cmd) > 0 && cmd[0] != "" {
		*r = cmd
		return nil
	}
	return ErrRestore
}
