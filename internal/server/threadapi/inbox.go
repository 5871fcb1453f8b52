package threadapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

func (s *Service) postAttach(c echo.Context) error {
	var req wire.Attach
	if err := httpapi.BindUpTo(c, &req, maxRecordBody, false); err != nil {
		return err
	}
	return writeConversation(c, http.StatusOK, s.Threads.ChangeConversation,
		func(m *store.Manager, thread string) (any, error) {
			state, err := m.Attach(thread, req.OwnerType)
			if err != nil {
				return nil, err
			}
			h, err := m.Head(thread, "")
			if err != nil {
				return nil, err
			}
			reply := wire.Attached{SessionID: h.SessionID, ThreadID: thread, RecordState: state}
			turns, err := m.Turns(thread, h.SessionID, store.Page{Limit: 1, Newest: true})
			if len(turns) == 1 {
				reply.LastTurnSummary = &turns[0].Value
			}
			return reply, err
		})
}

func (s *Service) postClear(c echo.Context) error {
	return writeConversation(c, http.StatusCreated, s.Threads.ChangeConversation,
		func(m *store.Manager, thread string) (any, error) {
			h, err := m.Clear(thread)
			return h.Wire(), err
		})
}

func (s *Service) postSteer(c echo.Context) error {
	return changeConversation(s, c, http.StatusCreated,
		func(m *store.Manager, thread string, req wire.Steer) (any, error) {
			it, err := m.Enqueue(thread, req.Message)
			return wire.Seq{Seq: it.Seq}, err
		})
}

func (s *Service) postDrain(c echo.Context) error {
	return writeConversation(c, http.StatusOK, s.Threads.ChangeConversation,
		func(m *store.Manager, thread string) (any, error) {
			list, err := m.Dequeue(thread)
			return wire.Drained{Messages: valuesOf(list)}, err
		})
}

// getInbox only looks: the messages go on waiting.
func (s *Service) getInbox(c echo.Context) error {
	return s.readConversation(c, func(m *store.Manager, thread, _ string) (any, error) {
		list, err := m.Inbox(thread)
		reply := wire.Mail{Messages: make([]wire.WaitingMessage, 0, len(list))}
		for _, it := range list {
			reply.Messages = append(reply.Messages,
				wire.WaitingMessage{Seq: it.Seq, CreatedAt: it.At, Message: it.Value})
		}
		return reply, err
	})
}
