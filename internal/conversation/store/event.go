package store

// Types of the events that a conversation adds to its thread's stream. Source is the conversation's
// id, where nothing else is said.
const (
	Created            = "record.created"
	Imported           = "record.imported"
	MessageAdded       = "record.message"  // Version is its Seq, To its role
	StateChanged       = "record.state"    // Reason names the fields
	TimelineAdded      = "record.timeline" // Version is its Seq, To its kind, Reason its reason code
	TraceAdded         = "record.trace"    // Version is its Seq, To its stage
	LedgerReplaced     = "record.ledger"
	PromptAdded        = "record.prompt"    // Version is its Seq, To its workflow mode
	TurnAdded          = "record.turn"      // Version is its Seq
	CompactedEvent     = "record.compacted" // Version is the compaction's number
	Attached           = "record.attached"  // From and To are the types of the owners
	Cleared            = "record.cleared"   // From is the record before
	Steered            = "record.steered"   // Version is the Seq of the message
	PermissionsChanged = "permission.changed"
	PermissionDecided  = "permission.decided" // To is allow, deny or ask, Source the tool
	ApprovalDecided    = "approval.decided"
)
