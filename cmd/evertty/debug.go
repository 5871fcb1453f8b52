//go:build linux

package main

import (
	"log/slog"
	"net/http"
	"net/http/pprof"
	"path/filepath"
	"time"
)

// debugSocket is the name in the data directory of the socket with the profiles.
const debugSocket = "debug.sock"

// debugHeader is how long the header of a request to it may take.
const debugHeader = 5 * time.Second

// serveDebug serves the profiles of the runtime on a socket in dir, to this user and root alone, until stop is called.
// A server that cannot do it works without.
func serveDebug(dir string, log *slog.Logger) (stop func()) {
	l, err := listenUnix(filepath.Join(dir, debugSocket))
	if err != nil {
		log.Error("no profiles", "error", err)
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index) // heap, goroutine and the like too
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	s := &http.Server{Handler: mux, ReadHeaderTimeout: debugHeader}
	go func() { _ = s.Serve(ownListener{l}) }()
	slog.Info("profiles are served", "directory", dir)
	return func() { _ = s.Close() }
}
