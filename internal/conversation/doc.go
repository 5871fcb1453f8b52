// Package conversation is what the harness that drives a thread did, as data: messages, state,
// timeline, ledger, prompts and turns, their limits, and the rules that need no store (the
// summary of a compaction, the completion trace, the form of a file). Package store keeps it.
//
//	Thread (package thread)
//	 └─ Record   one conversation; one of them is current, clear makes a new one and keeps the old
//	     ├─ State       one flat document, changed field by field
//	     ├─ Messages    numbered from 1, never deleted: a compaction archives them behind a summary
//	     ├─ Timeline    what was decided; the completion trace is projected from it
//	     ├─ Ledger, Prompts, Turns, Inbox
//	     └─ a file      DIR/ID.json in the form of Document, with its last three rotations
//
// All words (kinds, stages, codes, statuses, phases) are open strings. They come back as they
// were given, and so do times and numbers.
package conversation
