package provider

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestFrames reads frames by hand-made bytes (Connect protocol).
func TestFrames(t *testing.T) {
	ping := frame(0, []byte(`{"event":{"keepalive":{}}}`))
	for name, c := range map[string]struct {
		bytes []byte
		is    error
		says  string
	}{
		"end":             {append(bytes.Clone(ping), frame(frameEnd, []byte(`{}`))...), io.EOF, ""},
		"error":           {frame(frameEnd, []byte(`{"error":{"code":"not_found","message":"no process"}}`)), ErrNotFound, "no process"},
		"refused":         {frame(frameEnd, []byte(`{"error":{"code":"unauthenticated"}}`)), ErrRefused, ""},
		"unknown code":    {frame(frameEnd, []byte(`{"error":{"code":"data_loss"}}`)), ErrProvider, "data_loss"},
		"nothing":         {nil, ErrUnreachable, ""},
		"half a head":     {ping[:3], ErrUnreachable, ""},
		"half a message":  {ping[:len(ping)-1], ErrUnreachable, ""},
		"no JSON":         {frame(0, []byte(`x`)), ErrProvider, ""},
		"no JSON at end":  {frame(frameEnd, nil), ErrProvider, ""},
		"compressed":      {frame(frameCompressed, []byte(`{}`)), ErrProvider, "compressed"},
		"too long":        {[]byte{0, 0xff, 0xff, 0xff, 0xff}, ErrTooLarge, ""},
		"longest is lost": {[]byte{0, 0, 0x40, 0, 0}, ErrUnreachable, ""},
	} {
		f := reader(c.bytes)
		var err error
		for n := 0; err == nil; n++ {
			var ev e2bEvent
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
	return &frames{service: newService("test"), body: io.NopCloser(bytes.NewReader(data)), cancel: cancel, silence: time.NewTimer(time.Hour)}
}

func FuzzFrames(f *testing.F) {
	f.Add(append(frame(0, []byte(`{"event":{"data":{"stdout":"aGk="}}}`)), frame(frameEnd, []byte(`{}`))...))
	f.Add(frame(frameEnd, []byte(`{"error":{"code":"internal"}}`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := reader(data)
		defer r.close()
		for n := 0; ; n++ {
			var ev e2bEvent
			if r.next(&ev) != nil {
				return
			}
			if n > len(data) {
				t.Fatal("more messages than bytes")
			}
		}
	})
}

func TestReadProbe(t *testing.T) {
	m := readProbe("cpu  100 0 100 800 0 0 0 0 0 0\nnet 1000 2000\ncpu  150 0 150 900 0 0 0 0 0 0\nnet 2000 2500\nmem 2048 1024\ndisk 2097152 1048576\n")
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"cpu": {m.CPUPercent, 50}, "mem": {m.MemoryUsedMB, 1}, "of": {m.MemoryTotalMB, 2}, "disk": {m.DiskUsedGB, 1}, "disk of": {m.DiskTotalGB, 2}, "rx": {m.RxKbps, 40}, "tx": {m.TxKbps, 20},
	} {
		if c.got == nil || *c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if m := readProbe("cpu 1 2\nnet x\nmem 1\n"); m != (Metrics{}) {
		t.Errorf("of nothing useful: %+v", m)
	}
}

func FuzzReadProbe(f *testing.F) {
	f.Add("cpu 1 2 3 4 5\ncpu 2 3 4 5 6\nnet 1 2\nnet 2 3\nmem 1 1\ndisk 1 1\n")
	f.Fuzz(func(_ *testing.T, text string) { readProbe(text) })
}

func FuzzToolText(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"x"}],"isError":false}`))
	f.Add([]byte(`"{\"content\":[]}"`))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _, _ = toolText(data) })
}

func TestRetryAfter(t *testing.T) {
	for v, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "-1": 0, "x": 0, "99999999999": 24 * time.Hour, "100000000": 24 * time.Hour, "Mon, 02 Jan 2006 15:04:05 GMT": 0} {
		if got := retryAfter(http.Header{"Retry-After": {v}}); got != want {
			t.Errorf("%q: %v, want %v", v, got, want)
		}
	}
	soon := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	if got := retryAfter(http.Header{"Retry-After": {soon}}); got < 50*time.Second || got > time.Minute {
		t.Errorf("a date in a minute: %v", got)
	}
}

func TestBaseURL(t *testing.T) {
	for v, ok := range map[string]bool{
		"https://a.example/api/": true, "http://127.0.0.1:8080": true, "http://localhost:3000/api": true, "http://[::1]:1": true,
		"http://a.example": false, "http://127.0.0.1.example": false, "": false, "a.example": false, "https://": false, "ftp://a.example": false,
		"https://user:pw@a.example": false, "https://a.example/?x=1": false,
	} {
		got, err := baseURL("SETTING", v)
		if (err == nil) != ok || strings.HasSuffix(got, "/") {
			t.Errorf("%q: %q, %v", v, got, err)
		}
	}
}

// TestSignals: how a process that a signal ended is told as a code.
func TestSignals(t *testing.T) {
	for status, code := range map[string]int{"signal: killed": 137, "signal: terminated": 143, "signal: segmentation fault (core dumped)": 139, "exit status 4": 4} {
		if got := (e2bEnd{ExitCode: 4, Status: status}).code(); got != code {
			t.Errorf("%s: %d", status, got)
		}
	}
}
