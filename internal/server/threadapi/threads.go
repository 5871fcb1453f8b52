package threadapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/wire"
)

// threadOf is the thread a path names. The grant of one terminal sees none.
func threadOf(c echo.Context) (string, error) {
	if auth.GrantOf(c.Request().Context()).PTY != "" {
		return "", httpapi.ErrWrongTerminal
	}
	return c.Param("id"), nil
}

// sendLayers replies with what a view makes of the thread a path names. Looking is no activity.
func (s *Service) sendLayers(c echo.Context, view func(thread.Layers) any) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	l, err := s.Threads.Thread(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, view(l))
}

// The views of a thread.
func threadView(l thread.Layers) any { return l.Wire() }
func leaseView(l thread.Layers) any  { return l.WireLease() }

// wired are the wire types of rows.
func wired[W any, R interface{ Wire() W }](rows []R) []W {
	list := make([]W, 0, len(rows))
	for _, r := range rows {
		list = append(list, r.Wire())
	}
	return list
}

// How many rows lists have.
const (
	defaultThreads = 100 // of GET /api/threads: each costs some questions to the database
	threadMessages = 100 // of GET /api/threads/:id: a screen of them; …/messages has all
	maxRows        = thread.MaxPage
)

func (s *Service) getThreads(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	limit, err := httpapi.NumberOf(c, "limit", 1, maxRows, defaultThreads)
	if err != nil {
		return err
	}
	list, next, err := s.Threads.ListThreads(c.Request().Context(), c.QueryParam("after"), int(limit))
	if err != nil {
		return err
	}
	reply := wire.ThreadList{Threads: []wire.Thread{}, Next: next}
	for _, l := range list {
		reply.Threads = append(reply.Threads, l.Wire())
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

func (s *Service) postThread(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	var req wire.CreateThread
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	use := thread.Use{Provider: req.Sandbox, Lease: req.LeaseID}
	if req.Policy != nil {
		p, err := s.Threads.DefaultPolicy().With(*req.Policy)
		if err != nil {
			return httpapi.BadRequest("the policy: %s", err).With("field", "policy")
		}
		use.Policy = &p
	}
	if p := req.Sandbox; p != "" && p != thread.Local {
		if err := s.Check(c.Request().Context(), "", permission.ToolLeaseCreate, permission.ProviderArgs{Provider: p}); err != nil {
			return err
		}
	}
	l, err := s.Threads.CreateThread(c.Request().Context(), req.ID, use)
	if err != nil {
		return err
	}
	auth.SetTarget(c.Request().Context(), l.Thread.ID)
	return httpapi.WriteJSON(c, http.StatusCreated, l.Wire())
}

func (s *Service) getThread(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	l, err := s.Threads.Thread(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return s.sendThread(c, l)
}

// sendThread replies with a thread and the newest messages of its conversation.
func (s *Service) sendThread(c echo.Context, l thread.Layers) error {
	reply := l.Wire()
	messages, omitted, err := s.lastMessages(l.Thread.ID)
	if err != nil {
		return err
	}
	reply.Messages, reply.MessagesOmitted = messages, new(uint64(omitted))
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

func (s *Service) deleteThread(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	if err := s.Threads.CheckEnd(c.Request().Context(), id); err != nil {
		return err
	}
	if err := s.Threads.DeleteThread(context.WithoutCancel(c.Request().Context()), id); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, httpapi.Done)
}

// lastMessages are the newest messages of a thread's record, none when it has no conversation, and
// how many there are before them.
func (s *Service) lastMessages(thread string) (texts []json.RawMessage, omitted int64, err error) {
	texts = []json.RawMessage{}
	m, err := s.Threads.ReadConversation(thread)
	if errors.Is(err, service.ErrNoStore) {
		return texts, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	list, err := m.Messages(thread, "", store.MessageQuery{Limit: threadMessages, Newest: true})
	if err != nil {
		return nil, 0, err
	}
	for _, k := range list {
		text, err := httpapi.Encode(k)
		if err != nil {
			return nil, 0, err
		}
		texts = append(texts, text)
	}
	if len(list) == 0 || list[0].Summary {
		return texts, 0, nil
	}
	h, err := m.Head(thread, "")
	return texts, max(list[0].Seq-1-h.Archived, 0) + min(h.Archived, 1), err
}

func (s *Service) getThreadSession(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	l, err := s.Threads.Thread(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, l.WireSession())
}

func (s *Service) getThreadLease(c echo.Context) error { return s.sendLayers(c, leaseView) }

func (s *Service) getThreadTerminal(c echo.Context) error {
	shown, err := auth.SecretsShown(c)
	if err != nil {
		return err
	}
	return s.sendLayers(c, func(l thread.Layers) any {
		reply := l.WireTerminal()
		if !shown {
			reply.EnvDelta = thread.HideSecrets(reply.EnvDelta)
		}
		return reply
	})
}

func (s *Service) getThreadCommands(c echo.Context) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	limit, err := httpapi.NumberOf(c, "limit", 1, maxRows, maxRows)
	if err != nil {
		return err
	}
	list, err := s.Threads.ThreadCommands(c.Request().Context(),
		thread.CommandQuery{Thread: id, Terminal: c.QueryParam("terminal"),
			Before: c.QueryParam("before"), Limit: int(limit)})
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, wire.ThreadCommands{Commands: wired(list)})
}
