package conversation

// What a view of a list shows, the newest. The lists themselves keep all.
const (
	MaxTimeline = 24
	MaxPrompts  = 16
)

// Bounds of what a conversation takes. More is refused with ErrTooLarge or ErrTooMany; nothing is
// cut off.
const (
	MaxImport       = 16 << 20 // bytes of a document that one request brings: it is in memory several times
	MaxMessageBytes = 8 << 20  // of one message in JSON: what a request may carry
	// of an entry, prompt, ledger, message to the inbox, or the state, in JSON: a view of them
	// all stays below MaxDocument
	MaxItemBytes   = 1 << 20
	MaxTurnBytes   = 8 << 20  // of a turn in JSON, which may repeat messages
	MaxRecordBytes = 64 << 20 // of the messages that are not archived, in JSON: their file stays below MaxDocument
	// messages or entries in one call: each is an event of the thread, of which some thousand are kept
	MaxAppend        = 256
	MaxMessages      = 1_000_000 // of a conversation, archived ones too
	MaxItems         = 100_000   // of every other list of a conversation
	MaxMail          = 256       // messages that wait in an inbox: a harness that never drains it is gone
	MaxConversations = 1000      // of a thread
	MaxOwner         = 128       // bytes of an owner's type
	MaxPage          = 1000      // rows that one question is answered with
	MaxPageBytes     = 32 << 20  // of JSON of these: more than a view of a list can have
)
