package auth

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
)

// auditLines is what a file of an audit log has.
func auditLines(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestAuditLines: each line is in the file when Add returns, refusals have a file of their own, and both files are
// private.
func TestAuditLines(t *testing.T) {
	dir := t.TempDir()
	a := OpenAuditLog(dir, slog.New(slog.DiscardHandler))
	at := time.Date(2026, 5, 1, 12, 0, 0, 1_999_999, time.UTC)
	a.Add(AuditEntry{At: at, Who: "token", From: "unix", What: "pty.create", Target: "<a>&b", Result: "ok"})
	a.Add(AuditEntry{At: at, Who: "nobody", What: AuditRefused})
	a.Add(AuditEntry{At: at, Who: "nobody", What: auditSkipped})
	a.Add(AuditEntry{At: at, Who: "cookie", What: "pty.kill"})
	const first = `{"at":"2026-05-01T12:00:00.001Z","who":"token","from":"unix","what":"pty.create","target":"<a>&b",` +
		`"result":"ok"}` + "\n"
	got := auditLines(t, dir, AuditFile)
	if !strings.HasPrefix(got, first) || strings.Count(got, "\n") != 2 || !strings.Contains(got, "pty.kill") {
		t.Errorf("%s", got)
	}
	if got := auditLines(t, dir, RefusedAuditFile); strings.Count(got, "\n") != 2 || strings.Contains(got, "pty.") {
		t.Errorf("%s", got)
	}
	for _, name := range []string{AuditFile, RefusedAuditFile} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := a.Trouble(); err != nil {
		t.Error(err)
	}
	(*AuditLog)(nil).Add(AuditEntry{})
	if err := (*AuditLog)(nil).Trouble(); err != nil {
		t.Error(err)
	}
}

// TestAuditLogRotates: a full file is renamed, OldAudits of them stay, and a removed file is made again.
func TestAuditLogRotates(t *testing.T) {
	dir := t.TempDir()
	a := OpenAuditLog(dir, slog.New(slog.DiscardHandler))
	a.max = 1
	for n := range OldAudits + 3 {
		a.Add(AuditEntry{What: "line " + strconv.Itoa(n)})
	}
	for n := range OldAudits + 1 {
		name := AuditFile
		if n > 0 {
			name += "." + strconv.Itoa(n)
		}
		if got := auditLines(t, dir, name); !strings.Contains(got, "line "+strconv.Itoa(OldAudits+2-n)) ||
			strings.Count(got, "\n") != 1 {
			t.Errorf("%s: %s", name, got)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != OldAudits+1 {
		t.Errorf("%d files", len(entries))
	}
	a.max = MaxAudit
	if err := os.Remove(filepath.Join(dir, AuditFile)); err != nil {
		t.Fatal(err)
	}
	a.Add(AuditEntry{What: "after"})
	a.Add(AuditEntry{What: "and after"})
	if got := auditLines(t, dir, AuditFile); strings.Count(got, "\n") != 2 {
		t.Errorf("%s", got)
	}
	if got := auditLines(t, dir, AuditFile+".1"); !strings.Contains(got, "line "+strconv.Itoa(OldAudits+1)) {
		t.Errorf("a removed file was rotated: %s", got)
	}
}

// TestAuditLogTornLine: a line never continues one that a killed server left unfinished.
func TestAuditLogTornLine(t *testing.T) {
	for before, want := range map[string]string{"": "", "whole\n": "whole\n", "torn": "torn\n", "\n": "\n"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, AuditFile), []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		a := OpenAuditLog(dir, slog.New(slog.DiscardHandler))
		a.Add(AuditEntry{What: "next"})
		a.Add(AuditEntry{What: "last"})
		got := auditLines(t, dir, AuditFile)
		if !strings.HasPrefix(got, want+"{") || strings.Count(got, "\n") != strings.Count(want, "\n")+2 {
			t.Errorf("%q: %q", before, got)
		}
	}
}

// TestAuditLogCountsLostLines: what a broken disk and a full queue lose is reported with the next line that is written.
// The log of the server has one message for a series of failures.
func TestAuditLogCountsLostLines(t *testing.T) {
	dir := t.TempDir()
	var said bytes.Buffer
	a := OpenAuditLog(dir, slog.New(slog.NewTextHandler(&said, nil)))
	file := filepath.Join(dir, AuditFile)
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		a.Add(AuditEntry{What: "lost"})
	}
	if err := a.Trouble(); err == nil {
		t.Error("no trouble")
	}
	if n := strings.Count(said.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d messages: %s", n, said.String())
	}
	if done := a.enqueue(make([]byte, MaxAuditWaiting+1)); done != nil {
		t.Error("a line above the bound was queued")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	a.Add(AuditEntry{What: "kept"})
	a.Add(AuditEntry{What: "kept"})
	got := auditLines(t, dir, AuditFile)
	if !strings.Contains(got, `"what":"audit.lost","target":"","result":"4"}`) || strings.Count(got, "\n") != 3 {
		t.Errorf("%s", got)
	}
	if err := a.Trouble(); err != nil {
		t.Error(err)
	}
	exact := a.enqueue(append(bytes.Repeat([]byte("x"), MaxAuditWaiting-1), '\n'))
	if exact == nil {
		t.Fatal("a line of the bound was refused")
	}
	<-exact
	if got := auditLines(t, dir, AuditFile); strings.Count(got, "\n") != 4 || strings.Count(got, "audit.lost") != 1 {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}

// TestRefusalsAreCounted: a flood of refusals is cut, and the next line says how many were left out.
func TestRefusalsAreCounted(t *testing.T) {
	dir := t.TempDir()
	g := newGate(t, Config{Audit: OpenAuditLog(dir, slog.New(slog.DiscardHandler))})
	note := func(what string) {
		c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/pty", nil), httptest.NewRecorder())
		g.auth.Note(c, what, "x", "401")
	}
	for range failureBurst + 3 {
		note(AuditRefused)
	}
	note("pty.kill")
	note("pty.kill")
	refused := auditLines(t, dir, RefusedAuditFile)
	if strings.Count(refused, `"what":"`+AuditRefused+`"`) != failureBurst ||
		strings.Count(refused, auditSkipped) != 1 || !strings.Contains(refused, `"result":"3"`) {
		t.Errorf("%s", refused)
	}
	if got := auditLines(t, dir, AuditFile); strings.Count(got, "pty.kill") != 2 {
		t.Errorf("%s", got)
	}
}

// TestWhereARequestIsFrom: a connection of the Unix socket has no address, and its line says so.
func TestWhereARequestIsFrom(t *testing.T) {
	for address, want := range map[string]string{"": "unix", "@": "unix", "10.0.0.1:5": "10.0.0.1:5"} {
		if got := fromOf(&http.Request{RemoteAddr: address}); got != want {
			t.Errorf("%q is from %q, want %q", address, got, want)
		}
	}
}
