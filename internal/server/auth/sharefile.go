package auth

import (
	"encoding/hex"
	"encoding/json"
	"time"
)

// shareFile is the name of the shares' journal in the data directory.
const shareFile = "shares"

// shareLine is a share, or with Use a use of one.
type shareLine struct {
	Digest  string    `json:"digest"`
	Use     bool      `json:"use,omitempty"`
	ID      string    `json:"id,omitempty"`
	PTY     string    `json:"pty,omitempty"`
	Session string    `json:"session,omitempty"`
	User    string    `json:"user,omitempty"` // who made it
	Role    Role      `json:"role,omitempty"`
	Name    string    `json:"name,omitempty"`
	By      string    `json:"by,omitempty"`
	Created time.Time `json:"created,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	Limit   int       `json:"limit,omitempty"`
	Used    int       `json:"used,omitempty"`
	Closed  bool      `json:"closed,omitempty"`
}

// lineOf returns the line of a share.
func lineOf(s *share) shareLine {
	return shareLine{Digest: hex.EncodeToString(s.key[:]), ID: s.id, PTY: s.grant.PTY, Session: s.grant.Session,
		User: s.grant.User, Role: s.grant.Role, Name: s.name, By: s.by, Created: s.created.UTC(),
		Expires: s.expires.UTC(), Limit: s.limit, Used: s.used, Closed: s.closed}
}

// apply does what a line of the file says, and is false for an invalid one. The lock is held.
func (s *shares) apply(line []byte) bool {
	var l shareLine
	if json.Unmarshal(line, &l) != nil {
		return false
	}
	key, ok := keyIn(l.Digest)
	switch {
	case !ok:
		return false
	case l.Use:
		if one := s.bySec[key]; one != nil {
			one.used++
		}
		return true
	case l.ID == "" || (l.PTY == "") == (l.Session == "") || l.Role != Read && l.Role != Write ||
		l.Limit < 0 || l.Limit > maxShareUses || l.Used < 0 || len(s.byID) >= maxShares:
		return false
	}
	if l.Expires.After(s.now().Add(maxShareTTL)) { // none lasts longer, whatever the clock was
		return true
	}
	s.put(&share{id: l.ID, key: key, name: l.Name, by: l.By, created: l.Created, expires: l.Expires, limit: l.Limit,
		used: l.Used, closed: l.Closed,
		grant: Grant{Role: l.Role, PTY: l.PTY, Session: l.Session, User: l.User, Share: l.ID}})
	return true
}
