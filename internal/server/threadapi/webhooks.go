package threadapi

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

func (w *webhooks) post(ctx context.Context, in wire.ProviderRef) (wire.Matched, error) {
	c := httpapi.EchoOf(ctx)
	body, err := w.auth.ReadWebhook(c)
	if err != nil {
		return wire.Matched{}, err
	}
	if err := httpapi.CheckMediaType(c.Request()); err != nil {
		return wire.Matched{}, err
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return wire.Matched{}, httpapi.BadRequest("the body must be a JSON object")
	}
	h := hookOf(fields)
	matched, err := w.Threads.Observe(in.Provider, h.instance, h.kind, h.state, string(body))
	return wire.Matched{Matched: matched}, err
}

// hook is what a webhook tells, in whose words ever. What it does not say is "".
type hook struct{ instance, kind, state string }

// The names under which providers tell an instance, what happened and the state after it; the first
// that is there counts.
var (
	hookInstance = []string{"instance_id", "instanceId", "sandbox_id", "sandboxId", "sandboxID", "session_id",
		"sessionId", "SessionId", "id"}
	hookKind  = []string{"event_type", "eventType", "type", "event"}
	hookState = []string{"state", "status", "newState", "new_state", "Status"}
	hookInner = []string{"data", "eventData", "event_data", "payload"} // objects in which the rest may be
)

// hookWords are ends of event types that say a state by themselves.
var hookWords = map[string]thread.Observed{
	"created": thread.Running, "started": thread.Running, "resumed": thread.Running, "running": thread.Running,
	"paused": thread.Frozen, "killed": thread.Dead, "deleted": thread.Dead, "destroyed": thread.Dead,
}

// hookOf reads the object of a webhook leniently: providers change what they send, and what is not
// understood makes the next use of the instance ask.
func hookOf(fields map[string]any) hook {
	from := []map[string]any{fields}
	for _, name := range hookInner {
		if inner, ok := fields[name].(map[string]any); ok {
			from = append(from, inner)
		}
	}
	h := hook{kind: textOf(from, hookKind), state: textOf(from, hookState)}
	ids := hookInstance[:len(hookInstance)-1]
	if h.instance = textOf(from, ids); h.instance == "" {
		h.instance = textOf(from, hookInstance) // "id" alone may be the event's
	}
	if h.state == "" {
		h.state = string(hookWords[h.kind[strings.LastIndexByte(h.kind, '.')+1:]])
	}
	return h
}

func textOf(from []map[string]any, names []string) string {
	for _, fields := range from {
		for _, name := range names {
			if text, ok := fields[name].(string); ok && text != "" {
				return text
			}
		}
	}
	return ""
}

func (w *webhooks) list(_ context.Context, in wire.ListWebhooks) (wire.HookEvents, error) {
	list, err := w.Threads.ProviderEvents(in.Limit)
	return wire.HookEvents{Events: wired[wire.HookEvent](list)}, err
}
