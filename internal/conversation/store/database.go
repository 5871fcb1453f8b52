package store

import (
	"encoding/json"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// Database keeps the records. It does not know the rules; it holds that ids are unique and that what a
// row points at exists. View and Update are as in sqlite.Store, with the same errors.
type Database interface {
	View(fn func(Tx) error) error
	Update(fn func(Tx) error) error
}

// Tx is the records as of one instant. A row that a getter does not find is thread.ErrNotFound, a
// list without rows is empty. The records of a thread whose row is deleted are found no more, and
// are there until PurgeConversations.
//
// Put writes a row, new or not. The first write that fails leaves its error in Err, and all later
// ones do nothing; Update then makes no change and returns it.
type Tx interface {
	Err() error
	threadRows
	conversationRows
	messageRows
	listRows
	permissionRows
	approvalRows
}

type threadRows interface {
	Thread(id string) (thread.Thread, error)
	PutThread(thread.Thread)
	AddEvent(thread.Event) (seq int64)
}

type conversationRows interface {
	Conversation(id string) (conversation.Head, error)
	CurrentConversation(thread string) (conversation.Head, error)
	// of those that are current the one changed last
	LatestConversation(prefix string) (conversation.Head, error)
	Conversations(thread string) ([]conversation.Head, error)              // the newest first
	AllConversations(after string, limit int) ([]conversation.Head, error) // of all threads by id, those behind after
	// ErrConflict when the id is one of another thread, or of one that was deleted
	PutConversation(conversation.Head)
	// AdoptConversation gives a conversation that was put without a Thread to one, as its newest.
	// Without a Thread it is not found, and purged like one of a deleted thread.
	AdoptConversation(id, thread string)
	RetireConversation(thread string) // none of the thread is current any more
	// ids of records that have rows left and whose thread is gone, in order
	DeletedConversations(after string, limit int) (ids []string, err error)
	// PurgeConversations deletes rows of records whose thread is gone, about limit of them; more
	// says that there are others. Those that DeletedConversations lists go last, and of them only
	// ids: nothing else says which files a conversation had.
	PurgeConversations(ids []string, limit int) (more bool)
	// Part decodes what PutPart has written into v; a part that was never written leaves v as it is.
	Part(record, part string, v any) error
	PutPart(record, part string, json []byte)
}

type messageRows interface {
	AddMessage(record string, k conversation.Kept) (bytes int)    // how many its JSON has
	Messages(record string, r Range) ([]conversation.Kept, error) // by Seq; ArchivedBy and Summary are not set
	AddCompaction(record string, a conversation.Archive)
	LastCompaction(record string) (conversation.Archive, error)
	Compactions(record string, p Page) ([]conversation.Archive, error)
	// MessageBytes is what AddMessage said of the messages behind from up to to, together. It looks
	// at each of them.
	MessageBytes(record string, from, to int64) (int64, error)
}

// List is the name of a list of a conversation, and of its table.
type List string

type listRows interface {
	AddItem(l List, record string, it Item[json.RawMessage])
	Items(l List, record string, p Page) ([]Item[json.RawMessage], error)
	Inbox(record string) ([]Item[string], error) // all that waits, in order
	// TakeInbox is Inbox, and from then on nothing waits.
	TakeInbox(record string, at string) ([]Item[string], error)
}

// Item is one of a list, with its number in it and the time at which it was added.
type Item[T any] struct {
	Seq   int64  `json:"seq"`
	At    string `json:"created_at"`
	Value T      `json:"value"`
}

// Page asks for a part of a list, in the order of its numbers: the first Limit behind After, or the
// newest Limit of these. A Limit of 0, or above MaxPage, is MaxPage; what has more than
// MaxPageBytes of JSON is fewer, but one at least.
type Page struct {
	After  int64
	Limit  int
	Newest bool
}

// Range asks for the messages behind From up to To: the first Limit of them, or the newest Limit
// when Newest is true, and of these no more than Bytes of JSON, but one at least.
// 0 of Limit or Bytes is as many as there are.
type Range struct {
	From, To int64
	Limit    int
	Bytes    int
	Newest   bool
}
