package wire

// EventType is an event of a stream or WebSocket, or a command to one.
type EventType struct {
	Name  string // the `event` or `type` that it is named by
	Value any    // a zero value of its type
	When  string // when an event comes; "" where its type says so
}

// The events and commands of a terminal's viewers. server, openapi.json and the clients take them from here.
var (
	// StreamEvents are the events of a terminal, on an event stream and on a WebSocket.
	StreamEvents = []EventType{
		{"snapshot", EventSnapshot{}, "first on every connect; again whenever this viewer missed something"},
		{"resume", EventResume{}, "in the place of the first snapshot, when `since` can be continued"},
		{"data", EventData{}, "output since"},
		{"resize", EventResize{}, "in its place in the stream"},
		{"meta", EventMeta{}, "title, directory, bell, notification, viewers, size owner"},
		{"exit", EventExit{}, "last, after all output"},
	}
	// SSEEvents come on an event stream besides StreamEvents.
	SSEEvents = []EventType{
		{"expired", EventExpired{}, "last, when the ticket or the login has ended"},
		{"kicked", EventKicked{}, "last, when somebody has removed this viewer"},
	}
	// SocketEvents come on a WebSocket besides StreamEvents.
	SocketEvents = []EventType{{"error", EventError{}, ""}, {"pong", EventPong{}, ""}}
	// PageEvents come on a page's WebSocket besides StreamEvents and SocketEvents.
	PageEvents = []EventType{{"list", EventList{}, ""}, {"kicked", EventKicked{}, ""}}
	// SocketCommands are the commands to a terminal on a WebSocket.
	SocketCommands = []EventType{
		{"input", CommandInput{}, ""}, {"keys", CommandKeys{}, ""}, {"paste", CommandPaste{}, ""},
		{"resize", CommandResize{}, ""}, {"focus", CommandFocus{}, ""}, {"hide", CommandHide{}, ""},
		{"show", CommandShow{}, ""}, {"control", CommandControl{}, ""}, {"history", CommandHistory{}, ""},
		{"colors", CommandColors{}, ""}, {"ping", CommandPing{}, ""}, {"auth", CommandAuth{}, ""},
	}
	// ExecEvents are the events of a command.
	ExecEvents = []EventType{
		{"start", EventStart{}, ""}, {"stdout", EventOutput{}, ""}, {"stderr", EventOutput{}, ""},
		{"complete", EventComplete{}, ""}, {"error", Error{}, ""},
	}
	// CompatEvents are the events of a command for clients of the sandbox container.
	CompatEvents = []EventType{
		{"start", CompatEvent{}, ""}, {"stdout", CompatEvent{}, ""}, {"stderr", CompatEvent{}, ""},
		{"complete", CompatEvent{}, ""}, {"error", CompatEvent{}, ""},
	}
	// PageCommands are the commands on a page's WebSocket besides SocketCommands.
	PageCommands = []EventType{{"attach", CommandAttach{}, ""}, {"detach", CommandDetach{}, ""}}
)

// EventSnapshot is the whole state: resize to cols x rows, reset, write data. First on every connect
// that does not `resume`, and again whenever this viewer missed something.
type EventSnapshot struct {
	// The event; on a WebSocket only, an event stream has it in its `event:` line.
	Event string `json:"event,omitempty" const:"snapshot"`
	// Id of the terminal; on a WebSocket only.
	PTY string `json:"pty,omitempty"`
	// As in ScreenANSI.
	Data string `json:"data"`
	// Columns of the screen, in cells.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows of the screen, in cells.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
	// Position: output bytes of the terminal, counted from 0 at its creation, that are part of this.
	Seq uint64 `json:"seq" minimum:"0"`
	// The width table the receiver must load: xterm's addon-unicode11 or addon-unicode-graphemes.
	Unicode string `json:"unicode" enum:"11,15-graphemes"`
	// `connect`; `lag`: the viewer fell behind; `resize`: the screen was rearranged in a way a
	// viewer cannot repeat; `restore`: output is lost, so that nobody can repeat what it did.
	Reason string `json:"reason" enum:"connect,lag,resize,restore"`
	// True for the screen alone, without its history: for a viewer that is behind, which gets these instead of the
	// output, and a whole snapshot once it keeps up. The receiver does the same with it.
	Partial bool `json:"partial,omitempty"`
	// Id of this connection among the viewers, see Viewer; in the first one.
	Viewer string `json:"viewer,omitempty"`
}

// EventResume replaces the first snapshot when `since` can be continued: keep the screen, resize to
// cols x rows. What was missed follows, `data` and `resize` in order, then a `meta` with what
// stands now.
type EventResume struct {
	// The event; on a WebSocket only, an event stream has it in its `event:` line.
	Event string `json:"event,omitempty" const:"resume"`
	// Id of the terminal; on a WebSocket only.
	PTY string `json:"pty,omitempty"`
	// Columns of the screen at that position, in cells: what the viewer should have already.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows of the screen at that position, in cells.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
	// The `since` of the request.
	Seq uint64 `json:"seq" minimum:"0"`
	// Id of this connection among the viewers, see Viewer.
	Viewer string `json:"viewer,omitempty"`
}

// EventData is output since the last event: write it. Terminal queries are cut out of it; a byte
// that is not UTF-8 is one U+FFFD; a character is never split. The bytes of a character that the
// program did not finish are one U+FFFD each, in a last event before `exit`.
type EventData struct {
	// The event; on a WebSocket only, an event stream has it in its `event:` line.
	Event string `json:"event,omitempty" const:"data"`
	// Id of the terminal; on a WebSocket only.
	PTY string `json:"pty,omitempty"`
	// Text with escape sequences.
	Data string `json:"data"`
	// Output bytes applied up to and including this event.
	Seq uint64 `json:"seq" minimum:"0"`
}

// EventResize is a change of the size at this place of the stream: resize.
type EventResize struct {
	// The event; on a WebSocket only, an event stream has it in its `event:` line.
	Event string `json:"event,omitempty" const:"resize"`
	// Id of the terminal; on a WebSocket only.
	PTY string `json:"pty,omitempty"`
	// Columns of the screen, in cells.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows of the screen, in cells.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
	// Position: output bytes of the terminal, counted from 0 at its creation, that are part of this.
	Seq uint64 `json:"seq" minimum:"0"`
}

// EventMeta has changes that are not output; only what changed is there. It has no `id:` line on an
// event stream.
type EventMeta struct {
	// The event; on a WebSocket only, an event stream has it in its `event:` line.
	Event string `json:"event,omitempty" const:"meta"`
	// Id of the terminal; on a WebSocket only.
	PTY string `json:"pty,omitempty"`
	// The new title.
	Title *string `json:"title,omitempty"`
	// The directory the program reported (OSC 7).
	Cwd *string `json:"cwd,omitempty"`
	// The bell rang.
	Bell   bool          `json:"bell,omitempty" const:"true"`
	Notify *Notification `json:"notify,omitempty"`
	// How many watch now.
	Viewers *int `json:"viewers,omitempty" minimum:"1"`
	// Number of the viewer whose wish decides the size. Absent beside `size` when nobody's does any
	// more.
	Owner *uint64 `json:"owner,omitempty" minimum:"1"`
	// When who decides has changed: the size that comes of it.
	Size      *Size      `json:"size,omitempty"`
	Clipboard *Clipboard `json:"clipboard,omitempty"`
	Presence  Presence   `json:"presence,omitempty"`
	// When who types has changed; also behind the first snapshot of a locked terminal.
	Control *Control   `json:"control,omitempty"`
	Input   *InputMode `json:"input,omitempty"`
	// Id of this connection among the viewers, behind the first event of a binary connection that says its `client`:
	// the frame of a snapshot has no room for it.
	Viewer string `json:"viewer,omitempty"`
}

// Notification is a message for a person (OSC 9, OSC 777).
type Notification struct {
	// Its title; absent when it has none.
	Title string `json:"title,omitempty"`
	// Its text, at most 4096 bytes.
	Body string `json:"body"`
}

// Clipboard is what the program wants on the clipboard (OSC 52), for viewers that may type only. Ask
// the user before you put it there. A viewer that is slow gets the last one alone.
type Clipboard struct {
	// Where to, in the letters of OSC 52: `c` is the clipboard, and so is an empty text; `p` the
	// primary selection.
	Selection string `json:"selection" pattern:"^[cpqs0-7]{0,12}$"`
	// The text in base64, at most 1 MiB before it was encoded. Empty means to clear it.
	DataB64 []byte `json:"data_b64"`
}

// EventExit comes when the program has ended and all its output was sent: the last event of a
// connection to its terminal, and for a page of this generation.
type EventExit struct {
	Exit
	// The event; on a WebSocket only, an event stream has it in its `event:` line.
	Event string `json:"event,omitempty" const:"exit"`
	// Id of the terminal; on a WebSocket only.
	PTY string `json:"pty,omitempty"`
	// All output bytes of the terminal, of all generations.
	Seq uint64 `json:"seq" minimum:"0"`
}

// EventError refuses a message of the viewer; the connection goes on. On a WebSocket only.
type EventError struct {
	// The event.
	Event string `json:"event" const:"error"`
	// The terminal the message named; absent when it named none, and on a terminal's own WebSocket.
	PTY string `json:"pty,omitempty"`
	// One sentence for a person.
	Error string `json:"error"`
	// As in Error.
	Code string `json:"code" pattern:"^[A-Z][A-Z_]*$"`
	// As in Error; absent when there is nothing more.
	Details ErrorDetails `json:"details,omitzero"`
}

// EventExpired is the last event of a viewer whose ticket or login has ended. On an event stream only; a
// WebSocket closes with CloseUnauthorized.
type EventExpired struct {
	// One sentence for a person.
	Error string `json:"error"`
}

// EventKicked is the last event of a viewer that somebody has removed; do not connect again by yourself. On an event
// stream and, for one terminal of several, on GET /ws; another WebSocket closes with CloseKicked.
type EventKicked struct {
	// The event; on a WebSocket only, an event stream has it in its `event:` line.
	Event string `json:"event,omitempty" const:"kicked"`
	// Id of the terminal; on a WebSocket only.
	PTY string `json:"pty,omitempty"`
	// One sentence for a person.
	Error string `json:"error"`
}

// EventPong is the answer to a ping. On a WebSocket only.
type EventPong struct {
	// The event.
	Event string `json:"event" const:"pong"`
	// What the ping had; absent when it had none.
	T any `json:"t,omitempty"`
}

// EventList has all terminals: first on every connect of a page, and again after changes, at most
// twice a second. On GET /ws only.
type EventList struct {
	// The event.
	Event string `json:"event" const:"list"`
	// All terminals, oldest first.
	Items []Terminal `json:"items"`
}

// CloseUnauthorized is the code that a WebSocket closes with when its page has not shown that it is
// logged in, and when the ticket or the login of its viewer has ended. To connect again does not help.
const CloseUnauthorized = 4401

// CloseKicked is the code that a WebSocket closes with when somebody has removed its viewer. Its ticket or share opens
// nothing more; do not connect again by yourself.
const CloseKicked = 4403

// HistoryLazy, as `history`, asks for the screen without its history; see EventSnapshot.Partial and CommandHistory.
const HistoryLazy = "lazy"

// CommandAuth shows that a page is logged in. A WebSocket that a cookie opens needs it as its first
// message, within 5 seconds, and tells nothing before; others ignore it.
type CommandAuth struct {
	// The command.
	Type string `json:"type" const:"auth"`
	// The secret that the login gave the page.
	Page string `json:"page"`
}

// CommandInput types text or bytes: exactly one of `data` and `data_b64`.
//
//schema:oneOf [{"required": ["data"]}, {"required": ["data_b64"]}]
type CommandInput struct {
	// The command.
	Type string `json:"type" const:"input"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
	// Text.
	Data string `json:"data,omitempty"`
	// Any bytes in base64.
	DataB64 []byte `json:"data_b64,omitempty"`
}

// CommandKeys presses keys.
type CommandKeys struct {
	// The command.
	Type string `json:"type" const:"keys"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
	// As in Keys.
	//schema:items {"type": "string", "minLength": 1}
	Keys []string `json:"keys"`
}

// CommandPaste pastes text.
type CommandPaste struct {
	// The command.
	Type string `json:"type" const:"paste"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
	// The text.
	Data string `json:"data"`
}

// CommandResize requests a size for this viewer; `size_policy` says whether the terminal takes it.
// Less than 20 columns or 5 rows count as those, more than 1000 as 1000.
type CommandResize struct {
	// The command.
	Type string `json:"type" const:"resize"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
	// Columns.
	Cols int `json:"cols" minimum:"1"`
	// Rows.
	Rows int `json:"rows" minimum:"1"`
}

// CommandFocus says that somebody looks at this viewer now: under `latest` its size counts.
type CommandFocus struct {
	// The command.
	Type string `json:"type" const:"focus"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
}

// CommandHide says that nobody looks at this viewer now. It gets every event, but is not counted
// among the viewers and its size decides nothing.
type CommandHide struct {
	// The command.
	Type string `json:"type" const:"hide"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
}

// CommandShow ends `hide`: somebody looks at this viewer again.
type CommandShow struct {
	// The command.
	Type string `json:"type" const:"show"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
}

// CommandControl changes who types, as POST …/control does; this viewer acts.
type CommandControl struct {
	// The command.
	Type string `json:"type" const:"control"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
	// As in ControlTerminal.
	Action string `json:"action" enum:"lock,unlock,request,grant,deny"`
	// As in ControlTerminal.
	Viewer string `json:"viewer,omitempty"`
}

// CommandHistory asks for a snapshot with the history, which a viewer with `history=lazy` has not got.
type CommandHistory struct {
	// The command.
	Type string `json:"type" const:"history"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
}

// CommandColors says which colours this viewer draws where the program has set none. Programs
// that ask are told those of the viewer whose size counts; without one, and of one that has
// not said, xterm.js's own on black.
type CommandColors struct {
	// The command.
	Type string `json:"type" const:"colors"`
	// Id of a terminal this page is attached to; on GET /ws only.
	PTY string `json:"pty,omitempty"`
	// Of text.
	Foreground string `json:"foreground" pattern:"^#[0-9A-Fa-f]{6}$"`
	// Behind text; it decides whether the scheme is dark.
	Background string `json:"background" pattern:"^#[0-9A-Fa-f]{6}$"`
	// Of the cursor.
	Cursor string `json:"cursor" pattern:"^#[0-9A-Fa-f]{6}$"`
	// The first 16 of the palette.
	//schema:items {"type": "string", "pattern": "^#[0-9A-Fa-f]{6}$"}
	Palette []string `json:"palette,omitempty" minItems:"16" maxItems:"16"`
}

// CommandPing asks for a pong.
type CommandPing struct {
	// The command.
	Type string `json:"type" const:"ping"`
	// Anything of at most 64 bytes of JSON; comes back in the pong.
	T any `json:"t,omitempty"`
}

// CommandAttach watches a terminal; it begins with a snapshot, or with `resume`. Attaching again
// starts over. At most 64 at once. On GET /ws only.
type CommandAttach struct {
	// The command.
	Type string `json:"type" const:"attach"`
	// Id of the terminal. Events name it by its id.
	PTY string `json:"pty"`
	// Columns this viewer would like; goes with rows.
	Cols int `json:"cols,omitempty" minimum:"1"`
	// Rows this viewer would like.
	Rows int `json:"rows,omitempty" minimum:"1"`
	// Position to go on from, as the `since` of a stream.
	Since *uint64 `json:"since,omitempty" minimum:"0"`
	// Begin as after `hide`.
	Hidden bool `json:"hidden,omitempty"`
	// `lazy`: the screen without its history, until `history`.
	History string `json:"history,omitempty" enum:"lazy"`
}

// CommandDetach ends the watching of a terminal. On GET /ws only.
type CommandDetach struct {
	// The command.
	Type string `json:"type" const:"detach"`
	// Id of the terminal.
	PTY string `json:"pty"`
}
