package store

import (
	"fmt"

	"github.com/evertty/evertty/internal/conversation"
)

// overhead is what a message has in its file beside its JSON: keys, line ends and indents, in
// bytes. About right is enough.
const overhead = 64

func checkSize(what string, n, most int) error {
	if n > most {
		return fmt.Errorf("%w: %s has %d bytes of JSON; at most %d are allowed", conversation.ErrTooLarge, what, n,
			most)
	}
	return nil
}

func checkCount(what string, n, most int) error {
	if n > most {
		return fmt.Errorf("%w: %d %s; at most %d are allowed", conversation.ErrTooMany, n, what, most)
	}
	return nil
}
