package wire

import "time"

// ShareRequest asks for a link that shows one terminal, or all of a session, to whoever has it. At most 1000 are kept,
// 100 of a user; one more is 429 LIMIT. A link ends with its terminal, by DELETE /shares/:id, with its user, or by a
// logout of all.
//
//schema:oneOf [{"required": ["pty"], "properties": {"session": {"maxLength": 0}}},
//schema:and {"required": ["session"], "properties": {"pty": {"maxLength": 0}}}]
//schema:examples [{"pty": "build", "role": "read", "ttl_s": 3600, "uses": 5}, {"session": "dev"}]
type ShareRequest struct {
	// Id or name of the terminal.
	PTY string `json:"pty,omitempty"`
	// The session: all its terminals, also later ones.
	Session string `json:"session,omitempty" pattern:"^(([A-Za-z0-9][A-Za-z0-9._-]{0,31}@)?[A-Za-z0-9._-]{1,64})?$" owned:"session"` //nolint:lll // a tag is one string
	// `read`: look; `write`: look and type.
	Role string `json:"role,omitempty" enum:",read,write" default:"read"`
	// How long it opens something, in seconds: up to 30 days.
	TTLS *int `json:"ttl_s,omitempty" minimum:"1" maximum:"2592000" default:"3600"`
	// How often it may be opened; 0 is no limit.
	Uses *int `json:"uses,omitempty" minimum:"0" maximum:"1000" default:"0"`
	// What a person calls it: plain text of at most 64 characters.
	Name string `json:"name,omitempty" maxLength:"64"`
}

// Share is a link that shows terminals to whoever has it. Its secret is told only when it is made.
type Share struct {
	// The server's name for it.
	ID string `json:"id" pattern:"^[A-Z2-7]{26}$"`
	// Id of the terminal; absent where it is a session.
	PTY string `json:"pty,omitempty"`
	// The session; absent where it is a terminal.
	Session string `json:"session,omitempty" owned:"session"`
	// What it lets its viewers do.
	Role string `json:"role" enum:"read,write"`
	// What a person calls it; "" when none was given.
	Name string `json:"name"`
	// RFC 3339, UTC.
	CreatedAt time.Time `json:"created_at"`
	// From then on it opens nothing new; who watches by then goes on until it is deleted. RFC 3339, UTC.
	ExpiresAt time.Time `json:"expires_at"`
	// How often it may be opened in all; 0 is no limit.
	Uses int `json:"uses" minimum:"0" maximum:"1000"`
	// How often it may still be opened; null without a limit.
	UsesLeft *int `json:"uses_left" minimum:"0"`
	// Whether it opens nothing more although it has not expired: it was used up, or a viewer of it was kicked.
	Closed bool `json:"closed"`
	// Connections that it has opened and that are open now.
	Viewers int `json:"viewers" minimum:"0"`
	// Who made it: a user, or in the words of the audit log how they were known.
	By string `json:"by"`
}

// MadeShare is a new link.
type MadeShare struct {
	Share
	// The link, for a browser. Programs put what is behind the last slash as `?ticket=` on a terminal's /stream, /ws
	// and /snapshot.
	URL string `json:"url" format:"uri"`
	// The same for other machines, when `url` has a loopback address and the server listens on all addresses.
	NetworkURL string `json:"network_url,omitempty" format:"uri"`
	// `network_url`, or else `url`, as a QR code: an SVG document of its own.
	QRSVG string `json:"qr_svg"`
}

// ShareList is the links that there are, the oldest first.
type ShareList struct {
	// The links.
	Shares []Share `json:"shares"`
}

// ShareRef names a link.
type ShareRef struct {
	// Id of the link.
	ID string `json:"-" path:"share" minLength:"1" example:"K7RZ5Q2MLN3XHB6VTWE4CYAD2F"`
}

// OpenShare follows a link.
type OpenShare struct {
	// What the link ends with.
	Secret string `json:"-" path:"secret" minLength:"1" example:"SECRET"`
}

// Shared is what a page that a link has opened may show.
type Shared struct {
	// Id of the terminal; absent where it is a session.
	PTY string `json:"pty,omitempty"`
	// The session; absent where it is a terminal.
	Session string `json:"session,omitempty" owned:"session"`
	// What the page may do.
	Role string `json:"role" enum:"read,write"`
	// What a person calls the link.
	Name string `json:"name"`
	// From then on it opens nothing new, this page neither. RFC 3339, UTC.
	ExpiresAt time.Time `json:"expires_at"`
}
