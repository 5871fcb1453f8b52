package wire

import (
	"encoding/json"
	"time"
)

// Viewer is one connection that shows a terminal.
type Viewer struct {
	// Id, as `viewer` of the connection's first snapshot has it; new with each connection.
	ID string `json:"id" minLength:"1"`
	// What it calls itself; "" when it has not said.
	Name string `json:"name" maxLength:"64"`
	// `read` looks, `write` also types, `admin` may do everything.
	Role string `json:"role" enum:"read,write,admin"`
	// What it is: the web page, `evertty attach`, another program, a client of another product, an SSH client.
	Client string `json:"client" enum:"web,attach,api,compat,ssh"`
	// Columns that it asked for; 0 when it has not.
	Cols int `json:"cols" minimum:"0"`
	// Rows that it asked for; 0 when it has not.
	Rows int `json:"rows" minimum:"0"`
	// When it connected.
	ConnectedAt time.Time `json:"connected_at"`
	// Output that it has not taken yet, in bytes of the terminal.
	LagBytes uint64 `json:"lag_bytes" minimum:"0"`
	// How often it got another snapshot than its first.
	Resyncs int `json:"resyncs" minimum:"0"`
	// When it typed last; null before.
	TypingAt *time.Time `json:"typing_at"`
	// Whether its size decides that of the terminal.
	Owner bool `json:"owner"`
	// Nobody looks at it now: a page shows another terminal.
	Hidden bool `json:"hidden,omitempty"`
}

// ViewerList has those who watch a terminal, oldest first.
//
//schema:reply "Who watches, and who types."
type ViewerList struct {
	// The viewers.
	Viewers []Viewer `json:"viewers"`
	Control Control  `json:"control"`
}

// The modes of Control.
const (
	ControlOpen   = "open"
	ControlLocked = "locked"
)

// Control says who types.
type Control struct {
	// `open`: everybody who may type does. `locked`: the holder alone.
	Mode string `json:"mode" enum:"open,locked"`
	// Id of the viewer that types alone; null while it is open.
	Holder *string `json:"holder"`
	// Ids of the viewers that ask for the keyboard, in the order in which they began.
	Requests []string `json:"requests"`
}

// Typist names who acts.
type Typist struct {
	// Id of the viewer that acts. Without it a locked terminal takes nothing.
	As string `json:"-" query:"as" example:"1790000000001"`
}

// ControlTerminal changes who types.
//
//schema:examples [{"action": "lock", "viewer": "1790000000001"}, {"action": "grant"}]
type ControlTerminal struct {
	TerminalRef
	Typist
	// `lock`: from now on only who acts types. `unlock`: everybody does. `request`: who acts asks for the keyboard.
	// `grant`: the viewer is the holder from now on. `deny`: it asks no more. The last two are the holder's, and
	// `unlock` too; an administrator may do them always.
	Action string `json:"action" enum:"lock,unlock,request,grant,deny"`
	// Id of the viewer that it is granted or denied to; absent: who asked first. For `lock` and `request` who acts, if
	// `as` does not say.
	Viewer string `json:"viewer,omitempty"`
	// As the query's `as`.
	By string `json:"as,omitempty"`
}

// Controlled is the reply to a change of who types.
//
//schema:reply "Who types now."
type Controlled struct {
	// Always true.
	Success bool    `json:"success" const:"true"`
	Control Control `json:"control"`
}

// KickViewer ends one viewer.
type KickViewer struct {
	TerminalRef
	// Id of the viewer.
	Viewer string `json:"-" path:"vid" minLength:"1" example:"1790000000001"`
}

// PresentViewer is one who watches now.
type PresentViewer struct {
	// Id, as in Viewer.
	ID string `json:"id"`
	// What it calls itself; "" when it has not said.
	Name string `json:"name"`
	// As in Viewer.
	Role string `json:"role" enum:"read,write,admin"`
	// Whether it has typed within the last 2 seconds.
	Typing bool `json:"typing"`
}

// Presence is who watches now: a list of up to 32 viewers, and the number of more. At most once a second.
//
//schema:oneOf [{"type": "array", "items": {"$ref": "#/components/schemas/PresentViewer"}, "maxItems": 32},
//schema:and {"type": "integer", "minimum": 33}]
type Presence json.RawMessage

// PresenceOf is a list of viewers, or their number.
func PresenceOf[T []PresentViewer | int](of T) Presence {
	b, _ := json.Marshal(of) // cannot fail
	return b
}

// List is the viewers, none when it is a number.
func (p Presence) List() (list []PresentViewer) {
	_ = json.Unmarshal(p, &list) // a number is no list
	return list
}

// MarshalJSON implements json.Marshaler.
func (p Presence) MarshalJSON() ([]byte, error) { return p, nil }

// UnmarshalJSON implements json.Unmarshaler.
func (p *Presence) UnmarshalJSON(b []byte) error {
	*p = append((*p)[:0], b...)
	return nil
}

// InputMode says what the terminal's line discipline does with what is typed (termios(3)). A viewer on a slow line may
// show what is typed before the program does, but never while `echo` is false and `canonical` true: so programs ask for
// a password.
type InputMode struct {
	// The line discipline shows what is typed (ECHO).
	Echo bool `json:"echo"`
	// The program gets whole lines (ICANON).
	Canonical bool `json:"canonical"`
	// A line editor of the program has the keyboard: it shows what is typed by itself.
	Editing bool `json:"editing"`
}
