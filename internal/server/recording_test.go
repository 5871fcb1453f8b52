package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/klauspost/compress/zstd"

	"github.com/evertty/evertty/internal/asciicast"
	"github.com/evertty/evertty/internal/server/auth"
)

func init() {
	openapi3filter.RegisterBodyDecoder(asciicast.ContentType, openapi3filter.FileBodyDecoder)
}

// eventsOf is the codes and data of a recording, without the times.
func eventsOf(t *testing.T, cast []byte) (h asciicast.Header, events []string) {
	t.Helper()
	r, err := asciicast.NewReader(bytes.NewReader(cast))
	if err != nil {
		t.Fatalf("%v: %s", err, cast)
	}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.Header(), events
		}
		if err != nil {
			t.Fatalf("%v: %s", err, cast)
		}
		events = append(events, string(e.Code)+" "+e.Data)
	}
}

// joined is all output of a recording.
func joined(events []string) string {
	var b strings.Builder
	for _, e := range events {
		if s, ok := strings.CutPrefix(e, "o "); ok {
			b.WriteString(s)
		}
	}
	return b.String()
}

// TestRecording records a running terminal, follows it to its end and records it
// again.
func TestRecording(t *testing.T) {
	checkLeaks(t)
	c := newContract(t, startServer(t, auth.ModeNone, t.TempDir()))
	const script = `{"cmd":["sh","-c","stty -echo -opost; printf 'one\\377\\303'; read x; printf '\\251two'; exit ` +
		`3"],"cols":80,"rows":24,"name":"rec","env":{"SHELL":"/bin/x"}}`
	c.do(t, exchange{method: "POST", target: "/session/dev/pty", body: script, status: 201})
	c.do(t, exchange{method: "POST", target: "/pty/rec/wait", body: `{"for":"text","pattern":"one"}`, status: 200})
	h, events := eventsOf(t, c.do(t, exchange{method: "GET", target: "/pty/rec/recording", status: 200}))
	if h.Version != 3 || h.Cols != 80 || h.Rows != 24 || h.Title != "rec" || h.Type != "xterm-256color" ||
		!strings.HasPrefix(h.Command, "sh -c 'stty") || h.Env["SHELL"] != "/bin/x" || h.Time.IsZero() {
		t.Errorf("the header is %+v", h)
	}
	if got := joined(events); got != "one\ufffd\ufffd" && got != "one\ufffd" { // the byte of a character may still come
		t.Errorf("so far it has %q", events)
	}
	c.do(t, exchange{method: "POST", target: "/pty/rec/resize", body: `{"cols":100,"rows":30}`, status: 200})
	c.follow(t)
	for _, base := range []string{"/pty/rec", "/session/dev/pty/rec"} {
		c.visitRecording(t, base+"/recording")
	}
}

// follow reads the recording while it goes on.
func (c *contract) follow(t *testing.T) {
	t.Helper()
	response, err := c.client.Get(c.url + "/pty/rec/recording?follow=1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	r := bufio.NewReader(response.Body)
	var b bytes.Buffer
	for !strings.Contains(b.String(), "100x30") {
		line, err := r.ReadBytes('\n')
		b.Write(line)
		if err != nil {
			t.Fatalf("%v behind %s", err, b.Bytes())
		}
	}
	c.do(t, exchange{method: "POST", target: "/pty/rec/input", body: `{"data":"\n"}`, status: 200})
	if _, err := b.ReadFrom(r); err != nil {
		t.Fatal(err)
	}
	if _, events := eventsOf(t, b.Bytes()); joined(events) != "one\ufffdétwo" || events[len(events)-1] != "x 3" {
		t.Errorf("it has %q", events)
	}
}

// visitRecording looks at the recording of the ended terminal in every way.
func (c *contract) visitRecording(t *testing.T, target string) {
	t.Helper()
	v3 := c.do(t, exchange{method: "GET", target: target + "?format=asciicast-v3&follow=1", status: 200})
	_, events := eventsOf(t, v3)
	if joined(events) != "one\ufffdétwo" || !slices.Contains(events, "r 100x30") || events[len(events)-1] != "x 3" {
		t.Errorf("version 3 has %q", events)
	}
	v2 := c.do(t, exchange{method: "GET", target: target + "?format=asciicast-v2", status: 200})
	if h, events := eventsOf(t, v2); h.Version != 2 || joined(events) != "one\ufffdétwo" ||
		events[len(events)-1] != "m exit 3" {
		t.Errorf("version 2 has %+v %q", h, events)
	}
	if raw := c.do(t, exchange{method: "GET", target: target + "?format=raw",
		status: 200}); string(raw) != "one\xff\xc3\xa9two" {
		t.Errorf("raw is %q", raw)
	}
	if raw := c.do(t, exchange{method: "GET", target: target + "?format=raw&from=6",
		status: 200}); string(raw) != "two" {
		t.Errorf("raw from 6 is %q", raw)
	}
	if h, events := eventsOf(t, c.do(t, exchange{method: "GET", target: target + "?from=6",
		status: 200})); h.Cols != 100 || h.Rows != 30 || !slices.Equal(events, []string{"o two", "x 3"}) {
		t.Errorf("from 6 it is %+v %q", h, events)
	}
	for _, coding := range []string{"gzip", "zstd"} {
		if got := uncoded(t, coding, c.do(t, exchange{method: "GET", target: target, status: 200,
			header: "Accept-Encoding: " + coding})); !bytes.Equal(got, v3) {
			t.Errorf("as %s it is %s", coding, got)
		}
	}
	body := c.do(t, exchange{method: "GET", target: target + "?from=999", status: http.StatusNotFound,
		code: "NOT_KEPT"})
	if !bytes.Contains(body, []byte(`"details":{"end":9,"start":0}`)) {
		t.Errorf("from 999 is %s", body)
	}
	for _, query := range []string{"?format=gif", "?from=-1", "?from=x", "?follow=yes"} {
		c.do(t, exchange{method: "GET", target: target + query, status: http.StatusBadRequest, code: "VALIDATION"})
	}
}

func uncoded(t *testing.T, coding string, p []byte) []byte {
	t.Helper()
	var r io.Reader
	var err error
	if coding == "gzip" {
		r, err = gzip.NewReader(bytes.NewReader(p))
	} else {
		var z *zstd.Decoder
		if z, err = zstd.NewReader(bytes.NewReader(p), zstd.WithDecoderConcurrency(1)); err == nil {
			defer z.Close()
			r = z
		}
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", coding, err, base64.StdEncoding.EncodeToString(p))
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("%s: %v", coding, err)
	}
	return out
}

func TestCommandLine(t *testing.T) {
	for want, argv := range map[string][]string{
		"":                      nil,
		"bash -l":               {"bash", "-l"},
		`sh -c 'echo $1' ''`:    {"sh", "-c", "echo $1", ""},
		`echo 'it'\''s' /a.b_c`: {"echo", "it's", "/a.b_c"},
	} {
		if got := commandLine(argv); got != want {
			t.Errorf("%q: got %s, want %s", argv, got, want)
		}
	}
}
