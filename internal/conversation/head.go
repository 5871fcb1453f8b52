package conversation

import "github.com/evertty/evertty/wire"

// Head is the metadata of a conversation: its Wire form, and counts that clients do not see. Numbers
// count from 1; the number of the newest of a list is how many there are. UpdatedAt grows with every
// change; Messages counts archived ones too, but no summaries.
type Head struct {
	wire.RecordHead
	Users  int64 // messages of role user
	Traces int64 // given ones
	Inbox  int64 // ever put into the inbox
}

// Wire is what clients see.
func (h Head) Wire() wire.RecordHead { return h.RecordHead }
