package threadapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread/service"
)

// sandboxTypesReply is the reply of GET /api/sandbox/types.
type sandboxTypesReply struct {
	Types []service.SandboxType `json:"types"`
}

func (s *Service) getSandboxTypes(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, sandboxTypesReply{s.Threads.SandboxTypes()})
}

// sandboxSession is a lease in the words of who looks for sandboxes. The lease's id is the sandbox
// session's: the calls below it are the lease's own.
type sandboxSession struct {
	ID string `json:"session_id"`
	service.SandboxSession
}

// sandboxSessionsReply is the reply of GET /api/sandbox/sessions.
type sandboxSessionsReply struct {
	Sessions []sandboxSession `json:"sessions"`
	Next     string           `json:"next,omitempty"` // as in leaseListReply
}

func (s *Service) getSandboxSessions(c echo.Context) error {
	if _, err := threadOf(c); err != nil {
		return err
	}
	q, err := leasePageOf(c)
	if err != nil {
		return err
	}
	list, next, err := s.Threads.SandboxSessions(q)
	if err != nil {
		return err
	}
	reply := sandboxSessionsReply{Sessions: make([]sandboxSession, 0, len(list)), Next: next}
	for _, one := range list {
		reply.Sessions = append(reply.Sessions, sandboxSession{one.ID, one})
	}
	return httpapi.WriteJSON(c, http.StatusOK, reply)
}
