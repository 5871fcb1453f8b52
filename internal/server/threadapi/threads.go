package threadapi

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/wire"
)

// threadMessages is how many messages GET /api/threads/:id has: a screen of them; …/messages has all.
const threadMessages = 100

func (t *threads) listThreads(ctx context.Context, in wire.ListThreads) (wire.ThreadList, error) {
	list, next, err := t.Threads.ListThreads(ctx, httpapi.SpaceOf(ctx), in.After, in.Limit)
	return wire.ThreadList{Threads: wired[wire.Thread](list), Next: next}, err
}

func (t *threads) createThread(ctx context.Context, in wire.CreateThread) (wire.Thread, error) {
	use := thread.Use{Provider: in.Sandbox, Lease: in.LeaseID}
	if in.Policy != nil {
		p, err := t.Threads.DefaultPolicy().With(*in.Policy)
		if err != nil {
			return wire.Thread{}, httpapi.BadRequest("the policy: %s", err).WithField("policy")
		}
		use.Policy = &p
	}
	if err := checkCompute(ctx, t.Base, in.Sandbox); err != nil {
		return wire.Thread{}, err
	}
	l, err := t.Threads.CreateThread(ctx, in.ID, use)
	if err != nil {
		return wire.Thread{}, err
	}
	auth.SetTarget(ctx, l.Thread.ID)
	return l.Wire(), nil
}

// checkCompute asks the server's permissions about compute of a provider.
func checkCompute(ctx context.Context, b *httpapi.Base, provider string) error {
	if provider == "" || provider == thread.Local {
		return nil
	}
	return b.Check(ctx, "", permission.ToolLeaseCreate, permission.ProviderArgs{Provider: provider})
}

// getThread is a thread with the newest messages of its conversation. Looking is no activity.
func (t *threads) getThread(ctx context.Context, in wire.ThreadRef) (wire.Thread, error) {
	l, err := t.Threads.Thread(ctx, in.Thread)
	if err != nil {
		return wire.Thread{}, err
	}
	reply := l.Wire()
	messages, omitted, err := t.lastMessages(l.Thread.ID)
	reply.Messages, reply.MessagesOmitted = messages, new(uint64(omitted))
	return reply, err
}

func (t *threads) deleteThread(ctx context.Context, in wire.ThreadRef) (wire.Done, error) {
	if err := t.Threads.CheckEnd(ctx, in.Thread); err != nil {
		return wire.Done{}, err
	}
	return httpapi.Done, t.Threads.DeleteThread(lasting(ctx), in.Thread)
}

// lastMessages are the newest messages of a thread's record, none when it has no conversation, and
// how many there are before them.
func (t *threads) lastMessages(thread string) (texts []json.RawMessage, omitted int64, err error) {
	m, err := t.Threads.ReadConversation(thread)
	if errors.Is(err, service.ErrNoStore) {
		return []json.RawMessage{}, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	list, err := m.Messages(thread, "", store.MessageQuery{Limit: threadMessages, Newest: true})
	if err != nil {
		return nil, 0, err
	}
	if texts, err = encoded(list); err != nil || len(list) == 0 || list[0].Summary {
		return texts, 0, err
	}
	h, err := m.Head(thread, "")
	return texts, max(list[0].Seq-1-h.Archived, 0) + min(h.Archived, 1), err
}

func (t *threads) getThreadSession(ctx context.Context, in wire.ThreadRef) (wire.ThreadSession, error) {
	l, err := t.Threads.Thread(ctx, in.Thread)
	return layers(l, err, thread.Layers.WireSession)
}

func (t *threads) getThreadLease(ctx context.Context, in wire.ThreadRef) (wire.Lease, error) {
	l, err := t.Threads.Thread(ctx, in.Thread)
	return layers(l, err, thread.Layers.WireLease)
}

func (t *threads) getThreadTerminal(ctx context.Context, in wire.GetThreadTerminal) (wire.ThreadTerminal, error) {
	if err := auth.CheckSecrets(ctx, in.Secrets); err != nil {
		return wire.ThreadTerminal{}, err
	}
	l, err := t.Threads.Thread(ctx, in.Thread)
	if err != nil {
		return wire.ThreadTerminal{}, err
	}
	return shownTerminal(l, in.ShowSecrets), nil
}

func (t *threads) listThreadTerminals(ctx context.Context, in wire.ListThreadTerminals) (wire.ThreadTerminals, error) {
	list, next, err := t.Threads.ThreadTerminals(ctx, in.Thread, in.After, in.Limit)
	if err == nil {
		err = auth.CheckSecrets(ctx, in.Secrets)
	}
	for i := range list {
		if !in.Secrets {
			list[i].EnvDelta = thread.HideSecrets(list[i].EnvDelta)
		}
	}
	return wire.ThreadTerminals{Terminals: httpapi.OrNone(list), Next: next}, err
}

func (t *threads) listThreadCommands(ctx context.Context, in wire.ListThreadCommands) (wire.ThreadCommands, error) {
	list, err := t.Threads.ThreadCommands(ctx,
		thread.CommandQuery{Thread: in.Thread, Terminal: in.Terminal, Before: in.Before, Limit: in.Limit})
	return wire.ThreadCommands{Commands: wired[wire.ThreadCommand](list)}, err
}
