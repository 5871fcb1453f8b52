package threadapi

import (
	"bytes"
	"encoding/json"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/thread"
)

// hideTerminals hides the secrets of a thread's terminals from a request that did not ask for them.
func hideTerminals(c echo.Context, list []thread.TerminalReply) error {
	shown, err := auth.SecretsShown(c)
	if err != nil || shown {
		return err
	}
	for i := range list {
		list[i].Env = thread.HideSecrets(list[i].Env)
	}
	return nil
}

// hideApprovals hides secrets in variables that a call would set from a request that did not ask
// for them. What is approved is the call with its true ones.
func hideApprovals(c echo.Context, list []permission.Approval) error {
	shown, err := auth.SecretsShown(c)
	if err != nil || shown {
		return err
	}
	for i := range list {
		list[i].Arguments = hideArguments(list[i].Arguments)
	}
	return nil
}

// variableFields are the arguments of calls that are variables by name.
var variableFields = []string{"env", "envVars"}

// hideArguments hides the secrets among the variables of a call. What is no object stays as it is.
func hideArguments(args json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var fields map[string]any
	if d.Decode(&fields) != nil {
		return args
	}
	changed := false
	for _, field := range variableFields {
		vars, _ := fields[field].(map[string]any)
		for name := range vars {
			if thread.IsSecret(name) {
				vars[name], changed = thread.Hidden, true
			}
		}
	}
	if !changed {
		return args
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return args // cannot be: it was JSON
	}
	return b
}
