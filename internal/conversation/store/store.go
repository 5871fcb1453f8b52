package store

import (
	"encoding/json"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/thread"
)

// Store keeps the records. It does not know the rules; it holds that ids are unique and that what a
// row points at exists. View and Update are as in thread.Store, with the same errors.
type Store interface {
	View(fn func(Tx) error) error
	Update(fn func(Tx) error) error
}

// Tx is the records as of one instant. Put writes a row, new or not; a row that a getter does not
// find is thread.ErrNotFound, a list without rows is empty. The records of a thread whose row is
// deleted, which is the session package's, are found no more, and are there until
// PurgeConversations.
type Tx interface {
	threadRows
	conversationRows
	messageRows
	listRows
	inboxRows
	permissionRows
	approvalRows
}

type threadRows interface {
	Thread(id string) (thread.Thread, error)
	PutThread(thread.Thread) error
	AddEvent(thread.Event) (seq int64, err error)
}

type conversationRows interface {
	Conversation(id string) (conversation.Head, error)
	CurrentConversation(thread string) (conversation.Head, error)
	// of those that are current the one changed last
	LatestConversation() (conversation.Head, error)
	Conversations(thread string) ([]conversation.Head, error)              // the newest first
	AllConversations(after string, limit int) ([]conversation.Head, error) // of all threads by id, those behind after
	// ErrConflict when the id is one of another thread, or of one that was deleted
	PutConversation(conversation.Head) error
	// AdoptConversation gives a conversation that was put without a Thread to one, as its newest.
	// Without a Thread it is not found, and purged like one of a deleted thread.
	AdoptConversation(id, thread string) error
	RetireConversation(thread string) error // none of the thread is current any more
	// ids of records that have rows left and whose thread is gone, in order
	DeletedConversations(after string, limit int) (ids []string, err error)
	// PurgeConversations deletes rows of records whose thread is gone, about limit of them; more
	// says that there are others. Those that DeletedConversations lists go last, and of them only
	// ids: nothing else says which files a conversation had.
	PurgeConversations(ids []string, limit int) (more bool, err error)
	ConversationState(record string) (conversation.State, error)
	PutConversationState(record string, s conversation.State) error
	Ledger(record string) (conversation.Ledger, error)
	PutLedger(record string, l conversation.Ledger) error
	Extra(record string) (map[string]json.RawMessage, error)
	PutExtra(record string, extra map[string]json.RawMessage) error
}

type messageRows interface {
	AddMessage(record string, k conversation.Kept) (bytes int, err error) // how many its JSON has
	Messages(record string, r Range) ([]conversation.Kept, error)         // by Seq; ArchivedBy and Summary are not set
	AddCompaction(record string, a conversation.Archive) error
	LastCompaction(record string) (conversation.Archive, error)
	Compactions(record string, p Page) ([]conversation.Archive, error)
	// MessageBytes is what AddMessage said of the messages behind from up to to, together. It looks
	// at each of them.
	MessageBytes(record string, from, to int64) (int64, error)
}

type listRows interface {
	AddEntry(record string, e Item[conversation.Entry]) error
	Entries(record string, p Page) ([]Item[conversation.Entry], error)
	AddTrace(record string, e Item[conversation.TraceEntry]) error
	Traces(record string, p Page) ([]Item[conversation.TraceEntry], error)
	AddPrompt(record string, p Item[conversation.Prompt]) error
	Prompts(record string, p Page) ([]Item[conversation.Prompt], error)
	AddTurn(record string, t Item[conversation.Turn]) error
	Turns(record string, p Page) ([]Item[conversation.Turn], error)
}

type inboxRows interface {
	AddInbox(record string, m Item[string]) error
	Inbox(record string) ([]Item[string], error) // all that waits, in order
	// TakeInbox is all that waits, in order, which waits no longer.
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
