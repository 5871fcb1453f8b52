package server

import (
	"path/filepath"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/mux"
)

// Every handler with an effect on the processes or files of a thread asks permit before the effect, and after all that could be wrong with the request: an approval is
// used up by it. TestEveryEffectIsPermitted has the routes that need not ask, with the reason. What is asked are the deeds below: what of a request makes a difference to what it
// does, in names that do not depend on the route. What is not given is left out, so that POST …/authorize can say the same.

// permit asks the permissions of a thread, "" is none, about what a request is about to do. It costs nothing where nobody has set any.
func (s *Server) permit(c echo.Context, thread, tool string, deed any) error {
	if !s.Threads.Guards(thread) {
		return nil
	}
	call, err := callOf(tool, deed)
	if err != nil {
		return err
	}
	return s.Threads.Permit(c.Request().Context(), thread, call)
}

func callOf(tool string, deed any) (conversation.Call, error) {
	b, err := encode(deed)
	return conversation.Call{Tool: tool, Arguments: b}, err
}

// execDeed is a command. Shell is a named one; Command is text for a shell, also of the words of argv.
type execDeed struct {
	Command    string  `json:"command"`
	Cwd        string  `json:"cwd,omitempty"`
	Env        envMap  `json:"env,omitempty"`
	Stdin      string  `json:"stdin,omitempty"`
	StdinB64   []byte  `json:"stdin_b64,omitempty"` // where that is not UTF-8
	StdinOpen  bool    `json:"stdin_open,omitempty"`
	Isolated   bool    `json:"isolated,omitempty"`
	TTY        bool    `json:"tty,omitempty"`
	Login      bool    `json:"login,omitempty"`
	Background bool    `json:"background,omitempty"`
	Shell      *string `json:"shell,omitempty"`
}

// deed is what the request does.
func (r *execRequest) deed() *execDeed {
	d := &execDeed{Cwd: r.Cwd, Env: r.Env, StdinOpen: r.StdinOpen, Isolated: r.Isolated, TTY: r.TTY, Login: r.Login, Background: r.Background}
	if d.Command = shellWords(r.Argv); r.Command != nil {
		d.Command = *r.Command
	}
	switch {
	case r.Stdin != nil:
		d.Stdin = *r.Stdin
	case r.StdinB64 != nil:
		d.Stdin, d.StdinB64 = text(*r.StdinB64)
	}
	return d
}

// text is bytes as text, and the bytes themselves where they are none.
func text(p []byte) (string, []byte) {
	if utf8.Valid(p) {
		return string(p), nil
	}
	return string(p), p
}

// shellDeed is about a shell: one that is made, its variables, its end.
type shellDeed struct {
	Shell string            `json:"shell,omitempty"`
	Cwd   string            `json:"cwd,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
	Unset []string          `json:"unset,omitempty"`
	Login bool              `json:"login,omitempty"`
}

// inShell is a deed in a shell that a path names.
type inShell interface{ in(shell string) }

func (d *execDeed) in(shell string)  { d.Shell = &shell }
func (d *shellDeed) in(shell string) { d.Shell = shell }

// permittedShell is shellOf for a deed. The default shell does not come into being for one that may not be done, and nobody is asked about a shell that is not there.
func (s *Server) permittedShell(c echo.Context, tool string, deed inShell) (*mux.Shell, error) {
	session, err := shellSessionOf(c)
	if err != nil {
		return nil, err
	}
	if id := c.Param("shid"); id != "" {
		if _, err := s.Shells.FindShell(session, id); err != nil {
			return nil, err
		}
		deed.in(id)
	}
	if err := s.permit(c, session, tool, deed); err != nil {
		return nil, err
	}
	return s.shellOf(c)
}

// commandDeed is about a command that runs, and its input.
type commandDeed struct {
	Command string `json:"command_id"`
	Data    string `json:"data,omitempty"`
	B64     []byte `json:"data_b64,omitempty"` // where that is not UTF-8
	EOF     bool   `json:"eof,omitempty"`
}

func newInputDeed(command string, p []byte, eof bool) commandDeed {
	d := commandDeed{Command: command, EOF: eof}
	d.Data, d.B64 = text(p)
	return d
}

// terminalDeed is about a terminal: one that is made, its program again, a signal, its end. Command is as text for a shell.
type terminalDeed struct {
	Terminal string            `json:"terminal,omitempty"`
	Command  string            `json:"command,omitempty"`
	Cwd      string            `json:"cwd,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Name     string            `json:"name,omitempty"`
	Signal   string            `json:"signal,omitempty"`
}

// permitTerminal asks about a terminal that shall be made.
func (s *Server) permitTerminal(c echo.Context, spec mux.Spec) error {
	if err := mux.CheckName("session", spec.Session); err != nil {
		return err
	}
	cmd := spec.Cmd
	if cmd == nil {
		cmd = mux.DefaultCmd()
	}
	return s.permit(c, spec.Session, conversation.ToolPTY, terminalDeed{Command: shellWords(cmd), Cwd: spec.Cwd, Env: spec.Env, Name: spec.Name})
}

// fileDeed is about a file.
type fileDeed struct {
	Path       string `json:"path"`
	NewPath    string `json:"new_path,omitempty"`
	Content    string `json:"content,omitempty"`
	ContentB64 []byte `json:"content_b64,omitempty"` // where that is not UTF-8
	Recursive  bool   `json:"recursive,omitempty"`
}

// permitFile asks about a deed on files before there is a shell to say where relative paths are; again says that it has to be asked about with whole paths. What is denied
// as it is makes no shell.
func (s *Server) permitFile(c echo.Context, thread, tool string, d fileDeed) (again bool, err error) {
	if !s.Threads.Guards(thread) {
		return false, nil
	}
	call, err := callOf(tool, d)
	if err != nil {
		return false, err
	}
	whole := filepath.IsAbs(d.Path) && (d.NewPath == "" || filepath.IsAbs(d.NewPath))
	if whole || s.Threads.Denies(thread, call) {
		return false, s.Threads.Permit(c.Request().Context(), thread, call)
	}
	return true, nil
}

// providerDeed is about compute that a provider shall make.
type providerDeed struct {
	Provider string `json:"provider"`
}

// rollbackDeed is about an earlier state of a terminal.
type rollbackDeed struct {
	Terminal string `json:"terminal"`
	Version  int64  `json:"version"`
}
