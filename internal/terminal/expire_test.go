package terminal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// openClean opens a server with a policy.
func openClean(t *testing.T, dir string, c terminal.CleanPolicy) *supervisor.Supervisor {
	t.Helper()
	return openWith(t, dir, supervisor.Config{Terminals: terminal.Config{Engine: vt.NewEngine, Clean: c}})
}

// editRecord changes the record of a terminal while no server runs.
func editRecord(t *testing.T, dir, id string, change func(r map[string]any)) {
	t.Helper()
	store, err := datadir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b, _, err := store.LoadMeta(id)
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	change(r)
	if b, err = json.Marshal(r); err != nil {
		t.Fatal(err)
	}
	if err := store.SaveMeta(id, b); err != nil {
		t.Fatal(err)
	}
}

// TestExpiry: a terminal that nobody has used ends, and one that somebody has typed into or looked at does not, also
// under the next server; after a time without use each of them ends.
func TestExpiry(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	ended := start(t, m, "true")
	<-ended.Done()
	unused, typed, seen := start(t, m, "cat"), start(t, m, "cat"), start(t, m, "cat")
	typeIn(t, typed, "x")
	sub := seen.Hub().Subscribe(stream.SubscribeOptions{})
	if _, err := sub.Next(context.Background()); err != nil {
		t.Fatal(err)
	}
	seen.Detach(sub)
	leave(t, m)
	m = openClean(t, dir, terminal.CleanPolicy{Unattached: time.Nanosecond, Idle: time.Hour})
	until(t, "the end of the unused one", func() bool { return findIn(t, m, unused.ID).Deleted() })
	next := start(t, m, "cat") // then all others were looked at
	until(t, "the end of one behind it", func() bool { return findIn(t, m, next.ID).Deleted() })
	for _, term := range []*terminal.Terminal{ended, typed, seen} {
		if findIn(t, m, term.ID).Deleted() {
			t.Errorf("%q was deleted", term.Wire().Cmd)
		}
	}
	leave(t, m)
	m = openClean(t, dir, terminal.CleanPolicy{Idle: time.Nanosecond})
	until(t, "the end of all", func() bool {
		return findIn(t, m, typed.ID).Deleted() && findIn(t, m, seen.ID).Deleted()
	})
	if findIn(t, m, ended.ID).Deleted() {
		t.Error("one that had ended was deleted")
	}
}

// TestDeletedArePurgedAfterADay: what was deleted stays readable for 24 hours.
func TestDeletedArePurgedAfterADay(t *testing.T) {
	dir := t.TempDir()
	m := open(t, dir)
	ended, old, recent := start(t, m, "true"), start(t, m, "cat"), start(t, m, "cat")
	<-ended.Done()
	for _, term := range []*terminal.Terminal{old, recent} {
		remove(t, m.Terminals, term, false)
	}
	leave(t, m)
	for term, age := range map[*terminal.Terminal]time.Duration{old: 25 * time.Hour, recent: 23 * time.Hour} {
		editRecord(t, dir, term.ID, func(r map[string]any) { r["deleted_at"] = time.Now().Add(-age) })
	}
	m = open(t, dir)
	until(t, "the purge", func() bool {
		_, err := m.Terminals.Find("", old.ID)
		left, _ := filepath.Glob(filepath.Join(dir, "terminals", old.ID))
		return errors.Is(err, terminal.ErrNotFound) && len(left) == 0
	})
	if !findIn(t, m, recent.ID).Deleted() || findIn(t, m, ended.ID).Deleted() {
		t.Error("another one is not as it was")
	}
}

// TestQuotasPurgeWhatEndedFirst: where compression is not enough the terminals that ended first go, and only as many
// as it takes; one that runs stays, and health says when that is above a quota.
func TestQuotasPurgeWhatEndedFirst(t *testing.T) {
	parallel(t)
	const size = 200_000 // of random output, in bytes: compression saves nothing
	for _, c := range []struct {
		name    string
		policy  terminal.CleanPolicy
		left    []int // of three, the second of which ended first, then the first
		problem string
	}{
		{"journals", terminal.CleanPolicy{JournalQuota: size * 5 / 2}, []int{0, 2}, ""},
		{"snapshots", terminal.CleanPolicy{SnapshotQuota: 1}, nil, "more than their quota and are all in use"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := open(t, dir)
			running := start(t, m, "bash", "-c", "echo runs; exec cat")
			see(t, running, "runs")
			var list []*terminal.Terminal
			for range 3 {
				list = append(list, start(t, m, "bash", "-c",
					fmt.Sprintf("base64 -w0 /dev/urandom | head -c %d; echo; echo all; read", size)))
			}
			for _, i := range []int{1, 0, 2} {
				see(t, list[i], "(?m)^all$")
				typeIn(t, list[i], "\n")
				<-list[i].Done()
			}
			leave(t, m)
			m = openClean(t, dir, c.policy)
			want := []string{running.ID}
			for _, i := range c.left {
				want = append(want, list[i].ID)
			}
			until(t, "room", func() bool {
				return len(m.Terminals.List("")) <= len(want) && strings.Contains(m.Terminals.CleanProblem(), c.problem)
			})
			for range 2 { // also under the server after it
				leave(t, m)
				m = openClean(t, dir, c.policy)
				got := ids(m.Terminals.List(""))
				if strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("left are %q, want %q", got, want)
				}
				for _, id := range want {
					term := findIn(t, m, id)
					if text := textOf(term); !strings.Contains(text, "runs") && !strings.Contains(text, "all") ||
						term.Wire().Damage != "" {
						t.Errorf("%q, %q", text, term.Wire().Damage)
					}
				}
			}
			if entries, err := os.ReadDir(filepath.Join(dir, "terminals")); err != nil || len(entries) != len(want) {
				t.Errorf("files are left of %d terminals, %v", len(entries), err)
			}
		})
	}
}
