package permission

import (
	"fmt"
	"slices"
	"strings"
)

// Modes of permissions. The first three are levels. Without a rule, prompt asks about every call
// and allow lets every call through.
const (
	ModeReadOnly         = "read-only"
	ModeWorkspaceWrite   = "workspace-write"
	ModeDangerFullAccess = "danger-full-access"
	ModePrompt           = "prompt"
	ModeAllow            = "allow"
)

// DefaultMode is the mode of a thread without one.
const DefaultMode = ModeWorkspaceWrite

// ModeUnreadable marks stored permissions that cannot be parsed: every call is denied, whatever the
// rules, until mode and rules are set. CheckMode refuses it.
const ModeUnreadable = "unreadable"

// Modes are all of them, the narrowest first.
var Modes = []string{ModeReadOnly, ModeWorkspaceWrite, ModeDangerFullAccess, ModePrompt, ModeAllow}

// CheckMode returns ErrInvalid for a text that is not one of Modes.
func CheckMode(mode string) error {
	if slices.Contains(Modes, mode) {
		return nil
	}
	return fmt.Errorf("%w: permission mode %.80q: %s are allowed", ErrInvalid, mode, strings.Join(Modes, ", "))
}

// Level is how much a tool may change. Levels are ordered.
type Level int

// The levels. Modes without a level have the zero Level.
const (
	LevelRead Level = iota + 1
	LevelWrite
	LevelDanger
)

// String is the mode that has the level.
func (l Level) String() string {
	if l < LevelRead || l > LevelDanger {
		return "none"
	}
	return Modes[l-1]
}

// levelOfMode is the highest level that a mode allows; 0 for modes without a level.
func levelOfMode(mode string) Level {
	if i := slices.Index(Modes, mode); i >= 0 && i < int(LevelDanger) {
		return Level(i + 1)
	}
	return 0
}

// Tools that the rules know. A rule for one also covers tools with the same effect: see broader.
const (
	ToolExec         = "exec"          // a command: in a shell, isolated, on a terminal of its own
	ToolPTY          = "pty"           // a terminal with its program
	ToolRestart      = "restart"       // its program again
	ToolShell        = "shell"         // an exec shell
	ToolEnv          = "env"           // variables of a shell
	ToolRollback     = "rollback"      // a shell's directory and variables as they were
	ToolInput        = "input"         // bytes to the program of a terminal
	ToolKeys         = "keys"          // named keys to it
	ToolPaste        = "paste"         // text to it
	ToolCommandInput = "command.input" // standard input of a command
	ToolResize       = "resize"        // the size of a terminal
	ToolChange       = "change"        // its name, labels, title, size policy or size
	ToolKill         = "kill"          // the end of terminals, shells, threads
	ToolSignal       = "signal"        // to the program of a terminal
	ToolCancel       = "cancel"        // the end of a command
	ToolPause        = "pause"         // processes stand still
	ToolResume       = "resume"        // and go on
	ToolPolicy       = "policy"        // how long sessions live
	ToolRead         = "read"          // of files
	ToolList         = "list"          // of directories
	ToolWrite        = "write"         // of files
	ToolMkdir        = "mkdir"
	ToolRemove       = "remove"
	ToolRename       = "rename"
	ToolLeaseCreate  = "lease.create"  // compute at a provider
	ToolLeaseDestroy = "lease.destroy" // its end
	ToolStream       = "stream"        // output; only for POST …/authorize: no route of ours checks it
	ToolSnapshot     = "snapshot"      // the same of screens
)

// levels are the levels that tools need; an unlisted tool needs LevelDanger.
var levels = map[string]Level{
	ToolRead: LevelRead, ToolList: LevelRead, ToolStream: LevelRead, ToolSnapshot: LevelRead,

	ToolExec: LevelWrite, ToolPTY: LevelWrite, ToolRestart: LevelWrite, ToolShell: LevelWrite, ToolEnv: LevelWrite,
	ToolRollback: LevelWrite,
	ToolInput:    LevelWrite, ToolKeys: LevelWrite, ToolPaste: LevelWrite, ToolCommandInput: LevelWrite,
	ToolResize: LevelWrite, ToolChange: LevelWrite,
	ToolKill: LevelWrite, ToolSignal: LevelWrite, ToolCancel: LevelWrite, ToolPause: LevelWrite,
	ToolResume: LevelWrite, ToolPolicy: LevelWrite,
	ToolWrite: LevelWrite, ToolMkdir: LevelWrite, ToolRemove: LevelWrite, ToolRename: LevelWrite,

	ToolLeaseCreate: LevelDanger, ToolLeaseDestroy: LevelDanger,
}

// LevelOf is the level that a tool needs.
func LevelOf(tool string) Level {
	if l, ok := levels[tool]; ok {
		return l
	}
	return LevelDanger
}

// broader maps a tool to the one whose rules cover it too: denying exec also denies commands that
// come by a terminal, a shell's variables or an earlier state.
var broader = map[string]string{
	ToolPTY: ToolExec, ToolRestart: ToolExec, ToolShell: ToolExec, ToolEnv: ToolExec, ToolRollback: ToolExec,
	ToolChange: ToolResize,
	ToolKeys:   ToolInput, ToolPaste: ToolInput, ToolCommandInput: ToolInput,
	ToolSignal: ToolKill, ToolCancel: ToolKill, ToolPause: ToolKill, ToolPolicy: ToolKill, ToolLeaseDestroy: ToolKill,
	ToolList: ToolRead, ToolMkdir: ToolWrite, ToolRemove: ToolWrite, ToolRename: ToolWrite,
}

// Begins reports whether a tool may create its thread.
func Begins(tool string) bool {
	return tool != ToolKill && broader[tool] != ToolKill && tool != ToolResume && levels[tool] != 0
}
