package threadapi

import (
	"net/http"
	"slices"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// Replies that are written by hand: they have keys that only the harness knows, or leave out what is not there.
var (
	recordHead = httpapi.Reply{Status: http.StatusOK, JSON: []any{wire.RecordHead{}}}
	record     = httpapi.Reply{Status: http.StatusOK, JSON: []any{wire.Record{}}}
)

// routes are about what the harness that drives a thread did. What reads takes ?record=ID for a
// conversation that is not the current one.
func (r *records) routes() []httpapi.Route {
	return slices.Concat(r.documentRoutes(), r.listRoutes(), r.driverRoutes())
}

// documentRoutes are about a whole record, its messages and its state.
func (r *records) documentRoutes() []httpapi.Route {
	return httpapi.Group(
		"record",
		httpapi.Hand(http.MethodGet, "getLatestRecord", "/api/threads/latest", "The record that was changed last",
			r.getLatestRecord, recordHead).
			Text("Of the current records of all threads. A thread that was called latest before the name was "+
				"reserved is replied itself.").
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Hand(http.MethodGet, "getRecord", "/api/threads/:id/record", "The whole record", r.getRecord, record).
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Put("importRecord", "/api/threads/:id/record", "Import a record", r.importRecord).
			Text("It becomes the current one; the one before is kept. The same file again changes nothing.").
			Reads(wire.ImportRecord{}, "The file.").
			UpTo(conversation.MaxImport).
			Refusing(httpapi.NoRecord, httpapi.RecordExists, httpapi.NoCompute, httpapi.NoSpace).
			Audited(httpapi.NotAudited),
		httpapi.Get("listRecords", "/api/threads/:id/records", "The records of a thread", r.listRecords).
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Hand(http.MethodGet, "getOneRecord", "/api/threads/:id/records/:rid", "One of the records, whole",
			r.getOneRecord, record).
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Get("listMessages", "/api/threads/:id/messages", "The messages", r.listMessages).
			Text("Those that are not archived, with the summary of the others before them; ?archived=1 gives every "+
				"message as it was appended.").
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Post("appendMessages", "/api/threads/:id/messages", "Append messages", r.appendMessages).
			Text("The first user message is the current task unless there is one.").
			Body("What is said.").
			UpTo(maxRecordBody).Status(http.StatusCreated, "").
			Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).Audited(httpapi.NotAudited),
		httpapi.Get("getState", "/api/threads/:id/state", "The record's state", r.getState).
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Patch("patchState", "/api/threads/:id/state", "Change fields of the state", r.patchState).
			Text("An absent key keeps, null clears.").
			Reads(wire.PatchState{}, "What changes.").
			UpTo(maxRecordBody).Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).
			Audited(httpapi.NotAudited),
	)
}

// listRoutes are about its lists.
func (r *records) listRoutes() []httpapi.Route {
	return httpapi.Group(
		"record",
		httpapi.Get("getTimeline", "/api/threads/:id/timeline", "The timeline", r.getTimeline).
			Text("The newest 24 entries; with after or limit all of them can be had.").
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Post("appendTimeline", "/api/threads/:id/timeline", "Append a decision", r.appendTimeline).
			Reads(wire.TimelineEntry{}, "The decision.").
			UpTo(maxRecordBody).Status(http.StatusCreated, "").
			Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).Audited(httpapi.NotAudited),
		httpapi.Get("getTrace", "/api/threads/:id/trace", "The completion trace", r.getTrace).
			Text("Projected from the timeline as it is now when that has the last completion decision of the "+
				"state; else what was given.").
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Post("appendTrace", "/api/threads/:id/trace", "Append a step of the trace", r.appendTrace).
			Text("While the timeline tells the trace nothing is kept.").
			Body("The step.").
			UpTo(maxRecordBody).Status(http.StatusCreated, "").
			Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).Audited(httpapi.NotAudited),
		httpapi.Get("getLedger", "/api/threads/:id/ledger", "The ledger", r.getLedger).
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Put("putLedger", "/api/threads/:id/ledger", "Replace the ledger", r.putLedger).
			Body("All of it.").
			UpTo(maxRecordBody).Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).
			Audited(httpapi.NotAudited),
		httpapi.Get("listPrompts", "/api/threads/:id/prompts", "The prompt history", r.listPrompts).
			Text("The newest 16; with after or limit all of them can be had.").
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Post("appendPrompt", "/api/threads/:id/prompts", "Append a prompt", r.appendPrompt).
			Text("One that repeats the newest in all but its time is skipped.").
			Body("The prompt.").
			UpTo(maxRecordBody).Status(http.StatusCreated, "It is kept, or was the newest already.").
			Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).Audited(httpapi.NotAudited),
		httpapi.Get("listTurns", "/api/threads/:id/turns", "The turns", r.listTurns).
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Post("appendTurn", "/api/threads/:id/turns", "Append a turn", r.appendTurn).
			Body("The turn.").
			UpTo(maxRecordBody).Status(http.StatusCreated, "The turn as it is kept.").
			Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).Audited(httpapi.NotAudited),
		httpapi.Get("getUsage", "/api/threads/:id/usage", "What all turns used", r.getUsage).
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Get("listCompactions", "/api/threads/:id/compactions", "The compactions", r.listCompactions).
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
	)
}

// driverRoutes are for who drives the thread.
func (r *records) driverRoutes() []httpapi.Route {
	return httpapi.Group(
		"record",
		httpapi.Post("compact", "/api/threads/:id/compact", "Put older messages behind a summary", r.compact).
			Text("When they are worth it. Nothing is lost: ?archived=1 of the messages has them all.").
			OptionalBody("How.").
			Refusing(httpapi.NoRecord, httpapi.RecordExists, httpapi.NoCompute, httpapi.NoSpace).
			Audited(httpapi.NotAudited),
		httpapi.Post("attach", "/api/threads/:id/attach", "Say who drives the thread from now on", r.attach).
			Body("Who.").
			UpTo(maxRecordBody).Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).
			Audited(httpapi.NotAudited),
		httpapi.Post("clearRecord", "/api/threads/:id/clear", "Begin a new record", r.clearRecord).
			Text("The old one is kept and can be read by its id.").
			Status(http.StatusCreated, "").Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).
			Audited(httpapi.NotAudited),
		httpapi.Post("steer", "/api/threads/:id/steer", "Leave a message for who drives the thread", r.steer).
			Body("The message.").
			UpTo(maxRecordBody).Status(http.StatusCreated, "").
			Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).Audited(httpapi.NotAudited),
		httpapi.Get("listMail", "/api/threads/:id/steer", "The messages that wait", r.listMail).
			Text("They go on waiting.").
			Refusing(httpapi.NoRecord, httpapi.NoCompute),
		httpapi.Post("drain", "/api/threads/:id/steer/drain", "Take the messages that wait", r.drain).
			Refusing(httpapi.NoRecord, httpapi.NoCompute, httpapi.NoSpace).Audited(httpapi.NotAudited),
	)
}
