package client

import (
	"context"
	"net/http"
)

// Restart starts the program of an ended terminal again, in its last directory
// and with the environment it was created with. The old screen stays above a
// marked line. While the program runs it is 409 RUNNING.
func (c *Client) Restart(ctx context.Context, id string) (Info, error) {
	var i Info
	err := c.call(ctx, http.MethodPost, c.at(nil, "pty", id, "restart"), struct{}{}, &i)
	return i, err
}
