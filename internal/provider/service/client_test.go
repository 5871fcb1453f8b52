package service

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	for v, want := range map[string]time.Duration{"": 0, "3": 3 * time.Second, "-1": 0, "x": 0,
		"99999999999": 24 * time.Hour, "100000000": 24 * time.Hour, "Mon, 02 Jan 2006 15:04:05 GMT": 0} {
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
		"https://a.example/api/": true, "http://127.0.0.1:8080": true, "http://localhost:3000/api": true,
		"http://[::1]:1":   true,
		"http://a.example": false, "http://127.0.0.1.example": false, "": false, "a.example": false, "https://": false,
		"ftp://a.example":           false,
		"https://user:pw@a.example": false, "https://a.example/?x=1": false,
	} {
		got, err := BaseURL("SETTING", v)
		if (err == nil) != ok || strings.HasSuffix(got, "/") {
			t.Errorf("%q: %q, %v", v, got, err)
		}
	}
}
