package threadapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
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
func threadView(l thread.Layers) any { return l.ThreadReply() }
func leaseView(l thread.Layers) any  { return l.LeaseReply() }

// How many rows lists have.
const (
	defaultThreads = 100 // of GET /api/threads: each costs some questions to the database
	threadMessages = 100 // of GET /api/threads/:id: a screen of them; …/messages has all
	maxRows        = thread.MaxPage
)

// threadListReply is the reply of GET /api/threads. Next is the `after` of the next part, absent at
// the end.
type threadListReply struct {
	Threads []thread.Reply `json:"threads"`
	Next    string         `json:"next,omitempty"`
}

func (s *Service) getThreads(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	limit, err := httpapi.NumberOf(c, "limit", 1, maxRows, defaultThreads)
	if err != nil {
		return err
	}
	list, next, err := s.Threads.Threads(c.Request().Context(), c.QueryParam("after"), int(limit))
	if err != nil {
		return err
	}
	reply := threadListReply{Threads: []thread.Reply{}, Next: next}
	for _, l := range list {
		reply.Threads = append(reply.Threads, l.ThreadReply())
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}

// threadRequest is the body of POST /api/threads.
type threadRequest struct {
	ID      string         `json:"id"`
	Sandbox string         `json:"sandbox"` // a provider's name
	Lease   string         `json:"lease_id"`
	Policy  *policyRequest `json:"policy"`
}

func (s *Service) postThread(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	var req threadRequest
	if err := httpapi.BindOptional(c, &req); err != nil {
		return err
	}
	use := thread.Use{Provider: req.Sandbox, Lease: req.Lease}
	if req.Policy != nil {
		p, err := req.Policy.over(s.Threads.DefaultPolicy())
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
	return httpapi.WriteJSON(c, http.StatusCreated, l.ThreadReply())
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

// threadReply is a thread with the newest messages of its record. Omitted is how many others its
// …/messages has.
type threadReply struct {
	thread.Reply
	Omitted int64 `json:"messages_omitted"`
}

func (s *Service) sendThread(c echo.Context, l thread.Layers) error {
	reply := threadReply{Reply: l.ThreadReply()}
	var err error
	if reply.Messages, reply.Omitted, err = s.lastMessages(l.Thread.ID); err != nil {
		return err
	}
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
	m, err := s.Threads.Conversations(thread)
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
	return sendSession(c, l)
}

// sendSession replies with the session. Of a thread that never had one all but the names is null.
func sendSession(c echo.Context, l thread.Layers) error {
	if l.Session.ID == "" {
		return httpapi.WriteJSON(c, http.StatusOK, noSession{Thread: l.Thread.ID, Terminal: l.Terminal.ID,
			IdleSeconds: l.Thread.Policy.Idle.Seconds(), MaxSeconds: l.Thread.Policy.Max.Seconds()})
	}
	return httpapi.WriteJSON(c, http.StatusOK, l.SessionReply())
}

// noSession is the reply about the session of a thread that never had one.
type noSession struct {
	Thread       string     `json:"thread_id"`
	ID           *string    `json:"session_id"`
	Terminal     string     `json:"terminal_id"`
	Status       *string    `json:"status"`
	CreatedAt    *time.Time `json:"created_at"`
	LastActiveAt *time.Time `json:"last_active_at"`
	ExpiresAt    *time.Time `json:"expires_at"`
	IdleSeconds  float64    `json:"idle_seconds"` // of the session that its first use makes
	MaxSeconds   float64    `json:"max_seconds"`
}

func (s *Service) getThreadLease(c echo.Context) error { return s.sendLayers(c, leaseView) }

func (s *Service) getThreadTerminal(c echo.Context) error {
	shown, err := auth.SecretsShown(c)
	if err != nil {
		return err
	}
	return s.sendLayers(c, func(l thread.Layers) any {
		reply := l.TerminalReply()
		if !shown {
			reply.Env = thread.HideSecrets(reply.Env)
		}
		return reply
	})
}

// threadCommandsReply is the reply of GET …/commands of a thread.
type threadCommandsReply struct {
	Commands []thread.Command `json:"commands"`
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
	return httpapi.WriteJSON(c, http.StatusOK, threadCommandsReply{httpapi.OrNone(list)})
}
