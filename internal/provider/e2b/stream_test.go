package e2b

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/service"
)

// TestFrames reads frames by hand-made bytes (Connect protocol).
func TestFrames(t *testing.T) {
	ping := frame(0, []byte(`{"event":{"keepalive":{}}}`))
	for name, c := range map[string]struct {
		bytes []byte
		is    error
		says  string
	}{
		"end": {append(bytes.Clone(ping), frame(frameEnd, []byte(`{}`))...), io.EOF, ""},
		"error": {frame(frameEnd, []byte(`{"error":{"code":"not_found","message":"no process"}}`)),
			provider.ErrNotFound, "no process"},
		"refused": {frame(frameEnd, []byte(`{"error":{"code":"unauthenticated"}}`)), provider.ErrRefused, ""},
		"unknown code": {frame(frameEnd, []byte(`{"error":{"code":"data_loss"}}`)), provider.ErrProvider,
			"data_loss"},
		"nothing":         {nil, provider.ErrUnreachable, ""},
		"half a head":     {ping[:3], provider.ErrUnreachable, ""},
		"half a message":  {ping[:len(ping)-1], provider.ErrUnreachable, ""},
		"no JSON":         {frame(0, []byte(`x`)), provider.ErrProvider, ""},
		"no JSON at end":  {frame(frameEnd, nil), provider.ErrProvider, ""},
		"compressed":      {frame(frameCompressed, []byte(`{}`)), provider.ErrProvider, "compressed"},
		"too long":        {[]byte{0, 0xff, 0xff, 0xff, 0xff}, provider.ErrTooLarge, ""},
		"longest is lost": {[]byte{0, 0, 0x40, 0, 0}, provider.ErrUnreachable, ""},
	} {
		f := reader(c.bytes)
		var err error
		for n := 0; err == nil; n++ {
			var ev event
			if err = f.next(&ev); n > 1 {
				t.Fatal(name, "does not end")
			}
		}
		f.close()
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func reader(data []byte) *frames {
	_, cancel := context.WithCancelCause(context.Background())
	return &frames{client: service.NewClient("test"), body: io.NopCloser(bytes.NewReader(data)), cancel: cancel,
		silence: time.NewTimer(time.Hour)}
}

func FuzzFrames(f *testing.F) {
	f.Add(append(frame(0, []byte(`{"event":{"data":{"stdout":"aGk="}}}`)), frame(frameEnd, []byte(`{}`))...))
	f.Add(frame(frameEnd, []byte(`{"error":{"code":"internal"}}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := reader(data)
		defer r.close()
		for n := 0; ; n++ {
			var ev event
			if r.next(&ev) != nil {
				return
			}
			if n > len(data) {
				t.Fatal("more messages than bytes")
			}
		}
	})
}

// TestSignals: how a process that a signal ended is told as a code.
func TestSignals(t *testing.T) {
	for status, code := range map[string]int{"signal: killed": 137, "signal: terminated": 143,
		"signal: segmentation fault (core dumped)": 139, "exit status 4": 4} {
		if got := (endEvent{ExitCode: 4, Status: status}).code(); got != code {
			t.Errorf("%s: %d", status, got)
		}
	}
}
