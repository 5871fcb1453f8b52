package threadapi

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// maxRecordBody bounds a part of a record, in bytes: a message of the largest size, with what is around it.
const maxRecordBody = 9 << 20

// read is a part of the conversation that a query names, else of the current one.
func read[T any](b *httpapi.Base, ref wire.RecordRef,
	part func(m *store.Conversations, thread, rid string) (T, error)) (reply T, err error) {
	m, err := b.Threads.ReadConversation(ref.Thread)
	if err != nil {
		return reply, err
	}
	return part(m, ref.Thread, ref.Record)
}

// write does something to the current conversation, possibly twice. The thread is made for it when nothing is wrong.
func write[T any](ctx context.Context, b *httpapi.Base, ref wire.ThreadRef,
	do func(m *store.Conversations, thread string) (T, error)) (reply T, err error) {
	return changed(ctx, ref, b.Threads.WriteConversation, do)
}

// changed is write by another way of the service.
func changed[T any](ctx context.Context, ref wire.ThreadRef,
	way func(context.Context, string, func(*store.Conversations) error) error,
	do func(m *store.Conversations, thread string) (T, error)) (reply T, err error) {
	err = way(ctx, ref.Thread, func(m *store.Conversations) (err error) {
		reply, err = do(m, ref.Thread)
		return err
	})
	return reply, err
}

// pageOf is which part of a list is asked for: without after and limit the newest `view` of it.
func pageOf(p wire.Part, view int) store.Page {
	if p.After == nil && p.Limit == nil {
		return store.Page{Limit: view, Newest: true}
	}
	page := store.Page{Limit: conversation.MaxPage, Newest: p.Newest}
	if p.After != nil {
		page.After = *p.After
	}
	if p.Limit != nil {
		page.Limit = *p.Limit
	}
	return page
}

// latestThread stands for the thread whose record was changed last.
const latestThread = "latest"

func (r *records) getLatestRecord(c echo.Context, _ wire.Nothing) error {
	ctx := c.Request().Context()
	// A thread that was called so before the name was reserved.
	if reply, err := r.threads.getThread(ctx, wire.ThreadRef{Thread: httpapi.SpaceOf(ctx) + latestThread}); err == nil {
		return httpapi.WriteJSON(c, http.StatusOK, reply)
	}
	m, err := r.Threads.ReadConversation("")
	if err != nil {
		return err
	}
	h, err := m.Latest(httpapi.SpaceOf(ctx))
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(c, http.StatusOK, h.Wire())
}

// Keys that GET …/record adds to what a conversation file has. A document that is imported is
// without them.
const (
	lastTurnKey = "last_turn_summary" // the newest turn, or null
	threadKey   = "thread_id"
	loaderFile  = "loader" // the format that is the file alone
)

func (r *records) getRecord(c echo.Context, in wire.GetRecord) error {
	return r.sendRecord(c, in.RecordRef, in.Format)
}

func (r *records) getOneRecord(c echo.Context, in wire.GetOneRecord) error {
	return r.sendRecord(c, wire.RecordRef{ThreadRef: in.ThreadRef, Record: in.ID}, in.Format)
}

// sendRecord sends a conversation as its file has it, with the newest turn beside it unless the form of the file is
// asked for.
func (r *records) sendRecord(c echo.Context, ref wire.RecordRef, format string) error {
	m, err := r.Threads.ReadConversation(ref.Thread)
	if err != nil {
		return err
	}
	d, err := m.Document(ref.Thread, ref.Record, -1)
	if err == nil && format != loaderFile {
		err = addLastTurn(m, ref.Thread, httpapi.NameFor(c, ref.Thread), &d)
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

// addLastTurn adds what GET …/record has beside the file; shown is the thread as the client calls it.
func addLastTurn(m *store.Conversations, thread, shown string, d *conversation.Document) error {
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
	for key, v := range map[string]any{lastTurnKey: last, threadKey: shown} {
		if added[key], err = httpapi.Encode(v); err != nil {
			return err
		}
	}
	d.Extra = added
	return nil
}

func (r *records) importRecord(ctx context.Context, in wire.ThreadRef) (wire.RecordHead, error) {
	c := httpapi.EchoOf(ctx)
	if err := httpapi.CheckMediaType(c.Request()); err != nil {
		return wire.RecordHead{}, err
	}
	body, err := httpapi.ReadBody(c, conversation.MaxImport)
	if err != nil {
		return wire.RecordHead{}, err
	}
	d, err := conversation.DecodeDocument(body)
	if err != nil {
		return wire.RecordHead{}, err
	}
	delete(d.Extra, lastTurnKey)
	delete(d.Extra, threadKey)
	return write(ctx, r.Base, in, func(m *store.Conversations, thread string) (wire.RecordHead, error) {
		h, err := m.Import(thread, d)
		return h.Wire(), err
	})
}

func (r *records) listRecords(_ context.Context, in wire.ThreadRef) (wire.RecordList, error) {
	ref := wire.RecordRef{ThreadRef: in}
	return read(r.Base, ref, func(m *store.Conversations, thread, _ string) (wire.RecordList, error) {
		list, err := m.List(thread)
		return wire.RecordList{ThreadID: thread, Records: wired[wire.RecordHead](list)}, err
	})
}

func (r *records) getState(_ context.Context, in wire.RecordRef) (wire.RecordState, error) {
	return read(r.Base, in, (*store.Conversations).State)
}

// anyKeys is a body whose keys package conversation, or only the harness, knows.
type anyKeys map[string]json.RawMessage

// encodedBody is the body of a request of any keys, as JSON.
func encodedBody(ctx context.Context) ([]byte, error) {
	var fields anyKeys
	if err := httpapi.BindUpTo(httpapi.EchoOf(ctx), &fields, maxRecordBody, false); err != nil {
		return nil, err
	}
	return httpapi.Encode(fields)
}

func (r *records) patchState(ctx context.Context, in wire.ThreadRef) (wire.RecordState, error) {
	patch, err := encodedBody(ctx)
	if err != nil {
		return wire.RecordState{}, err
	}
	return write(ctx, r.Base, in, func(m *store.Conversations, thread string) (wire.RecordState, error) {
		return m.Patch(thread, patch)
	})
}

func (r *records) getUsage(_ context.Context, in wire.RecordRef) (wire.Usage, error) {
	return read(r.Base, in, (*store.Conversations).Usage)
}
