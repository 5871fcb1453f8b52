package wire

// ShellRef is the shell that a path names; without an id the session's default one.
type ShellRef struct {
	SessionRef
	// Shell: its id.
	Shell string `json:"-" path:"shid" minLength:"1" example:"build"`
}

// CommandRef is the command that a path names.
type CommandRef struct {
	ShellRef
	// Command: its id.
	Command string `json:"-" path:"cid" minLength:"1"`
}

// Ref is what the path names.
func (r CommandRef) Ref() CommandRef { return r }

// ListShells asks for the shells of a session, or of all.
type ListShells struct {
	SessionRef
	Page
}

// NewestCommands is the part of a list of commands that is asked for.
type NewestCommands struct {
	// How many: the newest of them.
	Limit int `json:"-" query:"limit" minimum:"1" maximum:"1000" default:"1000"`
	// Id of a command: only those that were given before it.
	Before string `json:"-" query:"before"`
}

// ListCommands asks for commands.
type ListCommands struct {
	ShellRef
	NewestCommands
	// Begin behind the one with this id: `next` of the part before.
	After *string `json:"-" query:"after" param:"listAfter"`
}

// CancelCommand cancels a command.
type CancelCommand struct {
	CommandRef
	// 1 also forgets the command, once it has ended.
	Purge bool `json:"-" query:"purge" param:"purgeCommand"`
}

// GetCommandLogs asks for what a command printed.
type GetCommandLogs struct {
	CommandRef
	// Go on with the output until the program, or the command and what it started, ends.
	Follow bool `json:"-" query:"follow"`
	// With follow: 0 ends with the result, 1 when what the command started has ended too.
	Late bool `json:"-" query:"late" default:"1"`
	// With follow: bytes of stdout that the client has already.
	StdoutFrom int64 `json:"-" query:"stdout_from" param:"stdoutFrom" minimum:"0" default:"0"`
	// With follow: bytes of stderr that the client has already.
	StderrFrom int64 `json:"-" query:"stderr_from" param:"stderrFrom" minimum:"0" default:"0"`
}

// CompatRef is the session of a compatible call.
type CompatRef struct {
	// Session to use, before the body's sessionId. It has to exist; "default" always does.
	Session string `json:"-" header:"X-Session-Id" param:"sessionHeader" owned:"session"`
}

// CompatSessionRef is the session that the path of a compatible call names.
type CompatSessionRef struct {
	// Session: its id.
	Session string `json:"-" path:"id" param:"compatSid" pattern:"^[A-Za-z0-9._-]{1,64}$" owned:"session"`
}

// CompatSetEnv sets variables in the session of a compatible call.
type CompatSetEnv struct {
	CompatRef
	CompatEnv
}

// CompatSetSessionEnv sets variables in the session that the path names.
type CompatSetSessionEnv struct {
	CompatSessionRef
	CompatEnv
}

// ProcessRef is the process that the path of a compatible call names.
type ProcessRef struct {
	// Process: its id.
	Process string `json:"-" path:"id" param:"process" minLength:"1"`
}
