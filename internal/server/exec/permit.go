package exec

import (
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/shell/registry"
)

// execDeed is a command. Shell is a named one; Command is text for a shell, also of the words of argv.
type execDeed struct {
	Command    string  `json:"command"`
	Cwd        string  `json:"cwd,omitempty"`
	Env        EnvMap  `json:"env,omitempty"`
	Stdin      string  `json:"stdin,omitempty"`
	StdinB64   []byte  `json:"stdin_b64,omitempty"` // where that is not UTF-8
	StdinOpen  bool    `json:"stdin_open,omitempty"`
	Isolated   bool    `json:"isolated,omitempty"`
	TTY        bool    `json:"tty,omitempty"`
	Login      bool    `json:"login,omitempty"`
	Background bool    `json:"background,omitempty"`
	Shell      *string `json:"shell,omitempty"`
}

// Deed is what the request does.
func (r *Request) Deed() *execDeed {
	d := &execDeed{Cwd: r.Cwd, Env: r.Env, StdinOpen: r.StdinOpen, Isolated: r.Isolated, TTY: r.TTY, Login: r.Login, Background: r.Background}
	if d.Command = httpapi.ShellWords(r.Argv); r.Command != nil {
		d.Command = *r.Command
	}
	switch {
	case r.Stdin != nil:
		d.Stdin = *r.Stdin
	case r.StdinB64 != nil:
		d.Stdin, d.StdinB64 = Text(*r.StdinB64)
	}
	return d
}

// Text is bytes as text, and the bytes themselves where they are none.
func Text(p []byte) (string, []byte) {
	if utf8.Valid(p) {
		return string(p), nil
	}
	return string(p), p
}

// ShellDeed is about a shell: one that is made, its variables, its end.
type ShellDeed struct {
	Shell string            `json:"shell,omitempty"`
	Cwd   string            `json:"cwd,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
	Unset []string          `json:"unset,omitempty"`
	Login bool              `json:"login,omitempty"`
}

// inShell is a deed in a shell that a path names.
type inShell interface{ in(shell string) }

func (d *execDeed) in(shell string)  { d.Shell = &shell }
func (d *ShellDeed) in(shell string) { d.Shell = shell }

// permittedShell is shellOf for a deed. The default shell does not come into being for one that may not be done, and nobody is asked about a shell that is not there.
func (s *Service) permittedShell(c echo.Context, tool string, deed inShell) (*registry.Shell, error) {
	session, err := shellSessionOf(c)
	if err != nil {
		return nil, err
	}
	if id := c.Param("shid"); id != "" {
		if _, err := s.Shells.Find(session, id); err != nil {
			return nil, err
		}
		deed.in(id)
	}
	if err := s.Permit(c, session, tool, deed); err != nil {
		return nil, err
	}
	return s.shellOf(c)
}

// CommandDeed is about a command that runs, and its input.
type CommandDeed struct {
	Command string `json:"command_id"`
	Data    string `json:"data,omitempty"`
	B64     []byte `json:"data_b64,omitempty"` // where that is not UTF-8
	EOF     bool   `json:"eof,omitempty"`
}

func newInputDeed(command string, p []byte, eof bool) CommandDeed {
	d := CommandDeed{Command: command, EOF: eof}
	d.Data, d.B64 = Text(p)
	return d
}
