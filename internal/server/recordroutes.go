package server

import (
	"github.com/evertty/evertty/internal/server/httpapi"
)

// recordRoutes are a thread's record: what the harness that drives it did. Those that read take ?record=ID for a record that is not the current one.
func (s *Server) recordRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Get("/api/threads/latest", s.getLatestRecord, "the thread whose record was changed last"),
		httpapi.Get("/api/threads/:id/record", s.getRecord, "the whole record; ?format=loader as its file has it"),
		httpapi.Put("/api/threads/:id/record", s.putRecord, "import a record, as its file has it, as the current one"),
		httpapi.Get("/api/threads/:id/records", s.getRecords, "the records of a thread, newest first"),
		httpapi.Get("/api/threads/:id/records/:rid", s.getRecord, "one of them, whole"),
		httpapi.Get("/api/threads/:id/messages", s.getMessages, "the messages; ?archived=1 all that were ever appended; ?after=&limit=&newest=1"),
		httpapi.Post("/api/threads/:id/messages", s.postMessages, "append a message, or several"),
		httpapi.Get("/api/threads/:id/state", s.getState, "the record's state"),
		httpapi.Patch("/api/threads/:id/state", s.patchState, "change fields of the state: absent keeps, null clears"),
		httpapi.Get("/api/threads/:id/timeline", s.getTimeline, "the newest decisions; with ?after=&limit= all of them"),
		httpapi.Post("/api/threads/:id/timeline", s.postTimeline, "append a decision"),
		httpapi.Get("/api/threads/:id/trace", s.getTrace, "the completion trace, projected from the timeline where that says it"),
		httpapi.Post("/api/threads/:id/trace", s.postTrace, "append a step of the completion trace"),
		httpapi.Get("/api/threads/:id/ledger", s.getLedger, "the ledger"),
		httpapi.Put("/api/threads/:id/ledger", s.putLedger, "replace the ledger"),
		httpapi.Get("/api/threads/:id/prompts", s.getPrompts, "the newest prompts; with ?after=&limit= all of them"),
		httpapi.Post("/api/threads/:id/prompts", s.postPrompt, "append a prompt; one like the newest is skipped"),
		httpapi.Get("/api/threads/:id/turns", s.getTurns, "the turns; ?after=&limit=&newest=1"),
		httpapi.Post("/api/threads/:id/turns", s.postTurn, "append the summary of a turn"),
		httpapi.Get("/api/threads/:id/usage", s.getUsage, "the sum of what all turns used"),
		httpapi.Get("/api/threads/:id/compactions", s.getCompactions, "the compactions with their summaries; ?after=&limit="),
		httpapi.Post("/api/threads/:id/compact", s.postCompact, "put older messages behind a summary if there is enough of them"),
		httpapi.Post("/api/threads/:id/attach", s.postAttach, "say who drives the thread from now on, and get where it stands"),
		httpapi.Post("/api/threads/:id/clear", s.postClear, "begin a new record; the old one is kept"),
		httpapi.Post("/api/threads/:id/steer", s.postSteer, "leave a message for who drives the thread"),
		httpapi.Get("/api/threads/:id/steer", s.getMail, "the messages that wait; they go on waiting"),
		httpapi.Post("/api/threads/:id/steer/drain", s.postDrain, "take the messages that wait"),
	}
}
