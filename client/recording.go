package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// RecordingFormat is a form of a recording.
type RecordingFormat string

// The forms.
const (
	CastV3 RecordingFormat = "asciicast-v3" // of asciinema 3
	CastV2 RecordingFormat = "asciicast-v2" // of asciinema 2
	Raw    RecordingFormat = "raw"          // the bytes of the output
)

// RecordingRequest says what to record. The zero value is all that is kept, as
// the server likes it best.
type RecordingRequest struct {
	Format RecordingFormat // "": CastV3
	From   *uint64         // position to begin at; nil: the first that is kept
	Follow bool            // go on until the program ends
}

// Recording is what a terminal has printed. The caller must close what it
// returns. A read that fails, other than with io.EOF, means that the recording is
// not whole. ctx governs the reading too.
func (c *Client) Recording(ctx context.Context, id string, r RecordingRequest) (io.ReadCloser, error) {
	q := url.Values{}
	if r.Format != "" {
		q.Set("format", string(r.Format))
	}
	if r.From != nil {
		q.Set("from", strconv.FormatUint(*r.From, 10))
	}
	if r.Follow {
		q.Set("follow", "1")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at(q, "pty", id, "recording"), nil)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	req.Header = c.header()
	req.Header.Set("Accept", "*/*")
	if c.Local() {
		req.Header.Set("Accept-Encoding", "identity") // it would only cost time
	}
	resp, err := c.open(req)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}
