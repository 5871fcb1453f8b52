package threadapi

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// Bounds of the bodies of records, in bytes; package record has finer ones.
const (
	maxRecordBody = 9 << 20 // a message of the largest size, with what is around it
)

// conversations are the records of the thread a path names, for who reads.
func (s *Service) conversations(c echo.Context) (*store.Manager, string, error) {
	id, err := threadOf(c)
	if err != nil {
		return nil, "", err
	}
	m, err := s.Threads.ReadConversation(id)
	return m, id, err
}

// conversationOf is the conversation that the path or the query names; "" is the current one.
func conversationOf(c echo.Context) string {
	if rid := c.Param("rid"); rid != "" {
		return rid
	}
	return c.QueryParam("record")
}

// readConversation replies with a part of the conversation that the query, or the path, names; else
// of the current one.
func (s *Service) readConversation(c echo.Context, read func(m *store.Manager, thread, rid string) (any, error)) error {
	m, id, err := s.conversations(c)
	if err != nil {
		return err
	}
	v, err := read(m, id, conversationOf(c))
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, v)
}

// changeConversation reads the body and does something to the current conversation with it. The
// thread is made for it when nothing is wrong with it.
func changeConversation[T any](s *Service, c echo.Context, status int,
	do func(m *store.Manager, thread string, req T) (any, error)) error {
	var req T
	if err := httpapi.BindUpTo(c, &req, maxRecordBody, false); err != nil {
		return err
	}
	return writeConversation(c, status, s.Threads.WriteConversation,
		func(m *store.Manager, thread string) (any, error) {
			return do(m, thread, req)
		})
}

// writeConversation has something done to the conversation of the thread a path names by write,
// which may do it twice, and replies with what it says.
func writeConversation(c echo.Context, status int,
	write func(context.Context, string, func(*store.Manager) error) error,
	do func(m *store.Manager, thread string) (any, error)) error {
	id, err := threadOf(c)
	if err != nil {
		return err
	}
	var v any
	err = write(c.Request().Context(), id, func(m *store.Manager) (err error) {
		v, err = do(m, id)
		return err
	})
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, status, v)
}

// partOf is which part of a list is asked for: without a query the newest `view` of it.
func partOf(c echo.Context, view int) (store.Page, error) {
	q := c.QueryParams()
	if !q.Has("after") && !q.Has("limit") {
		return store.Page{Limit: view, Newest: true}, nil
	}
	after, err := httpapi.NumberOf(c, "after", 0, httpapi.MaxNumber, 0)
	if err != nil {
		return store.Page{}, err
	}
	limit, err := httpapi.NumberOf(c, "limit", 1, conversation.MaxPage, conversation.MaxPage)
	if err != nil {
		return store.Page{}, err
	}
	newest, err := httpapi.SwitchOf(c, "newest")
	return store.Page{After: after, Limit: int(limit), Newest: newest}, err
}

// latestThread stands for the thread whose record was changed last.
const latestThread = "latest"

func (s *Service) getLatestConversation(c echo.Context) error {
	if auth.GrantOf(c.Request().Context()).PTY != "" {
		return httpapi.ErrWrongTerminal
	}
	// A thread that was called so before the name was reserved.
	if l, err := s.Threads.Thread(c.Request().Context(), latestThread); err == nil {
		return s.sendThread(c, l)
	}
	m, err := s.Threads.ReadConversation("")
	if err != nil {
		return err
	}
	h, err := m.Latest()
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, h.Wire())
}

// Keys that GET …/record adds to what a conversation file has. A document that is imported is
// without them.
const (
	lastTurnKey   = "last_turn_summary" // the newest turn, or null
	threadKey     = "thread_id"
	recordFileOf  = "loader"
	recordReplyOf = "json"
)

// getConversation sends a conversation as its file has it, with the newest turn beside it unless
// the form of the file is asked for.
func (s *Service) getConversation(c echo.Context) error {
	format := c.QueryParam("format")
	if format != "" && format != recordFileOf && format != recordReplyOf {
		return httpapi.BadRequest("format %q: %s or %s are allowed", httpapi.Clip(format), recordReplyOf, recordFileOf)
	}
	m, id, err := s.conversations(c)
	if err != nil {
		return err
	}
	d, err := m.Document(id, conversationOf(c), -1)
	if err == nil && format != recordFileOf {
		err = addTurn(m, id, &d)
	}
	if err != nil {
		return err
	}
	text, err := d.Encode()
	if err == nil && d.SessionID == "" {
		text, err = unwritten(text)
	}
	if err != nil {
		return err
	}
	return httpapi.WriteBody(c, http.StatusOK, text)
}

// unwritten is the document of a conversation that is not there yet: what names and dates it is
// null, and the rest is as in a new one.
func unwritten(text []byte) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	for _, name := range []string{"session_id", "created_at", "updated_at"} {
		fields[name] = json.RawMessage("null")
	}
	return httpapi.Encode(fields)
}

func addTurn(m *store.Manager, thread string, d *conversation.Document) error {
	turns, err := m.Turns(thread, d.SessionID, store.Page{Limit: 1, Newest: true})
	if err != nil {
		return err
	}
	var last *conversation.Turn
	if len(turns) == 1 {
		last = &turns[0].Value
	}
	added := maps.Clone(d.Extra)
	if added == nil {
		added = map[string]json.RawMessage{}
	}
	for key, v := range map[string]any{lastTurnKey: last, threadKey: thread} {
		if added[key], err = httpapi.Encode(v); err != nil {
			return err
		}
	}
	d.Extra = added
	return nil
}

func (s *Service) putConversation(c echo.Context) error {
	if err := httpapi.CheckMediaType(c.Request()); err != nil {
		return err
	}
	body, err := httpapi.ReadBody(c, conversation.MaxImport)
	if err != nil {
		return err
	}
	d, err := conversation.DecodeDocument(body)
	if err != nil {
		return err
	}
	delete(d.Extra, lastTurnKey)
	delete(d.Extra, threadKey)
	return writeConversation(c, http.StatusOK, s.Threads.WriteConversation,
		func(m *store.Manager, thread string) (any, error) {
			h, err := m.Import(thread, d)
			return h.Wire(), err
		})
}

func (s *Service) getConversations(c echo.Context) error {
	return s.readConversation(c, func(m *store.Manager, thread, _ string) (any, error) {
		list, err := m.Conversations(thread)
		reply := wire.RecordList{ThreadID: thread, Records: make([]wire.RecordHead, 0, len(list))}
		for _, h := range list {
			reply.Records = append(reply.Records, h.Wire())
		}
		return reply, err
	})
}

func (s *Service) getState(c echo.Context) error {
	return s.readConversation(c,
		func(m *store.Manager, thread, rid string) (any, error) { return m.State(thread, rid) })
}

// anyKeys is a body of which package record, or nobody, knows the keys.
type anyKeys map[string]json.RawMessage

func (s *Service) patchState(c echo.Context) error {
	return changeConversation(s, c, http.StatusOK, func(m *store.Manager, thread string, req anyKeys) (any, error) {
		patch, err := httpapi.Encode(req)
		if err != nil {
			return nil, err
		}
		return m.Patch(thread, patch)
	})
}

func (s *Service) getUsage(c echo.Context) error {
	return s.readConversation(c,
		func(m *store.Manager, thread, rid string) (any, error) { return m.Usage(thread, rid) })
}
