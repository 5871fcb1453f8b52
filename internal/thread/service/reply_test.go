package service

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/thread"
)

// What clients of the older design read, the keys and what is in them.
func TestReplies(t *testing.T) {
	r := newRig(t)
	l := r.open("t1", thread.Use{})
	r.clock.pass(30 * time.Minute)
	r.ok(r.expiry.touchSession("t1"))
	r.save(l.Terminal.ID, "/home/user/project", map[string]string{"CUSTOM_VAR": "value"})
	l = r.status("t1")
	for name, c := range map[string]struct {
		reply any
		want  map[string]any
	}{
		"session": {l.WireSession(), map[string]any{"thread_id": "t1", "session_id": l.Session.ID,
			"terminal_id": l.Terminal.ID, "status": "active",
			"created_at": "2026-02-08T10:00:00Z", "last_active_at": "2026-02-08T10:30:00Z",
			"expires_at":   "2026-02-08T11:00:00Z",
			"idle_seconds": 1800.0, "max_seconds": 86400.0}},
		"terminal": {l.WireTerminal(), map[string]any{"thread_id": "t1", "terminal_id": l.Terminal.ID,
			"lease_id": l.Lease.ID, "cwd": "/home/user/project",
			"env_delta": map[string]any{"CUSTOM_VAR": "value"}, "version": 1.0, "created_at": "2026-02-08T10:00:00Z",
			"updated_at":    "2026-02-08T10:30:00Z",
			"state_version": 1.0, "env_unset": []any{}, "kind": "shell", "name": l.Terminal.ID, "active": true}},
		"lease": {l.WireLease(), map[string]any{"thread_id": "t1", "lease_id": l.Lease.ID, "provider_name": "e2b",
			"instance": map[string]any{"instance_id": "e2b-i1", "state": "running",
				"started_at": "2026-02-08T10:00:00Z"},
			"created_at": "2026-02-08T10:00:00Z", "updated_at": "2026-02-08T10:00:00Z",
			"desired_state": "running", "observed_state": "running", "status": "active", "version": 1.0,
			"last_error": ""}},
		"thread": {l.Wire(), map[string]any{"thread_id": "t1", "messages": []any{},
			"sandbox": map[string]any{"type": "e2b", "status": "active", "session_id": l.Session.ID,
				"terminal_id": l.Terminal.ID},
			"lease_id": l.Lease.ID, "policy": map[string]any{"idle_seconds": 1800.0, "max_seconds": 86400.0},
			"created_at": "2026-02-08T10:00:00Z", "updated_at": "2026-02-08T10:00:00Z"}},
	} {
		b, err := json.Marshal(c.reply)
		r.ok(err)
		var got map[string]any
		r.ok(json.Unmarshal(b, &got))
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(c.want))) {
			t.Errorf("%s has %v", name, slices.Sorted(maps.Keys(got)))
		}
		for k, want := range c.want {
			a, _ := json.Marshal(got[k])
			b, _ := json.Marshal(want)
			if string(a) != string(b) {
				t.Errorf("%s: %s is %s, want %s", name, k, a, b)
			}
		}
	}
	// Before the first instance there is none; what ended says how.
	other, err := r.CreateLease("", "e2b", "")
	r.ok(err)
	if b, _ := json.Marshal(other.Instance); string(b) != "null" {
		t.Errorf("instance %s", b)
	}
	r.ok(r.lifecycle.destroy(t.Context(), "t1"))
	if s := r.status("t1").WireSession(); *s.Status != "closed" || s.CloseReason != "destroyed" || s.EndedAt.IsZero() {
		t.Errorf("%+v", s)
	}
}
