package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// LatestRecord returns the record that was changed last. Errors: ErrNotFound when there is none.
func (t threads) LatestRecord(ctx context.Context) (wire.RecordHead, error) {
	return call[wire.RecordHead](ctx, t.connection, http.MethodGet, t.threadPath("latest"), nil)
}

// Records returns the records of a thread, the newest first.
func (t threads) Records(ctx context.Context, thread string) ([]wire.RecordHead, error) {
	reply, err := call[wire.RecordList](ctx, t.connection, http.MethodGet, t.threadPath(thread, "records"), nil)
	return reply.Records, err
}

// ExportRecord returns a record file; record "" is the current one. The caller closes it.
func (t threads) ExportRecord(ctx context.Context, thread, record string) (io.ReadCloser, error) {
	query := url.Values{"format": {"loader"}}
	if record != "" {
		query.Set("record", record)
	}
	target := t.at(query, "api", "threads", thread, "record")
	resp, err := t.open(ctx, http.MethodGet, target, acceptJSON, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// ImportRecord makes a record file the current record of a thread. It creates the thread when there
// is none. The record before is kept.
func (t threads) ImportRecord(ctx context.Context, thread string, file json.RawMessage) (wire.RecordHead, error) {
	return call[wire.RecordHead](ctx, t.connection, http.MethodPut, t.threadPath(thread, "record"), file)
}

// CompactThread replaces older messages of a thread by a summary if that is worth it. They can
// still be read. Zero fields of r are left to the server.
func (t threads) CompactThread(ctx context.Context, thread string, r wire.Compact) (wire.Compacted, error) {
	return call[wire.Compacted](ctx, t.connection, http.MethodPost, t.threadPath(thread, "compact"), r)
}

// AttachThread sets the type of the driver of a thread and returns the state of its record.
func (t threads) AttachThread(ctx context.Context, thread, owner string) (Attached, error) {
	body := wire.Attach{OwnerType: owner}
	return call[Attached](ctx, t.connection, http.MethodPost, t.threadPath(thread, "attach"), body)
}
