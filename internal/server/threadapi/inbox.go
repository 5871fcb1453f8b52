package threadapi

import (
	"context"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/wire"
)

func (r *records) attach(ctx context.Context, in wire.Attach) (wire.Attached, error) {
	return changed(ctx, in.ThreadRef, r.Threads.ChangeConversation,
		func(m *store.Conversations, thread string) (wire.Attached, error) {
			state, err := m.Attach(thread, in.OwnerType)
			if err != nil {
				return wire.Attached{}, err
			}
			h, err := m.Head(thread, "")
			if err != nil {
				return wire.Attached{}, err
			}
			reply := wire.Attached{SessionID: h.SessionID, ThreadID: thread, RecordState: state}
			turns, err := m.Turns(thread, h.SessionID, store.Page{Limit: 1, Newest: true})
			if len(turns) == 1 {
				reply.LastTurnSummary = &turns[0].Value
			}
			return reply, err
		})
}

func (r *records) clearRecord(ctx context.Context, in wire.ThreadRef) (wire.RecordHead, error) {
	return changed(ctx, in, r.Threads.ChangeConversation,
		func(m *store.Conversations, thread string) (wire.RecordHead, error) {
			h, err := m.Clear(thread)
			return h.Wire(), err
		})
}

func (r *records) steer(ctx context.Context, in wire.Steer) (wire.Seq, error) {
	return write(ctx, r.Base, in.ThreadRef, func(m *store.Conversations, thread string) (wire.Seq, error) {
		it, err := m.Enqueue(thread, in.Message)
		return wire.Seq{Seq: it.Seq}, err
	})
}

func (r *records) drain(ctx context.Context, in wire.ThreadRef) (wire.Drained, error) {
	return changed(ctx, in, r.Threads.ChangeConversation,
		func(m *store.Conversations, thread string) (wire.Drained, error) {
			list, err := m.Dequeue(thread)
			return wire.Drained{Messages: valuesOf(list)}, err
		})
}

// listMail only looks: the messages go on waiting.
func (r *records) listMail(_ context.Context, in wire.ThreadRef) (wire.Mail, error) {
	ref := wire.RecordRef{ThreadRef: in}
	return read(r.Base, ref, func(m *store.Conversations, thread, _ string) (wire.Mail, error) {
		list, err := m.Inbox(thread)
		reply := wire.Mail{Messages: make([]wire.WaitingMessage, 0, len(list))}
		for _, it := range list {
			reply.Messages = append(reply.Messages,
				wire.WaitingMessage{Seq: it.Seq, CreatedAt: it.At, Message: it.Value})
		}
		return reply, err
	})
}
