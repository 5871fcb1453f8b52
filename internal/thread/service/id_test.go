package service

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/thread"
)

// TestNamesThatLookLikeOptions: no thread and no lease is made under a name that begins with '-';
// the error says the name. A thread that has one, of an earlier server, is used and deleted.
func TestNamesThatLookLikeOptions(t *testing.T) {
	r := newRig(t)
	const name = "-rf"
	_, err := r.lifecycle.open(t.Context(), name, thread.Use{})
	r.refused(err, thread.ErrInvalid)
	if !strings.Contains(err.Error(), `"-rf" begins with "-"`) {
		t.Error(err)
	}
	r.refused(second(r.providerName(name)), thread.ErrInvalid)
	_, err = r.CreateLease(name, "e2b", "")
	r.refused(err, thread.ErrInvalid)
	r.open("old", thread.Use{Terminal: "t1", Kind: thread.PTY, Provider: thread.Local})
	r.restart(func() {
		for _, query := range []string{`UPDATE threads SET id = ? WHERE id = 'old'`,
			`UPDATE sessions SET thread_id = ? WHERE thread_id = 'old'`,
			`UPDATE terminals SET thread_id = ? WHERE thread_id = 'old'`} {
			r.raw(query, name)
		}
	})
	r.ok(second(r.providerName(name)))
	r.open(name, thread.Use{Terminal: "t2", Kind: thread.PTY})
	r.ok(r.lifecycle.delete(t.Context(), name))
}
