package wire

import "time"

// TicketRequest asks for a ticket for one terminal, or with `{"login":true}` for a browser's login,
// which goes with no other field. At most 4096 wait, and 16 more for logins; one more is 429 LIMIT. A
// ticket ends with its terminal, by DELETE /tickets, or by a logout of all, and so does what it opened.
//
//schema:oneOf [{"required": ["pty"], "properties": {"login": {"const": false}}},
//schema:and {"required": ["login"], "maxProperties": 1, "properties": {"login": {"const": true}}}]
//schema:examples [{"pty": "build", "role": "read", "ttl_s": 3600, "uses": 100}, {"login": true}]
type TicketRequest struct {
	// Id or name of the terminal.
	PTY string `json:"pty,omitempty" minLength:"1"`
	// `read`: look; `write`: look and type.
	Role string `json:"role,omitempty" enum:",read,write" default:"read"`
	// How long it lasts, in seconds.
	TTLS *int `json:"ttl_s,omitempty" minimum:"1" maximum:"86400" default:"30"`
	// How many connections it opens. An EventSource that reconnects by itself uses it again.
	Uses *int `json:"uses,omitempty" minimum:"1" maximum:"1000" default:"1"`
	// Ask for a login ticket: one use, 30 seconds, for GET /?ticket=.
	Login bool `json:"login,omitempty" default:"false"`
}

// Ticket is a secret that may stand in a URL.
type Ticket struct {
	// The secret, for `?ticket=`.
	Ticket string `json:"ticket"`
	// When it ends, used or not. RFC 3339, UTC.
	ExpiresAt time.Time `json:"expires_at"`
	// Where it is used: the terminal's WebSocket (put /stream or /snapshot in place of /ws for
	// those), or the login page.
	URL string `json:"url" format:"uri"`
	// The same for other machines, when `url` has a loopback address and the server listens on all addresses.
	NetworkURL string `json:"network_url,omitempty" format:"uri"`
}

// EndTickets says which tickets end: those of a terminal, or all.
type EndTickets struct {
	// Id or name of the terminal whose tickets end.
	PTY string `query:"pty" param:"ticketPTY" json:"-" minLength:"1"`
	// 1 ends all tickets; goes without `pty`.
	All bool `query:"all" param:"allTickets" json:"-"`
}

// LogOut says which logins end: the one that asks, or all.
type LogOut struct {
	// 1 ends all logins and all tickets. Without it the request needs a login: one with the token has none, which is
	// 400.
	All bool `query:"all" param:"allLogins" json:"-"`
}
