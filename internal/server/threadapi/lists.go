package threadapi

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

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

// timelineReply is the reply of GET …/timeline.
type timelineReply struct {
	First    int64                `json:"first_seq"`
	Timeline []conversation.Entry `json:"timeline"`
}

func (s *Service) getTimeline(c echo.Context) error {
	part, err := partOf(c, conversation.MaxTimeline)
	if err != nil {
		return err
	}
	return s.readConversation(c, func(m *store.Manager, thread, rid string) (any, error) {
		list, err := m.Timeline(thread, rid, part)
		return timelineReply{firstOf(list), valuesOf(list)}, err
	})
}

// entryFields is an entry that is decoded strictly.
type entryFields conversation.Entry

// postTimeline keeps keys that nobody knows, and refuses wrong types of those that are known.
func (s *Service) postTimeline(c echo.Context) error {
	return changeConversation(s, c, http.StatusCreated,
		func(m *store.Manager, thread string, req anyKeys) (any, error) {
			body, err := httpapi.Encode(req)
			if err != nil {
				return nil, err
			}
			if err := httpapi.Fits(body, new(entryFields)); err != nil {
				return nil, err
			}
			var e conversation.Entry
			if err := json.Unmarshal(body, &e); err != nil {
				return nil, err
			}
			added, err := m.AddTimeline(thread, []conversation.Entry{e})
			if err != nil {
				return nil, err
			}
			return wire.Seq{Seq: added[0].Seq}, nil
		})
}

func (s *Service) getTrace(c echo.Context) error {
	return s.readConversation(c, func(m *store.Manager, thread, rid string) (any, error) {
		list, derived, err := m.Trace(thread, rid)
		return wire.Trace{Derived: derived, CompletionTrace: httpapi.OrNone(list)}, err
	})
}

func (s *Service) postTrace(c echo.Context) error {
	return changeConversation(s, c, http.StatusCreated,
		func(m *store.Manager, thread string, req wire.TraceEntry) (any, error) {
			list, derived, err := m.AddTrace(thread, req)
			return wire.Trace{Derived: derived, CompletionTrace: httpapi.OrNone(list)}, err
		})
}

func (s *Service) getLedger(c echo.Context) error {
	return s.readConversation(c,
		func(m *store.Manager, thread, rid string) (any, error) { return m.Ledger(thread, rid) })
}

func (s *Service) putLedger(c echo.Context) error {
	return changeConversation(s, c, http.StatusOK,
		func(m *store.Manager, thread string, req wire.Ledger) (any, error) {
			return m.PutLedger(thread, req)
		})
}

func (s *Service) getPrompts(c echo.Context) error {
	part, err := partOf(c, conversation.MaxPrompts)
	if err != nil {
		return err
	}
	return s.readConversation(c, func(m *store.Manager, thread, rid string) (any, error) {
		list, err := m.Prompts(thread, rid, part)
		return wire.PromptList{FirstSeq: firstOf(list), Prompts: valuesOf(list)}, err
	})
}

func (s *Service) postPrompt(c echo.Context) error {
	return changeConversation(s, c, http.StatusCreated,
		func(m *store.Manager, thread string, req wire.Prompt) (any, error) {
			p, added, err := m.AddPrompt(thread, req)
			return wire.PromptAdded{Seq: p.Seq, Skipped: !added}, err
		})
}
