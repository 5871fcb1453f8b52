package threadapi

import (
	"context"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

func (r *records) listMessages(_ context.Context, in wire.ListMessages) (wire.MessageList, error) {
	q := store.MessageQuery{Limit: conversation.MaxPage, Newest: in.Newest, Archived: in.Archived}
	if in.After != nil {
		q.After = *in.After
	}
	if in.Limit != nil {
		q.Limit = *in.Limit
	}
	return read(r.Base, in.RecordRef, func(m *store.Conversations, thread, rid string) (wire.MessageList, error) {
		list, next, err := m.MessagesPart(thread, rid, q)
		if err != nil {
			return wire.MessageList{}, err
		}
		h, err := m.Head(thread, rid)
		reply := wire.MessageList{ThreadID: thread, Messages: wired[wire.KeptMessage](list), Next: next}
		if h.SessionID != "" {
			reply.SessionID = &h.SessionID
		}
		return reply, err
	})
}

// messagesOf are the messages to append.
func messagesOf(r wire.AppendMessages) ([]wire.Message, error) {
	one := wire.Message{Role: r.Role, Content: r.Content, ToolCalls: r.ToolCalls, ToolResults: r.ToolResults}
	switch given := one.Role != "" || one.Content != "" || one.ToolCalls != nil || one.ToolResults != nil; {
	case r.Messages == nil:
		return []wire.Message{one}, nil
	case given:
		return nil, httpapi.BadRequest(`either one message with "role" and "content", or several in "messages"`)
	}
	return r.Messages, nil
}

func (r *records) appendMessages(ctx context.Context, in wire.AppendMessages) (wire.Appended, error) {
	return write(ctx, r.Base, in.ThreadRef, func(m *store.Conversations, thread string) (wire.Appended, error) {
		list, err := messagesOf(in)
		if err != nil {
			return wire.Appended{}, err
		}
		kept, err := m.Append(thread, list)
		if err != nil {
			return wire.Appended{}, err
		}
		reply := wire.Appended{Messages: make([]wire.AppendedMessage, 0, len(kept))}
		for _, k := range kept {
			reply.Seq = k.Seq
			reply.Messages = append(reply.Messages, wire.AppendedMessage{Seq: k.Seq, CreatedAt: k.At})
		}
		return reply, nil
	})
}

func (r *records) listCompactions(_ context.Context, in wire.ListOfRecord) (wire.CompactionList, error) {
	return read(r.Base, in.RecordRef, func(m *store.Conversations, thread, rid string) (wire.CompactionList, error) {
		list, err := m.Compactions(thread, rid, pageOf(in.Part, conversation.MaxPage))
		return wire.CompactionList{Compactions: httpapi.OrNone(list)}, err
	})
}

func (r *records) compact(_ context.Context, in wire.Compact) (wire.Compacted, error) {
	if in.KeepLast < 0 || in.Threshold < 0 || in.ContextWindow < 0 {
		return wire.Compacted{}, httpapi.BadRequest("keep_last %d, threshold %d, context_window %d: each is 0, "+
			"for the default, or more", in.KeepLast, in.Threshold, in.ContextWindow)
	}
	m, err := r.Threads.ReadConversation(in.Thread)
	if err != nil {
		return wire.Compacted{}, err
	}
	a, ok, err := m.Compact(in.Thread, conversation.CompactOptions{Threshold: in.Threshold,
		ContextWindow: in.ContextWindow, Keep: in.KeepLast, Summary: in.Summary})
	if err != nil {
		return wire.Compacted{}, err
	}
	reply := wire.Compacted{Compacted: ok}
	if ok {
		reply.Archive = &a
	}
	return reply, nil
}

func turnOf(r wire.AppendTurn) wire.Turn {
	return wire.Turn{FinalResponse: r.FinalResponse, AssistantMessages: r.AssistantMessages,
		ToolResultMessages: r.ToolResultMessages, Iterations: r.Iterations,
		ToolCalls: r.ToolCalls, Failures: r.Failures, VerificationStatus: r.VerificationStatus, Trace: r.Trace,
		DefinitionOfDone: r.DefinitionOfDone, WorkflowMode: r.WorkflowMode}
}

func (r *records) appendTurn(ctx context.Context, in wire.AddTurn) (wire.Turn, error) {
	return write(ctx, r.Base, in.ThreadRef, func(m *store.Conversations, thread string) (wire.Turn, error) {
		return m.AddTurn(thread, turnOf(in.AppendTurn), in.Usage)
	})
}

func (r *records) listTurns(_ context.Context, in wire.ListOfRecord) (wire.TurnList, error) {
	return read(r.Base, in.RecordRef, func(m *store.Conversations, thread, rid string) (wire.TurnList, error) {
		list, err := m.Turns(thread, rid, pageOf(in.Part, conversation.MaxPage))
		return wire.TurnList{Turns: valuesOf(list)}, err
	})
}
