package server

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/server/auth"
)

// TestEveryEffectIsAuditedOrNot: every route with an effect has a word in the audit log, or says that it is left out; a
// wait and a webhook, which have none, do not.
func TestEveryEffectIsAuditedOrNot(t *testing.T) {
	for _, r := range routes() {
		if (r.Audit != "") != r.Effect {
			t.Errorf("%s %s: in the audit log as %q, has an effect %v", r.Method, r.Path, r.Audit, r.Effect)
		}
	}
}

// linesOf are the entries of a file; each has to be whole.
func linesOf(t *testing.T, path string) (list []auth.AuditEntry) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e auth.AuditEntry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		list = append(list, e)
	}
	return list
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestAuditLogOfMany: every line of many at once is there, whole, in files that are bounded and
// nobody else's.
func TestAuditLogOfMany(t *testing.T) {
	dir := t.TempDir()
	defer syscall.Umask(syscall.Umask(0))
	a := auth.OpenAuditLog(dir, discard())
	const writers, each = 20, 100
	var work sync.WaitGroup
	for w := range writers {
		work.Go(func() {
			for i := range each {
				a.Add(auth.AuditEntry{At: time.Now(), Who: auth.ByToken, What: "terminal.create",
					Target: strconv.Itoa(w*each + i),
					Result: "ok"})
			}
		})
	}
	work.Wait()
	seen := map[string]bool{}
	for _, e := range linesOf(t, filepath.Join(dir, auth.AuditFile)) {
		seen[e.Target] = true
	}
	if len(seen) != writers*each {
		t.Errorf("%d of %d lines", len(seen), writers*each)
	}
	info, err := os.Stat(filepath.Join(dir, auth.AuditFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestAuditLogRotates: at most OldAudits older files, the newest lines in the newest, and a torn
// line does not spoil the next.
func TestAuditLogRotates(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, auth.AuditFile)
	if err := os.WriteFile(path, []byte(`{"at":"2026-01-01T00`), 0o644); err != nil {
		t.Fatal(err)
	}
	a := auth.OpenAuditLog(dir, discard())
	a.Add(auth.AuditEntry{What: "first"})
	if text, _ := os.ReadFile(path); !strings.Contains(string(text), "\n{") {
		t.Errorf("after a torn line: %q", text)
	}
	for i := range auth.OldAudits + 3 {
		if err := os.Truncate(path, auth.MaxAudit); err != nil { // as long as it may be
			t.Fatal(err)
		}
		a = auth.OpenAuditLog(dir, discard())
		a.Add(auth.AuditEntry{What: "end of the old one"})
		a.Add(auth.AuditEntry{What: strconv.Itoa(i)})
		if list := linesOf(t, path); len(list) != 1 || list[0].What != strconv.Itoa(i) {
			t.Fatalf("file %d: %+v", i, list)
		}
	}
	files, err := filepath.Glob(path + "*")
	want := []string{path}
	for n := 1; n <= auth.OldAudits; n++ {
		want = append(want, path+"."+strconv.Itoa(n))
	}
	if err != nil || !slices.Equal(files, want) {
		t.Errorf("%v, want %v", files, want)
	}
	if err := os.Remove(path); err != nil { // by somebody
		t.Fatal(err)
	}
	a.Add(auth.AuditEntry{What: "again"})
	if list := linesOf(t, path); len(list) != 1 || list[0].What != "again" {
		t.Errorf("%+v", list)
	}
}

// TestRefusalsDisplaceNoOtherLine: whoever has no credentials fills files of their own, which are bounded.
func TestRefusalsDisplaceNoOtherLine(t *testing.T) {
	dir := t.TempDir()
	a := auth.OpenAuditLog(dir, discard())
	a.Add(auth.AuditEntry{What: "thread.delete", Target: "first"})
	const each, lines = 100 << 10, 100 // more than all files together
	for range lines {
		a.Add(auth.AuditEntry{What: auth.AuditRefused, Target: strings.Repeat("<", each)})
	}
	if list := linesOf(t, filepath.Join(dir, auth.AuditFile)); len(list) != 1 || list[0].Target != "first" {
		t.Errorf("%d lines in %s", len(list), auth.AuditFile)
	}
	files, err := filepath.Glob(filepath.Join(dir, auth.RefusedAuditFile+"*"))
	if err != nil || len(files) != 1+auth.OldAudits {
		t.Errorf("%v, %v", files, err)
	}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() > auth.MaxRefusedAudit+auth.MaxAuditWaiting {
			t.Errorf("%v, %v", info, err)
		}
	}
	text, err := os.ReadFile(files[0])
	if line, _, _ := strings.Cut(string(text), "\n"); err != nil || len(line) > each+200 {
		t.Errorf("a line of %d bytes has %d characters, %v", len(line), each, err)
	}
}

// TestAuditLogWithoutRoom: a disk that takes nothing is trouble that is told, and no more; what is
// missing is counted when it takes lines again.
func TestAuditLogWithoutRoom(t *testing.T) {
	dir := t.TempDir()
	a := auth.OpenAuditLog(dir, discard())
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no full device here: ", err)
	}
	a.File = full
	for range 3 {
		a.Add(auth.AuditEntry{What: "terminal.create"})
	}
	if a.Trouble() == nil {
		t.Error("no trouble")
	}
	_ = full.Close() // the next write fails otherwise; then there is none
	a.Add(auth.AuditEntry{What: "terminal.create"})
	a.Mu.Lock()
	a.File = nil
	a.Mu.Unlock()
	a.Add(auth.AuditEntry{What: "terminal.delete"})
	list := linesOf(t, filepath.Join(dir, auth.AuditFile))
	if len(list) != 2 || list[0].What != "audit.lost" || list[0].Result != "4" || list[1].What != "terminal.delete" ||
		a.Trouble() != nil {
		t.Errorf("%+v, %v", list, a.Trouble())
	}
}

// TestAuditLogThatHangs: a disk that hangs holds nobody up for long.
func TestAuditLogThatHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("drives every route of a server")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	stuck, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := stuck.SetDeadline(time.Time{}); err != nil { // else Close does not wake a writer
		t.Skip("a write to a FIFO cannot be woken here: ", err)
	}
	a := auth.OpenAuditLog(dir, discard())
	a.File = stuck
	begin := time.Now()
	long := strings.Repeat("x", 70<<10) // more than the FIFO holds
	for range 20 {
		a.Add(auth.AuditEntry{Target: long})
	}
	if took := time.Since(begin); took > 20*auth.AuditPatience+5*time.Second {
		t.Errorf("20 lines took %v", took)
	}
	if n := len(a.Waiting.Lines); n > auth.MaxAuditWaiting {
		t.Errorf("%d bytes wait", n)
	}
	_ = stuck.Close()
}
