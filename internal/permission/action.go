package permission

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/evertty/evertty/vt"

	"github.com/evertty/evertty/wire"
)

// Action is an effect on the processes, files or compute of a thread that a caller asks for.
//
// Arguments is one of the types below, or a request whose JSON says the same. The rules
// see its JSON. The names do not depend on the route, and a value that is not given is
// left out, so that POST …/authorize can ask about the same action.
type Action struct {
	Tool      string
	Arguments any
}

// Call returns the action as the rules see it. Arguments without JSON are a programming
// error and panic.
func (a Action) Call() Call {
	b, err := json.Marshal(a.Arguments)
	if err != nil {
		panic(fmt.Sprintf("invariant violation: %T has no JSON: %v", a.Arguments, err))
	}
	return Call{Tool: a.Tool, Arguments: b}
}

// NoArgs is the arguments of an action on the whole thread or session.
type NoArgs struct{}

// Directory, of the types below, is where an action takes place: absolute, with all links followed
// on this machine. It makes an approval one for that directory.

// TerminalArgs is the arguments of actions that create, restart, signal or end a terminal.
// Command is text for a shell.
type TerminalArgs struct {
	Terminal  string            `json:"terminal,omitempty"`
	Command   string            `json:"command,omitempty"`
	Cwd       string            `json:"cwd,omitempty"`
	Directory string            `json:"directory,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	Name      string            `json:"name,omitempty"`
	Signal    string            `json:"signal,omitempty"`
}

// RollbackArgs is the arguments of a return to an earlier state of a terminal.
type RollbackArgs struct {
	Terminal string `json:"terminal"`
	Version  int64  `json:"version"`
}

// PolicyArgs is the arguments of a change of a thread's policy.
type PolicyArgs struct {
	Idle   *float64    `json:"idle_seconds,omitempty"`
	Max    *float64    `json:"max_seconds,omitempty"`
	Budget *BudgetArgs `json:"budget,omitempty"`
}

// BudgetArgs is a budget, with its zeros: it is set as a whole.
type BudgetArgs struct {
	CPUSeconds float64 `json:"cpu_seconds"`
	Commands   int64   `json:"commands"`
	Bytes      int64   `json:"bytes"`
}

// InputArgs is the arguments of input to a terminal. B64 is Data where Data is not UTF-8.
type InputArgs struct {
	Terminal  string         `json:"terminal"`
	Directory string         `json:"directory,omitempty"`
	Data      string         `json:"data,omitempty"`
	B64       []byte         `json:"data_b64,omitempty"`
	Keys      []string       `json:"keys,omitempty"`
	Mouse     *vt.MouseEvent `json:"mouse,omitempty"`
}

// NewInputArgs returns the arguments of bytes to a terminal.
func NewInputArgs(terminal string, p []byte) InputArgs {
	text, b64 := Text(p)
	return InputArgs{Terminal: terminal, Data: text, B64: b64}
}

// ResizeArgs is the arguments of a new size of a terminal.
type ResizeArgs struct {
	Terminal string `json:"terminal"`
	Cols     int    `json:"cols"`
	Rows     int    `json:"rows"`
}

// ChangeArgs is the arguments of a change of what a terminal is called and how large it is.
type ChangeArgs struct {
	Terminal   string            `json:"terminal"`
	Name       *string           `json:"name,omitempty"`
	SizePolicy string            `json:"size_policy,omitempty"`
	Cols       *int              `json:"cols,omitempty"`
	Rows       *int              `json:"rows,omitempty"`
	Labels     map[string]string `json:"labels,omitzero"`
	Title      *string           `json:"title,omitempty"`
	Restore    *wire.Restore     `json:"restore,omitempty"`
}

// ExecArgs is the arguments of a command. Shell is a named shell. Command is text for a
// shell, also where the request has a list of words.
type ExecArgs struct {
	Command    string             `json:"command"`
	Cwd        string             `json:"cwd,omitempty"`
	Directory  string             `json:"directory,omitempty"`
	Env        map[string]*string `json:"env,omitempty"`
	Stdin      string             `json:"stdin,omitempty"`
	StdinB64   []byte             `json:"stdin_b64,omitempty"` // Stdin where that is not UTF-8
	StdinOpen  bool               `json:"stdin_open,omitempty"`
	Isolated   bool               `json:"isolated,omitempty"`
	TTY        bool               `json:"tty,omitempty"`
	Login      bool               `json:"login,omitempty"`
	Background bool               `json:"background,omitempty"`
	Shell      string             `json:"shell,omitempty"`
}

// CommandArgs is the arguments of a cancel of a command and of input to it.
type CommandArgs struct {
	Command string `json:"command_id"`
	Data    string `json:"data,omitempty"`
	B64     []byte `json:"data_b64,omitempty"` // Data where that is not UTF-8
	EOF     bool   `json:"eof,omitempty"`
}

// NewCommandArgs returns the arguments of bytes to the standard input of a command.
func NewCommandArgs(id string, p []byte, eof bool) CommandArgs {
	text, b64 := Text(p)
	return CommandArgs{Command: id, Data: text, B64: b64, EOF: eof}
}

// ShellArgs is the arguments of actions that create or end a shell or set its variables.
type ShellArgs struct {
	Shell string            `json:"shell,omitempty"`
	Cwd   string            `json:"cwd,omitempty"`
	Env   map[string]string `json:"env,omitempty"`
	Unset []string          `json:"unset,omitempty"`
	Login bool              `json:"login,omitempty"`
}

// FileArgs is the arguments of actions on a file or directory.
type FileArgs struct {
	Path       string `json:"path"`
	NewPath    string `json:"new_path,omitempty"`
	Content    string `json:"content,omitempty"`
	ContentB64 []byte `json:"content_b64,omitempty"` // Content where that is not UTF-8
	Recursive  bool   `json:"recursive,omitempty"`
}

// ProviderArgs is the arguments of new compute at a provider.
type ProviderArgs struct {
	Provider string `json:"provider"`
}

// LeaseArgs is the arguments of actions on a lease.
type LeaseArgs struct {
	Lease    string `json:"lease"`
	Provider string `json:"provider"`
}

// Text returns bytes as text, and the bytes themselves where they are not UTF-8.
func Text(p []byte) (text string, b64 []byte) {
	if utf8.Valid(p) {
		return string(p), nil
	}
	return string(p), p
}
