package threadapi

import (
	"slices"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// conversationRoutes are a thread's record: what the harness that drives it did. Those that read
// take ?record=ID for a conversation that is not the current one.
func (s *Service) conversationRoutes() []httpapi.Route {
	return slices.Concat(s.documentRoutes(), s.listRoutes(), s.driverRoutes())
}

// documentRoutes are about a whole record, its messages and its state.
func (s *Service) documentRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldGet("/api/threads/latest", s.getLatestConversation, "the thread whose record was changed last").
			Doc("getLatestRecord", "record", "The record that was changed last").
			Text("Of the current records of all threads. A thread that was called latest before the name was " +
				"reserved is replied itself.").
			Gives("RecordHead NoRecord NoCompute"),
		httpapi.OldGet("/api/threads/:id/record", s.getConversation,
			"the whole record; ?format=loader as its file has it").
			Doc("getRecord", "record", "The whole record").
			Params("record recordFormat").
			Gives("Record Invalid NoRecord NoCompute"),
		httpapi.OldPut("/api/threads/:id/record", s.putConversation,
			"import a record, as its file has it, as the current one").
			Doc("importRecord", "record", "Import a record").
			Text("It becomes the current one; the one before is kept. The same file again changes nothing.").
			Takes(wire.ImportRecord{}, "The file.").
			Gives("RecordHead Invalid NoRecord RecordExists TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/records", s.getConversations, "the records of a thread, newest first").
			Doc("listRecords", "record", "The records of a thread").
			Gives("RecordList NoRecord NoCompute"),
		httpapi.OldGet("/api/threads/:id/records/:rid", s.getConversation, "one of them, whole").
			Doc("getOneRecord", "record", "One of the records, whole").
			Params("recordFormat").
			Gives("Record Invalid NoRecord NoCompute"),
		httpapi.OldGet("/api/threads/:id/messages", s.getMessages,
			"the messages; ?archived=1 all that were ever appended; ?after=&limit=&newest=1").
			Doc("listMessages", "record", "The messages").
			Text("Those that are not archived, with the summary of the others before them; ?archived=1 gives every " +
				"message as it was appended.").
			Params("record afterSeq pageLimit newest archived").
			Gives("MessageList Invalid NoRecord NoCompute"),
		httpapi.OldPost("/api/threads/:id/messages", s.postMessages, "append a message, or several").
			Doc("appendMessages", "record", "Append messages").
			Text("The first user message is the current task unless there is one.").
			Takes(wire.AppendMessages{}, "What is said.").
			Gives("Appended Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/state", s.getState, "the record's state").
			Doc("getState", "record", "The record's state").
			Params("record").
			Gives("RecordState Invalid NoRecord NoCompute"),
		httpapi.OldPatch("/api/threads/:id/state", s.patchState, "change fields of the state: absent keeps, null clears").
			Doc("patchState", "record", "Change fields of the state").
			Text("An absent key keeps, null clears.").
			Takes(wire.PatchState{}, "What changes.").
			Gives("RecordState Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
	}
}

// listRoutes are about its lists.
func (s *Service) listRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldGet("/api/threads/:id/timeline", s.getTimeline,
			"the newest decisions; with ?after=&limit= all of them").
			Doc("getTimeline", "record", "The timeline").
			Text("The newest 24 entries; with after or limit all of them can be had.").
			Params("record afterSeq pageLimit newest").
			Gives("Timeline Invalid NoRecord NoCompute"),
		httpapi.OldPost("/api/threads/:id/timeline", s.postTimeline, "append a decision").
			Doc("appendTimeline", "record", "Append a decision").
			Takes(wire.TimelineEntry{}, "The decision.").
			Gives("SeqAdded Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/trace", s.getTrace,
			"the completion trace, projected from the timeline where that says it").
			Doc("getTrace", "record", "The completion trace").
			Text("Projected from the timeline as it is now when that has the last completion decision of the " +
				"state; else what was given.").
			Params("record").
			Gives("Trace Invalid NoRecord NoCompute"),
		httpapi.OldPost("/api/threads/:id/trace", s.postTrace, "append a step of the completion trace").
			Doc("appendTrace", "record", "Append a step of the trace").
			Text("While the timeline tells the trace nothing is kept.").
			Takes(wire.TraceEntry{}, "The step.").
			Gives("201 Trace Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/ledger", s.getLedger, "the ledger").
			Doc("getLedger", "record", "The ledger").
			Params("record").
			Gives("Ledger Invalid NoRecord NoCompute"),
		httpapi.OldPut("/api/threads/:id/ledger", s.putLedger, "replace the ledger").
			Doc("putLedger", "record", "Replace the ledger").
			Takes(wire.Ledger{}, "All of it.").
			Gives("Ledger Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/prompts", s.getPrompts, "the newest prompts; with ?after=&limit= all of them").
			Doc("listPrompts", "record", "The prompt history").
			Text("The newest 16; with after or limit all of them can be had.").
			Params("record afterSeq pageLimit newest").
			Gives("PromptList Invalid NoRecord NoCompute"),
		httpapi.OldPost("/api/threads/:id/prompts", s.postPrompt, "append a prompt; one like the newest is skipped").
			Doc("appendPrompt", "record", "Append a prompt").
			Text("One that repeats the newest in all but its time is skipped.").
			Takes(wire.Prompt{}, "The prompt.").
			Gives("PromptAdded Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/turns", s.getTurns, "the turns; ?after=&limit=&newest=1").
			Doc("listTurns", "record", "The turns").
			Params("record afterSeq pageLimit newest").
			Gives("TurnList Invalid NoRecord NoCompute"),
		httpapi.OldPost("/api/threads/:id/turns", s.postTurn, "append the summary of a turn").
			Doc("appendTurn", "record", "Append a turn").
			Takes(wire.AppendTurn{}, "The turn.").
			Gives("Turn Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/usage", s.getUsage, "the sum of what all turns used").
			Doc("getUsage", "record", "What all turns used").
			Params("record").
			Gives("Usage Invalid NoRecord NoCompute"),
		httpapi.OldGet("/api/threads/:id/compactions", s.getCompactions,
			"the compactions with their summaries; ?after=&limit=").
			Doc("listCompactions", "record", "The compactions").
			Params("record afterSeq pageLimit newest").
			Gives("CompactionList Invalid NoRecord NoCompute"),
	}
}

// driverRoutes are for who drives the thread.
func (s *Service) driverRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldPost("/api/threads/:id/compact", s.postCompact,
			"put older messages behind a summary if there is enough of them").
			Doc("compact", "record", "Put older messages behind a summary").
			Text("When they are worth it. Nothing is lost: ?archived=1 of the messages has them all.").
			MayTake(wire.Compact{}, "How.").
			Gives("Compacted Invalid NoRecord RecordExists TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/attach", s.postAttach,
			"say who drives the thread from now on, and get where it stands").
			Doc("attach", "record", "Say who drives the thread from now on").
			Takes(wire.Attach{}, "Who.").
			Gives("Attached Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/clear", s.postClear, "begin a new record; the old one is kept").
			Doc("clearRecord", "record", "Begin a new record").
			Text("The old one is kept and can be read by its id.").
			Gives("201 RecordHead Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/steer", s.postSteer, "leave a message for who drives the thread").
			Doc("steer", "record", "Leave a message for who drives the thread").
			Takes(wire.Steer{}, "The message.").
			Gives("SeqAdded Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/steer", s.getInbox, "the messages that wait; they go on waiting").
			Doc("listMail", "record", "The messages that wait").
			Text("They go on waiting.").
			Gives("Mail NoRecord NoCompute"),
		httpapi.OldPost("/api/threads/:id/steer/drain", s.postDrain, "take the messages that wait").
			Doc("drain", "record", "Take the messages that wait").
			Gives("Drained Invalid NoRecord TooLarge NotJSON NoCompute NoSpace"),
	}
}
