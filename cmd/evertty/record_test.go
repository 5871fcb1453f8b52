//go:build linux

package main

import (
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hangingReader gives its text, then waits until the test is over.
type hangingReader struct {
	io.Reader
	end <-chan struct{}
}

func (h hangingReader) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if err == io.EOF {
		<-h.end
	}
	return n, err
}

func TestCopyLinesWritesWholeLines(t *testing.T) {
	long := strings.Repeat("x", 3*linesPiece)
	for _, tc := range []struct{ in, want string }{
		{"", ""}, {"a", ""}, {"a\nb", "a\n"}, {long + "\n\n" + long, long + "\n\n"}, {"a\nb\n", "a\nb\n"},
	} {
		var b strings.Builder
		if err := copyLines(&b, strings.NewReader(tc.in)); err != nil || b.String() != tc.want {
			t.Errorf("%.20q: got %.20q %v, want %.20q", tc.in, b.String(), err, tc.want)
		}
	}
	end := make(chan struct{})
	defer close(end)
	r, w := io.Pipe()
	go func() {
		_ = copyLines(w, hangingReader{strings.NewReader("a\nb\nc"), end})
		_ = w.Close()
	}()
	got := make([]byte, 4)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "a\nb\n" {
		t.Errorf("while it waits for more it has written %q, %v", got, err)
	}
}

func TestRecord(t *testing.T) {
	cast := castHead + "[0.000, \"o\", \"a\"]\n"
	server := &recorder{answers: map[string][]string{
		"GET /pty/build":           {`200 {"id":"build"}`},
		"GET /pty/build/recording": {"200 " + cast},
		"GET /pty/old/recording": {`404 {"error":"from 5: position not kept in the journal, which has 100 to ` +
			`2000","code":"NOT_KEPT","details":{"start":100,"end":2000}}`},
	}}
	s := httptest.NewServer(server)
	defer s.Close()
	t.Setenv(envServer, s.URL)
	t.Setenv(envDataDir, t.TempDir())
	file := filepath.Join(t.TempDir(), "x.cast")
	for _, tc := range []struct {
		args, asked, out, err string
		code                  int
	}{
		{"build", "GET /pty/build/recording?format=asciicast-v3", cast, "", 0},
		{"build --format raw --from 7 --follow", "GET /pty/build\nGET /pty/build/recording?follow=1&format=raw&from=7",
			cast, "", 0},
		{"build --format asciicast-v2 -o " + file, "GET /pty/build/recording?format=asciicast-v2", "", "", 0},
		{"old --from 5", "GET /pty/old/recording?format=asciicast-v3&from=5", "", "position not kept", 4},
		{"build --from -1", "", "", `--from: got "-1"`, 2},
		{"build --format gif", "", "", `--format: got "gif"`, 2},
		{"build -o /no/such/file", "GET /pty/build/recording?format=asciicast-v3", "", "no such file", 1},
	} {
		server.asked = nil
		got := evertty(t, "", append([]string{"record"}, strings.Fields(tc.args)...)...)
		if asked := strings.Join(server.asked, "\n"); asked != tc.asked || got.code != tc.code ||
			got.stdout != tc.out || !strings.Contains(got.stderr, tc.err) {
			t.Errorf("%s: asked %q, got %+v", tc.args, asked, got)
		}
	}
	b, err := os.ReadFile(file)
	info, err2 := os.Stat(file)
	if err != nil || err2 != nil || string(b) != cast || info.Mode().Perm() != recordingMode {
		t.Errorf("the file is %q, %v %v %v", b, info, err, err2)
	}
}
