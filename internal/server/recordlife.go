package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/server/httpapi"
)

// attachRequest is the body of POST …/attach.
type attachRequest struct {
	Owner string `json:"owner_type"`
}

// attachReply is where a record stands for who goes on with it.
type attachReply struct {
	ID     string `json:"session_id"`
	Thread string `json:"thread_id"`
	conversation.State
	LastTurn *conversation.Turn `json:"last_turn_summary"`
}

func (s *Server) postAttach(c echo.Context) error {
	var req attachRequest
	if err := httpapi.BindUpTo(c, &req, maxRecordBody, false); err != nil {
		return err
	}
	return writeRecord(c, http.StatusOK, s.Threads.ChangeRecord, func(m *conversation.Manager, thread string) (any, error) {
		state, err := m.Attach(thread, req.Owner)
		if err != nil {
			return nil, err
		}
		h, err := m.Head(thread, "")
		if err != nil {
			return nil, err
		}
		reply := attachReply{ID: h.ID, Thread: thread, State: state}
		turns, err := m.Turns(thread, h.ID, conversation.Page{Limit: 1, Newest: true})
		if len(turns) == 1 {
			reply.LastTurn = &turns[0].Value
		}
		return reply, err
	})
}

func (s *Server) postClear(c echo.Context) error {
	return writeRecord(c, http.StatusCreated, s.Threads.ChangeRecord, func(m *conversation.Manager, thread string) (any, error) { return m.Clear(thread) })
}

// steerRequest is the body of POST …/steer.
type steerRequest struct {
	Message string `json:"message"`
}

func (s *Server) postSteer(c echo.Context) error {
	return changeRecord(s, c, http.StatusCreated, func(m *conversation.Manager, thread string, req steerRequest) (any, error) {
		it, err := m.Steer(thread, req.Message)
		return seqReply{it.Seq}, err
	})
}

// drainReply is the reply of POST …/steer/drain: the messages in the order in which they were left.
type drainReply struct {
	Messages []string `json:"messages"`
}

func (s *Server) postDrain(c echo.Context) error {
	return writeRecord(c, http.StatusOK, s.Threads.ChangeRecord, func(m *conversation.Manager, thread string) (any, error) {
		list, err := m.Drain(thread)
		return drainReply{valuesOf(list)}, err
	})
}

// mailReply is the reply of GET …/steer: the messages that wait, in the order in which they were left.
type mailReply struct {
	Messages []mailRow `json:"messages"`
}

type mailRow struct {
	Seq     int64  `json:"seq"`
	At      string `json:"created_at"`
	Message string `json:"message"`
}

// getMail only looks: the messages go on waiting.
func (s *Server) getMail(c echo.Context) error {
	return s.readRecord(c, func(m *conversation.Manager, thread, _ string) (any, error) {
		list, err := m.Mail(thread)
		reply := mailReply{make([]mailRow, 0, len(list))}
		for _, it := range list {
			reply.Messages = append(reply.Messages, mailRow{it.Seq, it.At, it.Value})
		}
		return reply, err
	})
}
