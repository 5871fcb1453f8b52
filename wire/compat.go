package wire

import "time"

// CompatCreate asks for a new session.
type CompatCreate struct {
	// Its name; absent: the server gives one.
	ID string `json:"id,omitempty" pattern:"^[A-Za-z0-9._-]{1,64}$|^$" owned:"session"`
	// The same.
	Name string `json:"name,omitempty" owned:"session"`
	// The same.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
	// Added to the environment.
	//schema:propertyNames {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	//schema:additionalProperties {"type": "string"}
	Env map[string]*string `json:"env,omitempty"`
	// Where it begins; absent: the home directory.
	Cwd string `json:"cwd,omitempty"`
	// After which its commands are cancelled; 0 is never.
	CommandTimeoutMS int64 `json:"commandTimeoutMs,omitempty" minimum:"0" maximum:"2592000000" default:"0"`
	// Without effect: sessions are no border between users.
	Isolation *bool `json:"isolation,omitempty" nullable:"true"`
}

// CompatSession is the reply about a session that was made.
//
//schema:reply "It is there."
type CompatSession struct {
	// It worked; of a command: its code is 0.
	Success bool `json:"success"`
	// When.
	Timestamp time.Time `json:"timestamp"`
	CompatSessionInfo
}

// CompatSessionInfo is a session in a list.
type CompatSessionInfo struct {
	// Its name.
	ID string `json:"id" owned:"session"`
	// The same.
	SessionID string `json:"sessionId" owned:"session"`
	// Its directory now.
	Cwd string `json:"cwd"`
	// When it was made.
	CreatedAt time.Time `json:"createdAt"`
}

// CompatSessions are the sessions.
//
//schema:reply "The sessions."
type CompatSessions struct {
	// It worked; of a command: its code is 0.
	Success bool `json:"success"`
	// When.
	Timestamp time.Time `json:"timestamp"`
	// How many.
	Count int `json:"count" minimum:"0"`
	// The sessions that have a default shell.
	Sessions []CompatSessionInfo `json:"sessions"`
}

// CompatDelete names the session to end.
type CompatDelete struct {
	// Its name.
	SessionID string `json:"sessionId" owned:"session"`
}

// CompatNamed is the reply of a call that only names its session.
//
//schema:reply "Done."
type CompatNamed struct {
	// It worked; of a command: its code is 0.
	Success bool `json:"success"`
	// When.
	Timestamp time.Time `json:"timestamp"`
	// Its session.
	SessionID string `json:"sessionId" owned:"session"`
}

// CompatEnv has variables to set: `envVars`, or `env`.
//
//schema:oneOf [{"required": ["envVars"]}, {"required": ["env"]}]
type CompatEnv struct {
	// Variables to export; null removes one.
	//schema:propertyNames {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	EnvVars map[string]*string `json:"envVars,omitempty"`
	// The same.
	//schema:propertyNames {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	Env map[string]*string `json:"env,omitempty"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
}

// CompatExecute is a command to run.
type CompatExecute struct {
	CompatRef
	// Shell text.
	Command *string `json:"command" nullable:"false"`
	// The session; it comes into being when first used.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
	// Directory of this command alone.
	Cwd string `json:"cwd,omitempty"`
	// Variables of this command alone.
	//schema:propertyNames {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}
	//schema:additionalProperties {"type": "string"}
	Env map[string]*string `json:"env,omitempty"`
	// After which it is cancelled, with code 124; 0 is the session's.
	TimeoutMS int64 `json:"timeoutMs,omitempty" minimum:"0" maximum:"2592000000" default:"0"`
	// The same.
	Timeout int64 `json:"timeout,omitempty" minimum:"0" maximum:"2592000000" default:"0"`
	// Run it as a process.
	Background bool `json:"background,omitempty"`
	// What it reads.
	Stdin *string `json:"stdin,omitempty"`
	// Without effect.
	Origin string `json:"origin,omitempty"`
}

// CompatResult is the result of a command.
//
//schema:reply "It has ended, with whatever code."
type CompatResult struct {
	// It worked; of a command: its code is 0.
	Success bool `json:"success"`
	// When.
	Timestamp time.Time `json:"timestamp"`
	// 0 to 255.
	ExitCode int `json:"exitCode" minimum:"0" maximum:"255"`
	// What was run.
	Command string `json:"command"`
	// How long, in milliseconds.
	Duration int64 `json:"duration" minimum:"0"`
	// Its session.
	SessionID string `json:"sessionId" owned:"session"`
	// An output had more than this reply carries.
	Truncated bool `json:"truncated,omitempty"`
	// With background: the process.
	ProcessID string `json:"processId,omitempty"`
	// With background: its pid.
	PID int `json:"pid,omitempty" minimum:"0"`
	// Its output; a byte that is not UTF-8 is one U+FFFD.
	Stdout string `json:"stdout"`
	// The bytes of stdout, in base64; only where they are not UTF-8.
	StdoutB64 []byte `json:"stdout_b64,omitempty"`
	// Its errors.
	Stderr string `json:"stderr"`
	// The bytes of stderr, in base64; only where they are not UTF-8.
	StderrB64 []byte `json:"stderr_b64,omitempty"`
}

// CompatProcess is a process: a command in the background.
//
//schema:reply "The process."
type CompatProcess struct {
	// Always true.
	Success bool `json:"success"`
	// Its id.
	ID string `json:"id"`
	// The same.
	ProcessID string `json:"processId"`
	// 0 while it waits behind other commands.
	PID int `json:"pid" minimum:"0"`
	// What runs.
	Command string `json:"command"`
	// Where it is in its life.
	Status string `json:"status" enum:"starting,running,completed,failed,killed,error"`
	// When it began.
	StartTime time.Time `json:"startTime"`
	// When it ended.
	EndTime time.Time `json:"endTime,omitzero"`
	// After its end.
	ExitCode *int `json:"exitCode,omitempty" minimum:"0" maximum:"255"`
	// Its session.
	SessionID string `json:"sessionId" owned:"session"`
	// Now.
	Timestamp time.Time `json:"timestamp"`
}

// CompatProcesses are all processes of all sessions, oldest first.
//
//schema:reply "The processes."
type CompatProcesses []CompatProcess

// CompatLogs is the output of a process.
//
//schema:reply "Both outputs."
type CompatLogs struct {
	// It worked; of a command: its code is 0.
	Success bool `json:"success"`
	// When.
	Timestamp time.Time `json:"timestamp"`
	// Its id.
	ProcessID string `json:"processId"`
	// Its output; a byte that is not UTF-8 is one U+FFFD.
	Stdout string `json:"stdout"`
	// The bytes of stdout, in base64; only where they are not UTF-8.
	StdoutB64 []byte `json:"stdout_b64,omitempty"`
	// Its errors.
	Stderr string `json:"stderr"`
	// The bytes of stderr, in base64; only where they are not UTF-8.
	StderrB64 []byte `json:"stderr_b64,omitempty"`
}

// CompatKilled says how many processes were ended.
//
//schema:reply "They have ended, or do."
type CompatKilled struct {
	// It worked; of a command: its code is 0.
	Success bool `json:"success"`
	// When.
	Timestamp time.Time `json:"timestamp"`
	// Processes that ran.
	CleanedCount int `json:"cleanedCount" minimum:"0"`
}

// CompatEvent is one event of a command's stream.
type CompatEvent struct {
	// What it is.
	Type string `json:"type" enum:"start,stdout,stderr,complete,error"`
	// When.
	Timestamp time.Time `json:"timestamp"`
	// With stdout and stderr: a piece of it.
	Data string `json:"data,omitempty"`
	// The bytes of data, in base64; only where they are not UTF-8.
	DataB64 []byte `json:"data_b64,omitempty"`
	// With start: what is run.
	Command string `json:"command,omitempty"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
	// Its id.
	ProcessID string `json:"processId,omitempty"`
	// With start: its pid.
	PID int `json:"pid,omitempty" minimum:"0"`
	// With complete.
	ExitCode *int               `json:"exitCode,omitempty" minimum:"0" maximum:"255"`
	Result   *CompatEventResult `json:"result,omitempty"`
	// With error: one sentence.
	Error string `json:"error,omitempty"`
	// With error: as in Error.
	Code string `json:"code,omitempty"`
}

// CompatEventResult is the result in the event `complete`.
type CompatEventResult struct {
	// The code is 0.
	Success bool `json:"success"`
	// 0 to 255.
	ExitCode int `json:"exitCode" minimum:"0" maximum:"255"`
	// What was run.
	Command string `json:"command"`
	// How long, in milliseconds.
	Duration int64 `json:"duration" minimum:"0"`
	// Its session.
	SessionID string `json:"sessionId" owned:"session"`
}

// CompatRead names the file to read.
type CompatRead struct {
	CompatRef
	// Relative to the session's directory.
	Path string `json:"path" minLength:"1"`
	// Of the content; absent: utf-8, for reading base64 when the file is not UTF-8.
	Encoding string `json:"encoding,omitempty" enum:",utf-8,utf8,base64"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
}

// CompatWrite is a file and what to write to it.
type CompatWrite struct {
	CompatRef
	// Relative to the session's directory.
	Path string `json:"path" minLength:"1"`
	// What the file has then.
	Content *string `json:"content" nullable:"false"`
	// Of the content; absent: utf-8, for reading base64 when the file is not UTF-8.
	Encoding string `json:"encoding,omitempty" enum:",utf-8,utf8,base64"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
}

// CompatPath names a file.
type CompatPath struct {
	CompatRef
	// Relative to the session's directory.
	Path string `json:"path" minLength:"1"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
}

// CompatMkdir names the directory to make.
type CompatMkdir struct {
	CompatRef
	// Relative to the session's directory.
	Path string `json:"path" minLength:"1"`
	// Also those above it; one that exists is no error.
	Recursive bool `json:"recursive,omitempty"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
}

// CompatList names the directory to list.
type CompatList struct {
	CompatRef
	// Relative to the session's directory.
	Path string `json:"path" minLength:"1"`
	// Below too.
	Recursive bool               `json:"recursive,omitempty"`
	Options   *CompatListOptions `json:"options,omitempty"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
}

// CompatListOptions say which files a list has.
type CompatListOptions struct {
	// Below too.
	Recursive bool `json:"recursive,omitempty"`
	// Also names that begin with a dot.
	IncludeHidden bool `json:"includeHidden,omitempty"`
}

// CompatRename has the old and the new path.
type CompatRename struct {
	CompatRef
	// What.
	OldPath string `json:"oldPath" minLength:"1"`
	// Where to.
	NewPath string `json:"newPath" minLength:"1"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
}

// CompatMove has the old and the new path.
type CompatMove struct {
	CompatRef
	// What.
	SourcePath string `json:"sourcePath" minLength:"1"`
	// Where to.
	DestinationPath string `json:"destinationPath" minLength:"1"`
	// The session.
	SessionID string `json:"sessionId,omitempty" owned:"session"`
}

// CompatFile is the reply of a call that only names its file.
//
//schema:reply "Done."
type CompatFile struct {
	// It worked; of a command: its code is 0.
	Success bool `json:"success"`
	// When.
	Timestamp time.Time `json:"timestamp"`
	// The file, absolute.
	Path string `json:"path"`
}

// CompatContent is the content of a file.
//
//schema:reply "The file."
type CompatContent struct {
	CompatFile
	// It.
	Content string `json:"content"`
	// Of the content.
	Encoding string `json:"encoding" enum:"utf-8,base64"`
	// Bytes.
	Size int `json:"size" minimum:"0"`
}

// CompatRenamed is the reply of a rename or move.
//
//schema:reply "Done."
type CompatRenamed struct {
	CompatFile
	// What it is called now.
	NewPath string `json:"newPath"`
}

// CompatExists says whether a file exists.
//
//schema:reply "Whether it exists."
type CompatExists struct {
	CompatFile
	// It does.
	Exists bool `json:"exists"`
}

// CompatFiles are the files of a directory.
//
//schema:reply "The directory."
type CompatFiles struct {
	CompatFile
	// How many.
	Count int `json:"count" minimum:"0"`
	// There are more than 10000.
	Truncated bool `json:"truncated"`
	// In the order of their names.
	Files []CompatEntry `json:"files"`
}

// CompatEntry is a file of a directory.
type CompatEntry struct {
	// Its name.
	Name string `json:"name"`
	// Its path.
	AbsolutePath string `json:"absolutePath"`
	// Its path from the directory.
	RelativePath string `json:"relativePath"`
	// What it is.
	Type string `json:"type" enum:"file,directory,symlink,other"`
	// Bytes.
	Size int64 `json:"size" minimum:"0"`
	// When it was changed.
	ModifiedAt time.Time `json:"modifiedAt"`
	// Its permissions, in octal.
	Mode string `json:"mode"`
}
