package stream

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"github.com/evertty/evertty/wire"
)

// Role says what a viewer may do.
type Role string

// The roles.
const (
	RoleRead  Role = "read"  // looks
	RoleWrite Role = "write" // also types, and its size counts
	RoleAdmin Role = "admin" // also changes the terminal, and takes the control from others
)

// What a viewer may be, see wire.Viewer.
const (
	ClientAPI    = "api"
	ClientWeb    = "web"
	ClientSSH    = "ssh"
	ClientCompat = "compat" // of another product
)

// Who says who a viewer is, for the other viewers.
type Who struct {
	Name   string // chosen by the viewer; "" is none
	Role   Role   // "" is RoleRead
	Client string // web, attach, api, compat or ssh
	// Key is the digest of a secret of the viewer's choice: the same on each of its connections. One that reconnects
	// with the key of the holder is the holder again. "" is none.
	Key string
}

func (w Who) mayType() bool { return w.Role == RoleWrite || w.Role == RoleAdmin }

// Errors of viewers.
var (
	// ErrKicked ends a viewer that somebody else has ended.
	ErrKicked = errors.New("you were removed from this terminal")
	// ErrNoViewer is a viewer that is not connected, or never was.
	ErrNoViewer = errors.New("there is no such viewer: it has left, or never was here")
	// ErrLooks refuses to type or to ask for the control to a viewer that may only look.
	ErrLooks = errors.New("this viewer may only look")
)

// ID is Viewer as the API has it.
func (s *Subscription) ID() string { return viewerID(s.Viewer) }

func viewerID(n uint64) string { return strconv.FormatUint(n, 10) }

// Introduce adds the viewer's id to its first event: own is what b, a JSON object with or without the lines of an event
// stream around it, begins with, and the id behind its first member; shared is the rest of b.
func (s *Subscription) Introduce(b []byte) (own, shared []byte) {
	at := bytes.IndexByte(b, ',') + 1
	return fmt.Appendf(nil, `%s"viewer":"%d",`, b[:at], s.Viewer), b[at:]
}

// Introduction is the event that tells the viewer its id where its first event cannot.
func (s *Subscription) Introduction() *Message {
	return metaMessage(s.hub.id, &wire.EventMeta{Viewer: s.ID()})
}

// Who says who the viewer is.
func (s *Subscription) Who() Who { return s.who }

// Viewer is the viewer with an ID. Errors: ErrNoViewer.
func (h *Hub) Viewer(id string) (*Subscription, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.viewers.find(id)
}

// find is Hub.Viewer with the hub's lock held.
func (v *viewers) find(id string) (*Subscription, error) {
	for _, s := range v.subs {
		if s.ID() == id {
			return s, nil
		}
	}
	return nil, ErrNoViewer
}

// Kick ends a viewer: Next and Poll return ErrKicked from now on, and SubscribeOptions.Kicked is called. Its
// connection says so to the viewer, which does not come back by itself. Errors: ErrNoViewer.
func (h *Hub) Kick(id string) error {
	s, err := h.Viewer(id)
	if err != nil {
		return err
	}
	s.kicked.Store(true)
	if s.onKick != nil {
		s.onKick() // while its connection is there
	}
	s.Close()
	return nil
}

// Kicked reports whether somebody else has ended the viewer.
func (s *Subscription) Kicked() bool { return s.kicked.Load() }

// over is why a closed subscription returns nothing more.
func (s *Subscription) over() error {
	if s.Kicked() {
		return ErrKicked
	}
	return ErrClosed
}
