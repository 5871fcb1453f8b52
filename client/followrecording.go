package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// Recording is Client.Recording over restarts of the server, with r.Follow: the reader
// goes on behind what it has given. It gives whole lines, of raw bytes what came. The
// caller must close what it returns; a read that fails, other than with io.EOF, means
// that the recording is not whole.
func (f *Follower) Recording(ctx context.Context, id string, r RecordingRequest) (io.ReadCloser, error) {
	info, err := f.find(ctx, id)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	var in io.ReadCloser
	var from *uint64
	err = f.Do(ctx, func(c *Client) error {
		in, from, err = c.recording(ctx, info.ID, r)
		return err
	})
	if err != nil {
		cancel()
		return nil, err
	}
	if from != nil {
		r.From = from
	}
	out, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.CloseWithError(f.record(ctx, info.ID, r, in, w)) // always nil
	}()
	return &followedRecording{out, cancel, done}, nil
}

// followedRecording is what Follower.Recording returns.
type followedRecording struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   <-chan struct{}
}

// Close ends the recording and waits until nothing of it is left.
func (f *followedRecording) Close() error {
	f.cancel()
	err := f.PipeReader.Close()
	<-f.done
	return err
}

// record copies the recording, over as many connections as it takes, and returns nil
// at its end.
func (f *Follower) record(ctx context.Context, id string, r RecordingRequest, in io.ReadCloser, w io.Writer) error {
	taken := position{w: w, raw: r.Format == Raw, relative: r.Format != CastV2}
	return f.retry(ctx, func(o *outage) (bool, error) {
		if in == nil {
			c, err := f.Connect()
			if err == nil {
				in, _, err = c.recording(ctx, id, r)
			}
			if refused, ok := errors.AsType[*Error](err); ok && refused.Code == codeNotKept {
				return true, fmt.Errorf("client: the recording cannot go on, its beginning is kept no more: %s",
					refused.Message)
			}
			if err != nil {
				return false, err
			}
		}
		written := taken.written
		err := taken.copy(in)
		_ = in.Close() // it was only read
		in = nil
		if taken.written > written {
			*o = outage{}
		}
		return err == nil || taken.broken, err
	})
}

// position is how far a recording was given. Another connection begins at the beginning
// again: its events may be cut elsewhere, but their texts and times are the same.
type position struct {
	w        io.Writer
	raw      bool
	relative bool  // times are since the event before, as in version 3
	written  int64 // bytes
	broken   bool  // w takes no more

	headed bool    // the header was given
	text   [2]int  // bytes of output and of input
	others int     // events that are neither
	at     float64 // time of the last event since the beginning, in seconds
}

// copy gives what a connection brings behind the position. nil is its good end.
func (p *position) copy(in io.Reader) error {
	if p.raw {
		if _, err := io.CopyN(io.Discard, in, p.written); err != nil {
			return err
		}
		_, err := io.Copy(p, in)
		return err
	}
	lines := bufio.NewReaderSize(in, recordingPiece) // lines of the server are bounded
	again := replay{text: p.text, others: p.others, known: p.headed}
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // without an unfinished last line
		}
		if err != nil {
			return err
		}
		if err := p.line(&again, line); err != nil {
			return err
		}
	}
}

// Write gives whole lines, or raw bytes.
func (p *position) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.written += int64(n)
	p.broken = err != nil
	return n, err
}

// replay counts what an earlier connection has given of this one.
type replay struct {
	text   [2]int
	others int
	known  bool    // the header
	at     float64 // time of the last line
	begun  bool    // the header of this connection was seen
}

// line gives one line, or the part of it that was not given yet.
func (p *position) line(again *replay, line []byte) error {
	if !again.begun {
		again.begun = true
		if again.known {
			return nil
		}
		p.headed = true
		_, err := p.Write(line)
		return err
	}
	var e castEvent
	if err := e.parse(line); err != nil {
		return err
	}
	if p.relative {
		again.at += e.time
	} else {
		again.at = e.time
	}
	whole := true
	switch kind := e.stream(); {
	case kind < 0 && again.others > 0:
		again.others--
		return nil
	case kind < 0:
		p.others++
	case again.text[kind] >= len(e.data):
		again.text[kind] -= len(e.data)
		return nil
	default:
		whole = again.text[kind] == 0
		e.data, again.text[kind] = e.data[again.text[kind]:], 0
		p.text[kind] += len(e.data)
	}
	since := again.at
	if p.relative {
		since -= p.at
	}
	if p.at = again.at; !whole || p.relative && math.Abs(since-e.time) > castTick/2 {
		line = e.line(since, p.relative)
	}
	_, err := p.Write(line)
	return err
}

// castTick is the precision of times in version 3, in seconds.
const castTick = 0.001

// castEvent is a line of a recording: [time, "code", "data"].
type castEvent struct {
	time float64 // seconds
	code string
	data string
}

func (e *castEvent) parse(line []byte) error {
	fields := []any{&e.time, &e.code, &e.data}
	err := json.Unmarshal(line, &fields)
	if err == nil && len(fields) != 3 {
		err = fmt.Errorf("it has %d members", len(fields))
	}
	if err != nil {
		return fmt.Errorf("client: a line of the recording is no event: %w", err)
	}
	return nil
}

// stream is 0 for output, 1 for input and -1 for other events.
func (e *castEvent) stream() int {
	switch e.code {
	case "o":
		return 0
	case "i":
		return 1
	}
	return -1
}

func (e *castEvent) line(at float64, relative bool) []byte {
	digits := 6
	if relative {
		digits = 3
	}
	var b bytes.Buffer
	b.WriteString("[" + strconv.FormatFloat(max(at, 0), 'f', digits, 64) + `, "` + e.code + `", `)
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e.data) // a string
	b.Truncate(b.Len() - len("\n"))
	b.WriteString("]\n")
	return b.Bytes()
}

// recordingPiece is how much of a recording is read at once, in bytes.
const recordingPiece = 64 << 10
