package server

import "net/http"

// recordRoutes are a thread's record: what the harness that drives it did. Those that read take ?record=ID for a record that is not the current one.
func (s *Server) recordRoutes() []route {
	return []route{
		{http.MethodGet, "/api/threads/latest", s.getLatestRecord, false, false, "the thread whose record was changed last"},
		{http.MethodGet, "/api/threads/:id/record", s.getRecord, false, false, "the whole record; ?format=loader as its file has it"},
		{http.MethodPut, "/api/threads/:id/record", s.putRecord, true, false, "import a record, as its file has it, as the current one"},
		{http.MethodGet, "/api/threads/:id/records", s.getRecords, false, false, "the records of a thread, newest first"},
		{http.MethodGet, "/api/threads/:id/records/:rid", s.getRecord, false, false, "one of them, whole"},
		{http.MethodGet, "/api/threads/:id/messages", s.getMessages, false, false, "the messages; ?archived=1 all that were ever appended; ?after=&limit=&newest=1"},
		{http.MethodPost, "/api/threads/:id/messages", s.postMessages, true, false, "append a message, or several"},
		{http.MethodGet, "/api/threads/:id/state", s.getState, false, false, "the record's state"},
		{http.MethodPatch, "/api/threads/:id/state", s.patchState, true, false, "change fields of the state: absent keeps, null clears"},
		{http.MethodGet, "/api/threads/:id/timeline", s.getTimeline, false, false, "the newest decisions; with ?after=&limit= all of them"},
		{http.MethodPost, "/api/threads/:id/timeline", s.postTimeline, true, false, "append a decision"},
		{http.MethodGet, "/api/threads/:id/trace", s.getTrace, false, false, "the completion trace, projected from the timeline where that says it"},
		{http.MethodPost, "/api/threads/:id/trace", s.postTrace, true, false, "append a step of the completion trace"},
		{http.MethodGet, "/api/threads/:id/ledger", s.getLedger, false, false, "the ledger"},
		{http.MethodPut, "/api/threads/:id/ledger", s.putLedger, true, false, "replace the ledger"},
		{http.MethodGet, "/api/threads/:id/prompts", s.getPrompts, false, false, "the newest prompts; with ?after=&limit= all of them"},
		{http.MethodPost, "/api/threads/:id/prompts", s.postPrompt, true, false, "append a prompt; one like the newest is skipped"},
		{http.MethodGet, "/api/threads/:id/turns", s.getTurns, false, false, "the turns; ?after=&limit=&newest=1"},
		{http.MethodPost, "/api/threads/:id/turns", s.postTurn, true, false, "append the summary of a turn"},
		{http.MethodGet, "/api/threads/:id/usage", s.getUsage, false, false, "the sum of what all turns used"},
		{http.MethodGet, "/api/threads/:id/compactions", s.getCompactions, false, false, "the compactions with their summaries; ?after=&limit="},
		{http.MethodPost, "/api/threads/:id/compact", s.postCompact, true, false, "put older messages behind a summary if there is enough of them"},
		{http.MethodPost, "/api/threads/:id/attach", s.postAttach, true, false, "say who drives the thread from now on, and get where it stands"},
		{http.MethodPost, "/api/threads/:id/clear", s.postClear, true, false, "begin a new record; the old one is kept"},
		{http.MethodPost, "/api/threads/:id/steer", s.postSteer, true, false, "leave a message for who drives the thread"},
		{http.MethodGet, "/api/threads/:id/steer", s.getMail, false, false, "the messages that wait; they go on waiting"},
		{http.MethodPost, "/api/threads/:id/steer/drain", s.postDrain, true, false, "take the messages that wait"},
	}
}
