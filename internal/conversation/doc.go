// Package conversation keeps what the harness that drives a thread did: its messages, its state, the timeline of its decisions, its ledger, prompts, turns and
// mailbox, and the permissions under which the thread's terminals may be used.
//
//	Thread (package session)
//	 └─ Record   one conversation; one of them is current, clear makes a new one and keeps the old
//	     ├─ State       one flat document, changed field by field
//	     ├─ Messages    numbered from 1, never deleted: a compaction archives them behind a summary
//	     ├─ Timeline    what was decided; the completion trace is projected from it
//	     ├─ Ledger, Prompts, Turns, Mailbox
//	     └─ a file      DIR/ID.json in the form of Document, with its last three rotations
//
// The Store is the truth. The files are a copy that other programs read (the keys of a Loader record, version 11) and that survives the loss of the
// database. All words (kinds, stages, codes, statuses, phases) are open strings and come back as they were given, and so do times and numbers.
//
// Manager joins them and is safe for concurrent use.
package conversation
