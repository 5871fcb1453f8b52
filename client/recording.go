package client

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/evertty/evertty/wire"
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
func (t terminals) Recording(ctx context.Context, id string, r RecordingRequest) (io.ReadCloser, error) {
	in, _, err := t.recording(ctx, id, r)
	return in, err
}

// recordingFrom is the header that says at which position a recording begins.
const recordingFrom = "Evertty-From"

// recording also says where the recording begins; nil when the server does not.
func (t terminals) recording(ctx context.Context, id string,
	r RecordingRequest) (in io.ReadCloser, from *uint64, err error) {
	target, err := t.target(wire.GetRecording{TerminalRef: wire.TerminalRef{ID: id}, Format: string(r.Format),
		From: r.From, Follow: r.Follow}, "/pty/:id/recording")
	if err != nil {
		return nil, nil, err
	}
	resp, err := t.open(ctx, http.MethodGet, target, "*/*", nil)
	if err != nil {
		return nil, nil, err
	}
	if at, err := strconv.ParseUint(resp.Header.Get(recordingFrom), 10, 64); err == nil {
		from = &at
	}
	return resp.Body, from, nil
}
