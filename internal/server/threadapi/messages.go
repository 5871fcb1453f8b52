package threadapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// messagesReply is the reply of GET …/messages. Next is the `after` of the next part, absent at the
// end.
type messagesReply struct {
	Thread   string              `json:"thread_id"`
	Record   *string             `json:"session_id"` // null: nobody has written one yet
	Messages []conversation.Kept `json:"messages"`
	Next     int64               `json:"next,omitempty"`
}

func (s *Service) getMessages(c echo.Context) error {
	q, err := messageQuery(c)
	if err != nil {
		return err
	}
	return s.readConversation(c, func(m *store.Manager, thread, rid string) (any, error) {
		list, next, err := m.MessagesPart(thread, rid, q)
		if err != nil {
			return nil, err
		}
		h, err := m.Head(thread, rid)
		reply := messagesReply{Thread: thread, Messages: httpapi.OrNone(list), Next: next}
		if h.SessionID != "" {
			reply.Record = &h.SessionID
		}
		return reply, err
	})
}

func messageQuery(c echo.Context) (q store.MessageQuery, err error) {
	if q.After, err = httpapi.NumberOf(c, "after", 0, httpapi.MaxNumber, 0); err != nil {
		return q, err
	}
	limit, err := httpapi.NumberOf(c, "limit", 1, conversation.MaxPage, conversation.MaxPage)
	if err != nil {
		return q, err
	}
	q.Limit = int(limit)
	if q.Newest, err = httpapi.SwitchOf(c, "newest"); err != nil {
		return q, err
	}
	q.Archived, err = httpapi.SwitchOf(c, "archived")
	return q, err
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

func (s *Service) postMessages(c echo.Context) error {
	return changeConversation(s, c, http.StatusCreated,
		func(m *store.Manager, thread string, req wire.AppendMessages) (any, error) {
			list, err := messagesOf(req)
			if err != nil {
				return nil, err
			}
			kept, err := m.Append(thread, list)
			if err != nil {
				return nil, err
			}
			reply := wire.Appended{Messages: make([]wire.AppendedMessage, 0, len(kept))}
			for _, k := range kept {
				reply.Seq = k.Seq
				reply.Messages = append(reply.Messages, wire.AppendedMessage{Seq: k.Seq, CreatedAt: k.At})
			}
			return reply, nil
		})
}

func (s *Service) getCompactions(c echo.Context) error {
	part, err := partOf(c, conversation.MaxPage)
	if err != nil {
		return err
	}
	return s.readConversation(c, func(m *store.Manager, thread, rid string) (any, error) {
		list, err := m.Compactions(thread, rid, part)
		return wire.CompactionList{Compactions: httpapi.OrNone(list)}, err
	})
}

// compactReply is the reply of POST …/compact; without a compaction it has the first field alone.
type compactReply struct {
	Compacted bool `json:"compacted"`
	*wire.Archive
}

func (s *Service) postCompact(c echo.Context) error {
	var req wire.Compact
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	if req.KeepLast < 0 || req.Threshold < 0 || req.ContextWindow < 0 {
		return httpapi.BadRequest("keep_last %d, threshold %d, context_window %d: each is 0, for the default, or more",
			req.KeepLast, req.Threshold, req.ContextWindow)
	}
	m, id, err := s.conversations(c)
	if err != nil {
		return err
	}
	a, ok, err := m.Compact(id, conversation.CompactOptions{Threshold: req.Threshold, ContextWindow: req.ContextWindow,
		Keep: req.KeepLast, Summary: req.Summary})
	if err != nil {
		return err
	}
	reply := compactReply{Compacted: ok}
	if ok {
		reply.Archive = &a
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

func turnOf(r wire.AppendTurn) wire.Turn {
	return wire.Turn{FinalResponse: r.FinalResponse, AssistantMessages: r.AssistantMessages,
		ToolResultMessages: r.ToolResultMessages, Iterations: r.Iterations,
		ToolCalls: r.ToolCalls, Failures: r.Failures, VerificationStatus: r.VerificationStatus, Trace: r.Trace,
		DefinitionOfDone: r.DefinitionOfDone, WorkflowMode: r.WorkflowMode}
}

func (s *Service) postTurn(c echo.Context) error {
	return changeConversation(s, c, http.StatusCreated,
		func(m *store.Manager, thread string, req wire.AppendTurn) (any, error) {
			return m.AddTurn(thread, turnOf(req), req.Usage)
		})
}

func (s *Service) getTurns(c echo.Context) error {
	part, err := partOf(c, conversation.MaxPage)
	if err != nil {
		return err
	}
	return s.readConversation(c, func(m *store.Manager, thread, rid string) (any, error) {
		list, err := m.Turns(thread, rid, part)
		return wire.TurnList{Turns: valuesOf(list)}, err
	})
}
