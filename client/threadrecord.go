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
func (c *Client) LatestRecord(ctx context.Context) (wire.RecordHead, error) {
	return call[wire.RecordHead](ctx, c, http.MethodGet, c.threadPath("latest"), nil)
}

// Records returns the records of a thread, the newest first.
func (c *Client) Records(ctx context.Context, thread string) ([]wire.RecordHead, error) {
	reply, err := call[wire.RecordList](ctx, c, http.MethodGet, c.threadPath(thread, "records"), nil)
	return reply.Records, err
}

// ExportRecord returns a record file; record "" is the current one. The caller closes it.
func (c *Client) ExportRecord(ctx context.Context, thread, record string) (io.ReadCloser, error) {
	query := url.Values{"format": {"loader"}}
	if record != "" {
		query.Set("record", record)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at(query, "api", "threads", thread, "record"), nil)
	if err != nil {
		return nil, err
	}
	req.Header = c.header()
	resp, err := c.open(req)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// ImportRecord makes a record file the current record of a thread. It creates the thread when there
// is none. The record before is kept.
func (c *Client) ImportRecord(ctx context.Context, thread string, file json.RawMessage) (wire.RecordHead, error) {
	return call[wire.RecordHead](ctx, c, http.MethodPut, c.threadPath(thread, "record"), file)
}

// CompactThread replaces older messages of a thread by a summary if that is worth it. They can
// still be read. Zero fields of r are left to the server.
func (c *Client) CompactThread(ctx context.Context, thread string, r wire.Compact) (wire.Compacted, error) {
	return call[wire.Compacted](ctx, c, http.MethodPost, c.threadPath(thread, "compact"), r)
}

// AttachThread sets the type of the driver of a thread and returns the state of its record.
func (c *Client) AttachThread(ctx context.Context, thread, owner string) (Attached, error) {
	return call[Attached](ctx, c, http.MethodPost, c.threadPath(thread, "attach"), wire.Attach{OwnerType: owner})
}
