package client

import (
	"context"
	"io"
	"net/http"

	"github.com/evertty/evertty/wire"
)

// Backup is what the server's data directory keeps, as a tar archive compressed with zstd. It has secrets. The caller
// must close what it returns. A read that fails, other than with io.EOF, means that the backup is not whole. ctx
// governs the reading too.
func (c *Client) Backup(ctx context.Context) (io.ReadCloser, error) {
	target, err := c.target(wire.Nothing{}, "/backup")
	if err != nil {
		return nil, err
	}
	resp, err := c.open(ctx, http.MethodPost, target, "*/*", nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
