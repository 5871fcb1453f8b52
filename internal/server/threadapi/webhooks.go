package threadapi

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// maxHookEvents is how many events GET /api/webhooks/events tells unless asked otherwise.
const maxHookEvents = 100

func (s *Service) postWebhook(c echo.Context) error {
	body, err := s.Auth.ReadWebhook(c)
	if err != nil {
		return err
	}
	if err := httpapi.CheckMediaType(c.Request()); err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return httpapi.BadRequest("the body must be a JSON object")
	}
	h := hookOf(fields)
	matched, err := s.Threads.Observe(c.Param("provider"), h.instance, h.kind, h.state, string(body))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusAccepted, wire.Matched{Matched: matched})
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

func (s *Service) getWebhookEvents(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	limit, err := httpapi.NumberOf(c, "limit", 1, maxRows, maxHookEvents)
	if err != nil {
		return err
	}
	list, err := s.Threads.ProviderEvents(int(limit))
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, wire.HookEvents{Events: wired(list)})
}
