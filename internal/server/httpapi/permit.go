package httpapi

import (
	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/terminal"
)

// Every handler with an effect on the processes or files of a thread asks permit before the effect, and after all that could be wrong with the request: an approval is
// used up by it. TestEveryEffectIsPermitted has the routes that need not ask, with the reason. What is asked are the deeds below: what of a request makes a difference to what it
// does, in names that do not depend on the route. What is not given is left out, so that POST …/authorize can say the same.

// Permit asks the permissions of a thread, "" is none, about what a request is about to do. It costs nothing where nobody has set any.
func (s *Base) Permit(c echo.Context, thread, tool string, deed any) error {
	if !s.Threads.Guards(thread) {
		return nil
	}
	call, err := CallOf(tool, deed)
	if err != nil {
		return err
	}
	return s.Threads.Permit(c.Request().Context(), thread, call)
}

// CallOf is a call of a tool with a deed as its arguments.
func CallOf(tool string, deed any) (conversation.Call, error) {
	b, err := Encode(deed)
	return conversation.Call{Tool: tool, Arguments: b}, err
}

// TerminalDeed is about a terminal: one that is made, its program again, a signal, its end. Command is as text for a shell.
type TerminalDeed struct {
	Terminal string            `json:"terminal,omitempty"`
	Command  string            `json:"command,omitempty"`
	Cwd      string            `json:"cwd,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Name     string            `json:"name,omitempty"`
	Signal   string            `json:"signal,omitempty"`
}

// PermitTerminal asks about a terminal that shall be made.
func (s *Base) PermitTerminal(c echo.Context, spec terminal.Spec) error {
	if err := terminal.CheckName("session", spec.Session); err != nil {
		return err
	}
	cmd := spec.Cmd
	if cmd == nil {
		cmd = terminal.DefaultCmd()
	}
	return s.Permit(c, spec.Session, conversation.ToolPTY, TerminalDeed{Command: ShellWords(cmd), Cwd: spec.Cwd, Env: spec.Env, Name: spec.Name})
}

// ProviderDeed is about compute that a provider shall make.
type ProviderDeed struct {
	Provider string `json:"provider"`
}

// RollbackDeed is about an earlier state of a terminal.
type RollbackDeed struct {
	Terminal string `json:"terminal"`
	Version  int64  `json:"version"`
}
