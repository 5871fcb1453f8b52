package wire

import "time"

// Terminal is one terminal: a program on a pseudo-terminal, and its screen, which outlives the
// program.
//
//schema:reply "The terminal."
type Terminal struct {
	// The server's name for it: 20 characters, unique for ever.
	ID string `json:"id" pattern:"^[a-z0-9-]{12,64}$"`
	// The same as `id`, under the name older clients read.
	PTYID string `json:"ptyID"`
	// The name given at creation, unique among the listed terminals of the session; "" when none was
	// given.
	Name string `json:"name"`
	// The session it belongs to.
	Session string `json:"session" owned:"session"`
	// The program and its arguments, as given or defaulted.
	Cmd []string `json:"cmd" minItems:"1"`
	// Working directory of the program now; once the program has ended, the last one that was seen,
	// and until one was seen that of the request (absolute). A restart begins here.
	Cwd string `json:"cwd"`
	// The directory in which the last restart should have started the program, but could not: it was
	// gone or could not be entered, and the nearest parent was taken. Absent else.
	CwdFallback string `json:"cwd_fallback,omitempty"`
	// The variables given at creation, not those the program inherited. A deleted terminal has none.
	Env map[string]string `json:"env"`
	// Columns of the screen, in cells.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows of the screen, in cells.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
	// Lines of history kept above the screen.
	Scrollback int `json:"scrollback" minimum:"0" maximum:"100000"`
	// What a PATCH set as title, else what the program set (OSC 0 or 2), cut at 1024 bytes; "" when neither did.
	Title string `json:"title"`
	// What creation or the last PATCH set; {} when that is none.
	Labels Labels `json:"labels"`
	// `running`; `exited`: the program has ended; `lost`: it went with the machine, or with keeper
	// and server at once, and nobody saw how. The end of a server is none of these. Only POST
	// …/restart leads back to `running`. `restored` does not occur.
	State string `json:"state" enum:"running,exited,lost,restored"`
	// How the program ended; null while it runs.
	Exit *Exit `json:"exit"`
	// Process id of the program, the same under the next server; 0 when it does not run.
	PID int `json:"pid" minimum:"0"`
	// Number of its process: 1 for the first, one more with each restart.
	Generation int `json:"generation" minimum:"1"`
	// Streams and WebSockets that watch it now.
	Viewers    int        `json:"viewers" minimum:"0"`
	SizePolicy SizePolicy `json:"size_policy"`
	// What starts here by itself after a crash of the machine.
	Restore Restore `json:"restore"`
	// When it was created. RFC 3339, UTC.
	CreatedAt time.Time `json:"created_at"`
	// The last input, output or resize. RFC 3339, UTC.
	LastActivityAt time.Time `json:"last_activity_at"`
	// The last output; null before the first. RFC 3339, UTC.
	LastOutputAt *time.Time `json:"last_output_at"`
	// Output bytes so far that are part of the screen, of all generations.
	Seq uint64 `json:"seq" minimum:"0"`
	// Whether the alternate screen is shown, as in an editor; for an ended program, whether it was.
	AltScreen bool `json:"alt_screen"`
	// How often the program rang the bell.
	BellCount uint64 `json:"bell_count" minimum:"0"`
	// What the terminal takes on disk, in bytes.
	JournalBytes int64 `json:"journal_bytes" minimum:"0"`
	// What its screens, history, styles and links take in memory, in bytes: at most `serve
	// --terminal-memory`, or what the plain cells of its screens take when that is more. Once the
	// program has ended, what its last screen takes; 0 while that is on disk only.
	MemoryBytes int64 `json:"memory_bytes" minimum:"0"`
	// Whether its screens are on disk alone, see POST …/park. The program runs on, and whoever looks at it, types or
	// prints brings them back. `memory_bytes` is 0.
	Parked bool `json:"parked"`
	// When it was deleted; absent while it is listed. RFC 3339, UTC.
	DeletedAt time.Time `json:"deleted_at,omitzero"`
	// What its programs may touch, also after a restart.
	Sandbox Sandbox `json:"sandbox"`
	// What its programs may use, as given at creation; absent when nothing was.
	Limits *Limits `json:"limits,omitempty"`
	// How memory_bytes and pids are enforced: `cgroup` counts all programs of the terminal together; with `rlimit`
	// each process may have memory_bytes, and pids counts what its user starts. Absent without these two.
	LimitsBy string `json:"limits_by,omitempty" enum:"cgroup,rlimit"`
	// What was wrong with its files on disk when they were last read, which output was lost since,
	// and what readers have found damaged; one line each, for a person. Absent when nothing was.
	Damage string `json:"damage,omitempty"`
	// What it uses now; only in lists with `usage=1`, of running terminals.
	Usage *TerminalUsage `json:"usage,omitempty"`
}

// TerminalUsage is what a terminal uses at the time of the request. Its programs are its process and all that this
// started.
type TerminalUsage struct {
	// Processor time of its programs so far, in seconds, of all cores together. The difference between two requests is
	// the load; it is negative when a program has ended that nobody waited for.
	CPUSeconds float64 `json:"cpu_seconds" minimum:"0"`
	// Resident memory of its programs, in bytes; what several share counts in each. The terminal's own memory is
	// `memory_bytes` beside.
	RSSBytes int64 `json:"rss_bytes" minimum:"0"`
	// How many processes its programs are.
	Processes int `json:"processes" minimum:"0"`
	// Output that waits for its slowest viewer, in bytes.
	LagBytes int `json:"lag_bytes" minimum:"0"`
	// How long output has waited for the viewer that waits longest, in seconds.
	LagSeconds float64 `json:"lag_seconds" minimum:"0"`
	// What it waits for: `approval`: somebody is asked about a call on this terminal, or about one of its thread that
	// names none; `command`: a shell is at its prompt; `none`: nothing that is known, it may be busy.
	WaitsFor string `json:"waits_for" enum:"approval,command,none"`
	// How many calls of POST …/wait for it are going on.
	Waits int `json:"waits" minimum:"0"`
}

// Exit says how a program ended.
type Exit struct {
	// Its exit code, 0..255; null when it is not known: `reason` is `lost` then. With a signal, 128
	// plus the signal's number.
	Code *int `json:"code"`
	// Name of the signal that ended it, without SIG, such as `KILL`; "" when none did.
	Signal string `json:"signal"`
	// `exit`: by itself; `signal`: by a signal from elsewhere; `killed`: somebody deleted the
	// terminal; `memory`: the kernel, at the limit `memory_bytes`; `lost`: nobody saw it, and no code is
	// made up.
	Reason string `json:"reason" enum:"exit,signal,killed,memory,lost"`
}

// SizePolicy says whose size counts when several viewers request one: the viewer who typed, focused
// or resized last (`latest`), who has watched longest (`owner`), the smallest or the largest of all
// wishes, or nobody's (`fixed`). POST …/resize always counts.
//
//schema:default "latest"
type SizePolicy string

// The values of SizePolicy.
const (
	SizePolicyLatest   SizePolicy = "latest"
	SizePolicyOwner    SizePolicy = "owner"
	SizePolicySmallest SizePolicy = "smallest"
	SizePolicyLargest  SizePolicy = "largest"
	SizePolicyFixed    SizePolicy = "fixed"
)

// Sandbox says what programs may touch. `none`: all that their user may. `workspace`: they read all but the server's
// data directory, and change files only below the directory in which they were created and the temporary directory
// (TMPDIR, else /tmp; /dev/shm too). `read-only`: they change no file. In both they gain no rights by sudo or other
// programs with special modes, reach neither the server nor processes outside, and so does all that they start.
//
//schema:default "none"
type Sandbox string

// The values of Sandbox.
const (
	SandboxNone      Sandbox = "none"
	SandboxWorkspace Sandbox = "workspace"
	SandboxReadOnly  Sandbox = "read-only"
)

// Limits bound what programs use. They are enforced by a cgroup v2 where the server has a delegated one, else by
// resource limits of processes; what neither can do is refused with 501 CAPABILITY.
type Limits struct {
	// Memory in bytes. By cgroup the kernel kills a program of the terminal that needs more; without one it gets no
	// more.
	MemoryBytes *int64 `json:"memory_bytes,omitempty" minimum:"16777216" maximum:"1125899906842624"`
	// Processor time in percent of one core. Only by cgroup.
	CPUPercent *int64 `json:"cpu_percent,omitempty" minimum:"1" maximum:"100000"`
	// Processes and threads; beyond them none can be started. Without a cgroup not for root.
	Pids *int64 `json:"pids,omitempty" minimum:"1" maximum:"4194304"`
	// Open files of each process, as `ulimit -n` shows.
	Nofile *int64 `json:"nofile,omitempty" minimum:"16" maximum:"1048576"`
}

// CreateTerminal says what to start. Every field may be left out, and so may the whole body.
//
//schema:examples [{"cmd": ["bash", "-l"], "cols": 80, "rows": 24}, {"cmd": ["make", "test"],
//schema:and "cwd": "/srv/app", "env": {"CI": "1"}, "name": "build"}]
type CreateTerminal struct {
	SessionRef
	// The program and its arguments: 1 to 4096 words of at most 131071 bytes. A program without a
	// slash is looked up in PATH.
	//schema:default ["bash", "-l"]
	Cmd []string `json:"cmd,omitempty" minItems:"1" maxItems:"4096"`
	// Columns, in cells.
	Cols *int `json:"cols,omitempty" minimum:"1" maximum:"1000" default:"80"`
	// Rows, in cells.
	Rows *int `json:"rows,omitempty" minimum:"1" maximum:"1000" default:"24"`
	// Working directory; "" is the home directory of the server's user (HOME, else that of the user
	// database), to which a relative one is relative.
	Cwd string `json:"cwd,omitempty" default:""`
	// Variables to add to the few the program inherits; these win. NAME=VALUE may have at most
	// 131071 bytes.
	//schema:propertyNames {"pattern": "^[^=]+$"}
	Env map[string]string `json:"env,omitempty"`
	// A name to find it by, unique in its session; "" is no name.
	Name string `json:"name,omitempty" pattern:"^([A-Za-z0-9._-]{1,64})?$" default:""`
	// Lines of history to keep above the screen.
	Scrollback *int `json:"scrollback,omitempty" minimum:"0" maximum:"100000" default:"5000"`
	// Whose wish decides the size; "" is `latest`.
	SizePolicy SizePolicy `json:"size_policy,omitempty" enum:",latest,owner,smallest,largest,fixed" default:"latest"`
	Labels     Labels     `json:"labels,omitempty"`
	// What its programs may touch; "" is `none`. 501 CAPABILITY where the kernel cannot, and at a provider.
	Sandbox Sandbox `json:"sandbox,omitempty" enum:",none,workspace,read-only" default:"none"`
	// What its programs may use; absent: no limit. 501 CAPABILITY where it cannot be enforced, and at a provider.
	Limits *Limits `json:"limits,omitempty"`
	// What starts here by itself after a crash of the machine.
	Restore Restore `json:"restore,omitzero"`
}

// Labels are words that users give a terminal to find it by: at most 32. A key has 1 to 63 letters, digits, '.', '_',
// '-' or '/', with a letter or digit at both ends. A value has at most 255 bytes and no control characters.
//
//schema:maxProperties 32
//schema:propertyNames {"pattern": "^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$"}
type Labels map[string]string

// ChangeTerminal changes a terminal. What is absent stays as it is. When one field is wrong, nothing is changed.
//
//schema:examples [{"name": "build", "labels": {"team": "web"}}, {"size_policy": "fixed", "cols": 120, "rows": 40}]
type ChangeTerminal struct {
	TerminalRef
	// Another name, unique in its session; "" is no name.
	Name *string `json:"name,omitempty" pattern:"^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$"`
	// Whose wish decides the size from now on.
	SizePolicy *SizePolicy `json:"size_policy,omitempty"`
	// What starts here by itself after a crash of the machine from now on.
	Restore *Restore `json:"restore,omitempty"`
	// Columns, in cells; as POST …/resize does it, whatever the size policy.
	Cols *int `json:"cols,omitempty" minimum:"1" maximum:"1000"`
	// Rows, in cells.
	Rows *int `json:"rows,omitempty" minimum:"1" maximum:"1000"`
	// All labels that it has from now on: those that are left out here are gone.
	Labels Labels `json:"labels,omitzero"`
	// The title in infos and lists, whatever the program sets: at most 1024 bytes without control characters; "" shows
	// the program's again. Viewers get the program's.
	Title *string `json:"title,omitempty" maxLength:"1024"`
}

// TerminalList has terminals, oldest first; deleted ones are left out.
//
//schema:reply "The terminals."
type TerminalList struct {
	// Their ids.
	Ptys []string `json:"ptys"`
	// The terminals, in the same order.
	Items []Terminal `json:"items"`
	// `after` of the next part, with limit; absent at the end.
	Next string `json:"next,omitempty"`
}

// Input has what to type: exactly one of the two fields. The whole body may have 1 MiB.
//
//schema:oneOf [{"required": ["data"]}, {"required": ["data_b64"]}]
//schema:examples [{"data": "ls\n"}, {"data_b64": "AwQ="}]
type Input struct {
	TerminalRef
	Typist
	// Text, sent as UTF-8. A line feed is a line feed; the Enter key is `\r`.
	Data *string `json:"data,omitempty"`
	// Any bytes, in standard base64 with padding.
	DataB64 *[]byte `json:"data_b64,omitempty"`
}

// InputTaken is the reply to input that the program's terminal took.
//
//schema:reply "All bytes were taken, in order."
type InputTaken struct {
	// Always true.
	Success bool `json:"success" const:"true"`
	// How many bytes were written.
	Bytes int `json:"bytes" minimum:"0"`
}

// Sent is the reply to input that the program's terminal took.
//
//schema:reply "The program got it."
type Sent struct {
	// Always true.
	Success bool `json:"success" const:"true"`
	// How many bytes were written. 0 for a `mouse` that the program did not ask for: then nothing
	// was sent.
	Bytes int `json:"bytes" minimum:"0"`
	// Position of the output just before: what the input leads to is printed behind it. Give it as
	// `since` to a wait, which then misses nothing.
	Seq uint64 `json:"seq"`
}

// MouseEvent is what a mouse does in a cell, sent as the program asked for: its tracking mode
// decides whether, its encoding how. Without a mouse mode nothing is sent, and the reply's `bytes`
// is 0.
type MouseEvent struct {
	// Column, from 0.
	X int `json:"x" minimum:"0" maximum:"999"`
	// Row, from 0.
	Y int `json:"y" minimum:"0" maximum:"999"`
	// `none` is for a movement without a button.
	//schema:enum ["left", "middle", "right", "wheel_up", "wheel_down", "wheel_left", "wheel_right",
	//schema:and "none"]
	Button string `json:"button,omitempty" default:"left"`
	// `click` is a press and a release.
	Action string `json:"action,omitempty" enum:"press,release,move,click" default:"click"`
	// Keys that are held.
	//schema:items {"type": "string", "enum": ["shift", "alt", "meta", "ctrl"]}
	Mods []string `json:"mods,omitempty"`
}

// Keys is keys to press, one after the other, or what a mouse does; sent the way the program's modes
// ask for (application cursor keys and keypad, kitty keyboard, mouse).
//
//schema:oneOf [{"required": ["keys"]}, {"required": ["mouse"]}]
//schema:examples [{"keys": ["C-c", "Up", "Enter"]}, {"keys": ["text:hello", "Enter"]},
//schema:and {"mouse": {"x": 10, "y": 3, "button": "left", "action": "click"}}]
type Keys struct {
	TerminalRef
	Typist
	Mouse *MouseEvent `json:"mouse,omitempty"`
	// Names of keys, in any case: Enter Tab BTab Escape Space BSpace Up Down Left Right Home End
	// PgUp PgDn Insert Delete F1..F24; Return Esc Backspace PageUp PPage PageDown NPage IC Ins DC
	// Del mean the same; KP0..KP9 KP. KP/ KP* KP- KP+ KP= KPEnter are the keypad; or one character;
	// each with any of the prefixes `C-`, `M-`, `S-`; or `text:` and literal text.
	//schema:items {"type": "string", "minLength": 1}
	Keys []string `json:"keys,omitempty" minItems:"1"`
}

// Paste is text to paste. When the program asked for bracketed paste it goes between ESC[200~ and
// ESC[201~, with newlines as LF; otherwise each newline becomes CR. CR LF is one newline. In both
// cases any ESC[201~ inside, control characters besides TAB, CR and LF, and the characters that the
// terminal makes signals of are left out.
//
//schema:examples [{"data": "two\nlines"}]
type Paste struct {
	TerminalRef
	Typist
	// The text.
	Data *string `json:"data" nullable:"false"`
}

// Size is a size in cells.
//
//schema:examples [{"cols": 120, "rows": 40}]
type Size struct {
	// Columns.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
}

// Resized is the new size.
//
//schema:reply "Resized."
type Resized struct {
	// Always true.
	Success bool `json:"success" const:"true"`
	// Columns.
	Cols int `json:"cols" minimum:"1" maximum:"1000"`
	// Rows.
	Rows int `json:"rows" minimum:"1" maximum:"1000"`
}

// Signal is a signal for the foreground process group.
//
//schema:examples [{"signal": "INT"}]
type Signal struct {
	TerminalRef
	// HUP, INT, QUIT, ABRT, KILL, USR1, USR2, PIPE, ALRM, TERM, CONT, STOP, TSTP, TTIN, TTOU or
	// WINCH; in any case, with or without SIG.
	Signal string `json:"signal" pattern:"^[A-Za-z0-9]+$"`
}

// Nothing is an object without fields.
type Nothing struct {
}

// Done is the reply of a call that has nothing to tell.
//
//schema:reply "Done."
type Done struct {
	// Always true.
	Success bool `json:"success" const:"true"`
}

// Wait says what to wait for: one condition, or `any` of several.
//
//schema:oneOf [{"required": ["for"]}, {"required": ["any"]}]
//schema:examples [{"for": "text", "pattern": "ready", "timeout_ms": 5000}, {"for": "idle",
//schema:and "idle_ms": 1000}, {"for": "regex", "pattern": "^(PASS|FAIL)", "since": 5120,
//schema:and "ignore_echo": true}, {"any": [{"for": "text", "pattern": "[y/n]"}, {"for": "exit"}]},
//schema:and {"for": "text", "pattern": "Loading", "not": true}]
type Wait struct {
	TerminalRef
	WaitCondition
	// Conditions instead of one; the first that is true ends the wait, and `index` says which.
	Any []WaitCondition `json:"any,omitempty" minItems:"1" maxItems:"16"`
	// When to give up, in milliseconds; 0 is 30000.
	TimeoutMS int64 `json:"timeout_ms,omitempty" minimum:"0" maximum:"3600000" default:"30000"`
	// Only what was printed or changed behind this position counts; the screen begins as it was
	// there. `idle` and `prompt` need some output behind it, a prompt mark has to be behind it;
	// `cursor`, `alt_screen` and `mode` begin with how it was there; `exit` does not care. It must
	// be in the journal (else 404 NOT_KEPT) and not beyond the end of the output (else 400). Take
	// `seq` of the input's reply, or of the wait before.
	Since *uint64 `json:"since,omitempty" minimum:"0"`
	// The echo of what was sent through the API does not count as text.
	IgnoreEcho bool `json:"ignore_echo,omitempty" default:"false"`
}

// WaitCondition is one condition of a wait.
//
//schema:required ["for"]
//schema:examples [{"for": "text", "pattern": "ready"}]
type WaitCondition struct {
	// `text`: the pattern is shown; `regex`: it matches a line (RE2; `^` and `$` are those of each
	// line); `idle`: nothing was printed or typed for `idle_ms`, counted from the beginning of the
	// wait at the earliest; `exit`: the program has ended; `prompt`: a shell waits for a command
	// (OSC 133 or 633 marks, else its line editor reads); `title`: the title contains the pattern;
	// `cursor`: it rests at `x`, `y`; `alt_screen`: the alternate screen is shown; `mode`: a mode
	// has a value. Text is looked at as it is shown at every moment: what scrolled by, was erased or
	// overwritten at once still matches.
	For string `json:"for,omitempty" enum:"text,regex,idle,exit,prompt,title,cursor,alt_screen,mode"`
	// For `text` and `title` the text, for `regex` an RE2 expression: 1 to 4096 bytes. Rows that the
	// right margin broke are one line; blanks that were printed at the end of a line count, and `$`
	// matches before them too. A pattern with `\n`, or with `(?s)` and a dot, is looked for in all
	// lines together, each ended by `\n`. The expressions of a wait may need 10000 instructions in
	// all, about one a character or class, each as often as it may repeat. Ignored otherwise.
	Pattern string `json:"pattern,omitempty" maxLength:"4096"`
	// Silence that `idle` waits for, in milliseconds; 0 is 500.
	IdleMS int64 `json:"idle_ms,omitempty" minimum:"0" maximum:"3600000" default:"500"`
	// Wait for the absence of `text`, `regex`, `title`, `cursor`, `alt_screen`, `mode` or `prompt`.
	// Text is absent when the screen does not show it; the history does not count.
	Not bool `json:"not,omitempty" default:"false"`
	// `text` and `regex` leave out the history. Without it what is in the history at the beginning
	// counts, unless there is `since`.
	ScreenOnly bool `json:"screen_only,omitempty" default:"false"`
	// Column for `cursor`, from 0; absent: any.
	X *int `json:"x,omitempty" minimum:"0"`
	// Row for `cursor`, from 0; absent: any.
	Y *int `json:"y,omitempty" minimum:"0"`
	// Which mode, for `mode`: a name of `modes` in the snapshot as JSON.
	//schema:enum ["application_cursor", "application_keypad", "origin", "autowrap", "reverse_wrap",
	//schema:and "insert", "linefeed", "reverse_video", "bracketed_paste", "focus_events", "mouse",
	//schema:and "mouse_encoding", "synchronized_output", "kitty_keyboard"]
	Mode string `json:"mode,omitempty"`
	// What the mode is: true or false, for `mouse` and `mouse_encoding` a name, for `kitty_keyboard`
	// the flags. Absent is true.
	//schema:type ["boolean", "string", "number"]
	Value any `json:"value,omitempty"`
}

// Waited is the reply to a condition that came true.
//
//schema:reply "The condition came true."
type Waited struct {
	// Always true.
	Matched bool `json:"matched" const:"true"`
	// Lines of the last 1000 rows of history and of the screen at that moment, those that the margin
	// broke as one; with `since` only those that were printed or changed behind it.
	Text string `json:"text"`
	// Position: output bytes of the terminal, counted from 0 at its creation, up to which was
	// looked. For `text` and `regex` the end of the match. The next wait with this `since` misses
	// nothing.
	Seq uint64 `json:"seq" minimum:"0"`
	// Which condition of `any`, from 0.
	Index *int   `json:"index,omitempty" minimum:"0" maximum:"15"`
	Match *Match `json:"match,omitempty"`
	Exit  *Exit  `json:"exit,omitempty"`
}

// Match is what `text` or `regex` matched, and where it was printed. Of text that was printed longer
// ago than can be gone through both positions are one at which it was shown already.
type Match struct {
	// The text.
	Text string `json:"text"`
	// Position before its first character.
	StartSeq uint64 `json:"start_seq"`
	// Position behind its last one.
	EndSeq uint64 `json:"end_seq"`
}
