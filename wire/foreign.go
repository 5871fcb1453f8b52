package wire

import "time"

// OpenForeign asks for a WebSocket of a terminal in the protocol of another product.
type OpenForeign struct {
	TerminalRef
	// Lines of history in its snapshots, which are output there: the last N; 0 is the screen alone, -1 is all. The
	// clients keep 1000 unless told otherwise. A snapshot of more than 4 MiB is the screen alone.
	Scrollback int `json:"-" query:"scrollback" param:"foreignLines" minimum:"-1" maximum:"100000" default:"1000" allowed:"-1 (all) to 100000"` //nolint:lll // a tag is one string
	// With `rows`: the size of this viewer's screen. The first snapshot has the size that the size policy makes of it.
	Cols int `json:"-" query:"cols" param:"foreignCols" minimum:"1" maximum:"1000" allowed:"1 to 1000, for both,"`
	// See `cols`.
	Rows int `json:"-" query:"rows" param:"foreignRows" minimum:"1" maximum:"1000" allowed:"1 to 1000, for both,"`
	Watcher
	Nesting
}

// OpenTerminado is OpenForeign by the path that JupyterLab makes of a base URL.
type OpenTerminado struct {
	OpenForeign
	TerminadoName
}

// TerminadoName is what JupyterLab calls a terminal.
type TerminadoName struct {
	// The name that the client has for the terminal; any.
	Terminal string `json:"-" path:"name" param:"terminadoName"`
}

// OpenKubernetes is OpenForeign for a client of Kubernetes.
type OpenKubernetes struct {
	OpenForeign
	// `false`: nothing is typed.
	Stdin bool `json:"-" query:"stdin" default:"true"`
	// `false`: nothing is shown.
	Stdout bool `json:"-" query:"stdout" default:"true"`
}

// OpenPod is OpenKubernetes by the path that clients of Kubernetes make of a server's URL.
type OpenPod struct {
	OpenKubernetes
	// Any.
	Namespace string `json:"-" path:"ns"`
	// Any.
	Pod string `json:"-" path:"pod"`
}

// TerminadoRef is a terminal as JupyterLab names it.
type TerminadoRef struct {
	TerminalRef
	TerminadoName
}

// StartTerminado is what JupyterLab says when it wants a terminal.
type StartTerminado struct {
	// Not used: the terminal is there.
	Name string `json:"name,omitempty"`
	// Not used.
	Cwd string `json:"cwd,omitempty"`
}

// TerminadoTerminal is a terminal as JupyterLab knows it.
type TerminadoTerminal struct {
	// The terminal's id or name, as the path has it.
	Name string `json:"name"`
	// When it printed or was typed into last.
	LastActivity time.Time `json:"last_activity"`
}

// TTYDToken is what the page of ttyd asks for before it connects.
type TTYDToken struct {
	// Empty: the request of the WebSocket itself shows who asks.
	Token string `json:"token"`
}
