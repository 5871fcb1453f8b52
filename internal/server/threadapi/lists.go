package threadapi

import (
	"context"
	"encoding/json"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// valuesOf is a list as it was given.
func valuesOf[T any](items []store.Item[T]) []T {
	list := make([]T, 0, len(items))
	for _, it := range items {
		list = append(list, it.Value)
	}
	return list
}

// firstOf is the number of the first of a part of a list, 0 of an empty one; the others follow
// without a gap.
func firstOf[T any](items []store.Item[T]) int64 {
	if len(items) == 0 {
		return 0
	}
	return items[0].Seq
}

func (r *records) getTimeline(_ context.Context, in wire.ListOfRecord) (wire.Timeline, error) {
	return read(r.Base, in.RecordRef, func(m *store.Conversations, thread, rid string) (wire.Timeline, error) {
		list, err := m.Timeline(thread, rid, pageOf(in.Part, conversation.MaxTimeline))
		if err != nil {
			return wire.Timeline{}, err
		}
		entries, err := encoded(valuesOf(list))
		return wire.Timeline{FirstSeq: firstOf(list), Timeline: entries}, err
	})
}

// entryFields is an entry that is decoded strictly.
type entryFields conversation.Entry

// appendTimeline keeps unknown keys, and refuses wrong types of known ones.
func (r *records) appendTimeline(ctx context.Context, in wire.ThreadRef) (wire.Seq, error) {
	body, err := encodedBody(ctx)
	if err != nil {
		return wire.Seq{}, err
	}
	return write(ctx, r.Base, in, func(m *store.Conversations, thread string) (wire.Seq, error) {
		if err := httpapi.Fits(body, new(entryFields)); err != nil {
			return wire.Seq{}, err
		}
		var e conversation.Entry
		if err := json.Unmarshal(body, &e); err != nil {
			return wire.Seq{}, err
		}
		added, err := m.AddEntry(thread, e)
		return wire.Seq{Seq: added.Seq}, err
	})
}

func (r *records) getTrace(_ context.Context, in wire.RecordRef) (wire.Trace, error) {
	return read(r.Base, in, func(m *store.Conversations, thread, rid string) (wire.Trace, error) {
		list, derived, err := m.Trace(thread, rid)
		return wire.Trace{Derived: derived, CompletionTrace: httpapi.OrNone(list)}, err
	})
}

func (r *records) appendTrace(ctx context.Context, in wire.AddTrace) (wire.Trace, error) {
	return write(ctx, r.Base, in.ThreadRef, func(m *store.Conversations, thread string) (wire.Trace, error) {
		list, derived, err := m.AddTrace(thread, in.TraceEntry)
		return wire.Trace{Derived: derived, CompletionTrace: httpapi.OrNone(list)}, err
	})
}

func (r *records) getLedger(_ context.Context, in wire.RecordRef) (wire.Ledger, error) {
	return read(r.Base, in, (*store.Conversations).Ledger)
}

func (r *records) putLedger(ctx context.Context, in wire.PutLedger) (wire.Ledger, error) {
	return write(ctx, r.Base, in.ThreadRef, func(m *store.Conversations, thread string) (wire.Ledger, error) {
		return m.PutLedger(thread, in.Ledger)
	})
}

func (r *records) listPrompts(_ context.Context, in wire.ListOfRecord) (wire.PromptList, error) {
	return read(r.Base, in.RecordRef, func(m *store.Conversations, thread, rid string) (wire.PromptList, error) {
		list, err := m.Prompts(thread, rid, pageOf(in.Part, conversation.MaxPrompts))
		return wire.PromptList{FirstSeq: firstOf(list), Prompts: valuesOf(list)}, err
	})
}

func (r *records) appendPrompt(ctx context.Context, in wire.AddPrompt) (wire.PromptAdded, error) {
	return write(ctx, r.Base, in.ThreadRef, func(m *store.Conversations, thread string) (wire.PromptAdded, error) {
		p, added, err := m.AddPrompt(thread, in.Prompt)
		return wire.PromptAdded{Seq: p.Seq, Skipped: !added}, err
	})
}
