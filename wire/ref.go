package wire

// SessionRef is the session that a path names.
type SessionRef struct {
	// Session: a group of terminals that comes into being when first used. An administrator of a server with users
	// names that of a user USER@NAME.
	Session string `json:"-" path:"sid" pattern:"^([A-Za-z0-9][A-Za-z0-9._-]{0,31}@)?[A-Za-z0-9._-]{1,64}$" example:"dev" owned:"session,space"` //nolint:lll // a tag is one string
}

// TerminalRef is the terminal that a path names.
type TerminalRef struct {
	SessionRef
	// Terminal: its id, or its name. A name that terminals of several sessions have is 409 AMBIGUOUS where the path has
	// no session.
	ID string `json:"-" path:"id" minLength:"1" example:"build"`
}

// Ref is what the path names.
func (r TerminalRef) Ref() TerminalRef { return r }

// Page is the part of a list that is asked for.
type Page struct {
	// Begin behind the one with this id: `next` of the part before.
	After string `json:"-" query:"after" param:"listAfter"`
	// How many at most; all without it.
	Limit int `json:"-" query:"limit" param:"listLimit" minimum:"1" maximum:"1000"`
}

// ShowSecrets asks for the values of variables that are hidden otherwise.
type ShowSecrets struct {
	// 1 shows the values of variables whose names look like secrets (key, token, secret, passw, credential, in any
	// case); they are "***" otherwise. Each such request is in the server's audit log.
	Secrets bool `json:"-" query:"secrets"`
}

// ShowUsage asks for what terminals use.
type ShowUsage struct {
	// 1 adds `usage` to each running terminal, which costs a look at all processes of the machine.
	Usage bool `json:"-" query:"usage"`
}

// GetTerminal asks for one terminal.
type GetTerminal struct {
	TerminalRef
	ShowSecrets
}

// TerminalFilter says which terminals a list has; all that is given must be true of them.
type TerminalFilter struct {
	// A label, as KEY=VALUE; may be there several times. The first `=` ends the key.
	Labels []string `json:"-" query:"label" maxItems:"32"`
	// The name.
	Name string `json:"-" query:"name"`
	// The state.
	State string `json:"-" query:"state" enum:"running,exited,lost"`
	// What a person calls a terminal: its id, its name, SESSION/NAME, or four or more characters that only its id
	// begins with; a name wins. May be there several times: the list has one terminal for each, in this order, deleted
	// ones too. One that is none is 404, one that is several 409 AMBIGUOUS.
	IDs []string `json:"-" query:"id" param:"reference" maxItems:"1000"`
}

// ListTerminals asks for the terminals of a session.
type ListTerminals struct {
	SessionRef
	TerminalFilter
	ShowSecrets
	ShowUsage
	Page
}

// ListAllTerminals asks for the terminals of all sessions.
type ListAllTerminals struct {
	// The session.
	Session string `json:"-" query:"session" owned:"session,space"`
	TerminalFilter
	ShowSecrets
	ShowUsage
	Page
}

// ResizeTerminal changes the size of a terminal.
type ResizeTerminal struct {
	TerminalRef
	Size
}

// Forget says whether the last screen is forgotten too.
type Forget struct {
	// 1 also forgets the last screen; otherwise that stays readable by id for 24 hours.
	Purge bool `json:"-" query:"purge"`
}

// DeleteTerminal ends one terminal.
type DeleteTerminal struct {
	TerminalRef
	Forget
}

// DeleteTerminals ends the terminals of a session.
type DeleteTerminals struct {
	SessionRef
	Forget
}

// Lines is how much of the history is asked for.
type Lines struct {
	// Lines of history above the screen: the last N; 0 is the screen alone, -1 is all.
	Scrollback int `json:"-" query:"scrollback" minimum:"-1" maximum:"100000" default:"-1" allowed:"-1 (all) to 100000"`
}

// GetRecording asks for the output as a recording.
type GetRecording struct {
	TerminalRef
	// Form of the recording: asciicast of version 3 or 2, or the bytes as the program wrote them.
	Format string `json:"-" query:"format" param:"recordingFormat" enum:"asciicast-v3,asciicast-v2,raw" default:"asciicast-v3"` //nolint:lll // a tag is one string
	// Position to begin at; absent: the first that is kept. A recording that begins in the middle begins with an empty
	// screen of the size in force there.
	From *uint64 `json:"-" query:"from"`
	// Go on with the output until the program, or the command and what it started, ends.
	Follow bool `json:"-" query:"follow"`
}

// Resume is a position to go on from.
type Resume struct {
	// Position to go on from: the `seq` of the last event that the viewer has applied. When the journal has what
	// followed, `resume` comes in the place of the first `snapshot`, then what was missed. Any other position gets a
	// snapshot.
	Since *uint64 `json:"-" query:"since"`
}

// Nesting says where the process of a viewer runs.
type Nesting struct {
	// Id of a terminal in which the viewer's own process runs (its EVERTTY_PTY or that of an ancestor); may be there up
	// to 64 times. A terminal that is shown inside itself, also through others, is refused with 409 CYCLE.
	Inside []string `json:"-" query:"inside" maxItems:"64"`
	// A terminal device of the viewer's process, as BOOT_ID:DEV:RDEV with the kernel's boot id and the hexadecimal
	// `st_dev` and `st_rdev` of stat(2); may be there up to 64 times. When it is that of a terminal of this server, the
	// viewer runs inside it.
	TTY []string `json:"-" query:"tty" maxItems:"64"`
	// 1: a viewer inside a terminal shows another one on purpose; without it that is 409 NESTED.
	Nested bool `json:"-" query:"nested"`
}

// WatchTerminal asks for the events of a terminal.
type WatchTerminal struct {
	TerminalRef
	Lines
	Resume
	// `lazy` has the screen alone in every snapshot; GET …/snapshot has the history.
	History string `json:"-" query:"history" param:"streamHistory" enum:"lazy"`
	Watcher
	Nesting
}

// OpenSocket asks for a WebSocket of a terminal.
type OpenSocket struct {
	TerminalRef
	// Form of the frames. `raw` has the program's bytes and nothing else, both ways: binary frames of the server are
	// output from `since` on, without it from now on, frames of the client are input. It closes with 1000 behind the
	// exit. A `since` that is not kept any more is 410.
	Format string `json:"-" query:"format" param:"wire" enum:"json,binary,raw" default:"json"`
	Lines
	Resume
	// `first` has the lines of `scrollback` in the first snapshot only. Such a viewer keeps no history, so a snapshot
	// follows every `resize`. `lazy` has the screen alone in every snapshot until the command `history`.
	History string `json:"-" query:"history" enum:"first,lazy"`
	Watcher
	// With `rows`: the size of this viewer's screen, as a `resize` at once would say it. The first snapshot has the
	// size that the size policy makes of it.
	Cols int `json:"-" query:"cols" param:"viewerCols" minimum:"1" maximum:"1000" allowed:"1 to 1000, for both,"`
	// See `cols`.
	Rows int `json:"-" query:"rows" param:"viewerRows" minimum:"1" maximum:"1000" allowed:"1 to 1000, for both,"`
	Nesting
}

// OpenPageSocket asks for a WebSocket of any number of terminals.
type OpenPageSocket struct {
	Lines
	Resume
	Watcher
}

// Watcher says who watches.
type Watcher struct {
	// What others see this viewer as: text without control characters. A user's name without it.
	Name string `json:"-" query:"name" param:"viewerName" maxLength:"64"`
	// What the viewer is.
	Client string `json:"-" query:"client" enum:"web,attach,api"`
	// A secret of the viewer's choice, the same on each of its connections: with that of the holder of a locked
	// terminal it is the holder again.
	Key string `json:"-" query:"key" maxLength:"64"`
}

// GetRoot asks for the page or the list of routes.
type GetRoot struct {
	// A login ticket: from the line `evertty serve` prints, from `evertty url`, or from POST /tickets with
	// {"login":true}.
	Ticket string `json:"-" query:"ticket" param:"login"`
}

// GetAsset asks for a file of the page.
type GetAsset struct {
	// Name of a file of the web page; may contain slashes. Files here may be cached for ever: their names carry a hash.
	File string `json:"-" path:"*"`
}
