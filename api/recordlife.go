package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/record"
)

// attachRequest is the body of POST …/attach.
type attachRequest struct {
	Owner string `json:"owner_type"`
}

// attachReply is where a record stands for who goes on with it.
type attachReply struct {
	ID     string `json:"session_id"`
	Thread string `json:"thread_id"`
	record.State
	LastTurn *record.Turn `json:"last_turn_summary"`
}

func (s *Server) postAttach(c echo.Context) error {
	return changeRecord(s, c, http.StatusOK, func(m *record.Manager, thread string, req attachRequest) (any, error) {
		state, err := m.Attach(thread, req.Owner)
		if err != nil {
			return nil, err
		}
		h, err := m.Head(thread, "")
		if err != nil {
			return nil, err
		}
		reply := attachReply{ID: h.ID, Thread: thread, State: state}
		turns, err := m.Turns(thread, h.ID, record.Page{Limit: 1, Newest: true})
		if len(turns) == 1 {
			reply.LastTurn = &turns[0].Value
		}
		return reply, err
	})
}

func (s *Server) postClear(c echo.Context) error {
	m, id, err := s.recorded(c, true)
	if err != nil {
		return err
	}
	h, err := m.Clear(id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusCreated, h)
}

// steerRequest is the body of POST …/steer.
type steerRequest struct {
	Message string `json:"message"`
}

func (s *Server) postSteer(c echo.Context) error {
	return changeRecord(s, c, http.StatusCreated, func(m *record.Manager, thread string, req steerRequest) (any, error) {
		it, err := m.Steer(thread, req.Message)
		return seqReply{it.Seq}, err
	})
}

// drainReply is the reply of POST …/steer/drain: the messages in the order in which they were left.
type drainReply struct {
	Messages []string `json:"messages"`
}

func (s *Server) postDrain(c echo.Context) error {
	m, id, err := s.recorded(c, false)
	if err != nil {
		return err
	}
	list, err := m.Drain(id)
	if err != nil {
		return err
	}
	return writeJSON(c, http.StatusOK, drainReply{valuesOf(list)})
}
