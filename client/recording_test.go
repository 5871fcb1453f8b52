package client

import (
	"errors"
	"io"
	"net/http"
	"testing"
)

func TestRecording(t *testing.T) {
	var asked []string
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RequestURI()+" "+r.Header.Get("Authorization"))
		switch r.URL.Path {
		case "/pty/a/recording":
			_, _ = io.WriteString(w, "all of it")
		case "/pty/broken/recording":
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"error":"from 5: not kept","code":"NOT_KEPT","details":{"start":7}}`)
		}
	}))
	five := uint64(5)
	read := func(id string, r RecordingRequest) (string, error) {
		in, err := c.Recording(t.Context(), id, r)
		if err != nil {
			return "", err
		}
		defer in.Close()
		b, err := io.ReadAll(in)
		return string(b), err
	}
	if s, err := read("a", RecordingRequest{}); s != "all of it" || err != nil {
		t.Errorf("got %q, %v", s, err)
	}
	if s, err := read("broken", RecordingRequest{Format: CastV2, Follow: true}); s != "half" || err == nil {
		t.Errorf("of a broken connection got %q, %v", s, err)
	}
	_, err := read("old", RecordingRequest{Format: Raw, From: &five})
	if refused, ok := errors.AsType[*Error](err); !ok || refused.Code != "NOT_KEPT" {
		t.Errorf("got %v", err)
	}
	want := []string{"/pty/a/recording Bearer secret",
		"/pty/broken/recording?follow=1&format=asciicast-v2 Bearer secret", "/pty/old/recording?format=raw&from=5 " +
			"Bearer secret"}
	for i, w := range want {
		if i >= len(asked) || asked[i] != w {
			t.Errorf("asked %q, want %q", asked, want)
			break
		}
	}
}
