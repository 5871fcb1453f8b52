package vt

// Effects are callbacks for what output does besides changing the state. Every field
// may be nil. Callbacks run inside Engine.Write, must return at once and must
// not call the engine. Byte slices are the callee's to keep.
type Effects struct {
	// Reply gets the answer to a query (DA, DSR, DECRQM, …). It holds only
	// constants and numbers, never text that a program stored.
	Reply func(p []byte)
	Bell  func()             // BEL in ground state (ECMA-48 8.3.3)
	Title func(title string) // OSC 0 and 2
	// Cwd gets host and path of OSC 7 (file://host/path), or the path of OSC 1337 CurrentDir,
	// OSC 633;P;Cwd or OSC 9;9, which name no host: "". The path is one of this machine only if
	// the host is empty, localhost or a name of this machine (RFC 8089 2). The host is as given.
	Cwd func(host, path string)
	// Clipboard gets a write by OSC 52, at most MaxClipboard bytes; selection is
	// made of the letters and digits "cpqs01234567", or empty. Reads are never
	// answered.
	Clipboard func(selection string, data []byte)
	Notify    func(n Notification) // OSC 9, OSC 777;notify
	Prompt    func(m PromptMark)   // OSC 133 and 633
	// ScrolledOff gets each line that output moves off the main screen at its top, even when no history keeps
	// it. A change of the size moves none.
	ScrolledOff func(l Line)
}

// Notification is a message a program wants a person to see.
type Notification struct {
	Title string `json:"title,omitempty"`
	Body  string `json:"body"`
}

// PromptMark is a shell integration mark (OSC 133): 'A' prompt begins, 'B' prompt
// ended and the shell reads, 'C' command started, 'D' command finished.
type PromptMark struct {
	Kind byte
	Exit int // exit status with 'D'; -1 when not given
	// End is where the mark ends in the text of the Write that it came with, which
	// begins with the bytes held before: in bytes of UTF-8.
	End int
}
