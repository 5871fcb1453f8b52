package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

// watched is a store that tells of every Update after it, and fails those that fails names.
type watched struct {
	store.Database
	n     int
	after func(n int)
	fails func(n int) error
}

func (w *watched) Update(fn func(store.Tx) error) error {
	w.n++
	if err := w.fails(w.n); err != nil {
		return err
	}
	err := w.Database.Update(fn)
	w.after(w.n)
	return err
}

// staged are the records of which rows are there that belong to no thread.
func (r *rig) staged() (ids []string) {
	r.t.Helper()
	must(r.t, r.db.Conversations().View(func(tx store.Tx) (err error) {
		ids, err = tx.DeletedConversations("", 0)
		return err
	}))
	return ids
}

// TestAnImportIsSeenAsAWhole: it is written in several transactions, and between them readers find
// the conversation before it, and nothing of it.
func TestAnImportIsSeenAsAWhole(t *testing.T) {
	t.Parallel()
	r := openIdle(t)
	r.say("t", "before")
	old := r.head("t")
	d, _ := sample(t)
	seen := 0
	w := &watched{Database: r.db.Conversations(), fails: func(int) error { return nil }}
	w.after = func(int) {
		if h := r.head("t"); h.SessionID != old.SessionID {
			same(t, "messages of the new record", h.Messages, len(d.Messages))
			same(t, "its messages", len(r.contents("t", "", store.MessageQuery{})), len(d.Messages))
			return
		}
		seen++
		if list, err := r.List("t"); err != nil || len(list) != 1 {
			t.Errorf("a half of a record is listed: %+v (%v)", list, err)
		}
		_, err := r.Messages("t", d.SessionID, store.MessageQuery{})
		refused(t, err, conversation.ErrNotFound)
	}
	h, err := keeping(w).Import("t", d)
	must(t, err)
	if seen == 0 {
		t.Error("it was one transaction")
	}
	if left := r.staged(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	same(t, "the current one", r.head("t"), h)
	list, err := r.List("t")
	must(t, err)
	if len(list) != 2 || list[0].SessionID != h.SessionID {
		t.Errorf("%+v", list)
	}
}

// TestAnImportThatWasCutShort leaves nothing that is found, and the next server, or the next try,
// begins anew.
func TestAnImportThatWasCutShort(t *testing.T) {
	t.Parallel()
	r := openIdle(t)
	r.say("t", "before")
	old := r.head("t")
	d, _ := sample(t)
	killed := errors.New("killed")
	w := &watched{Database: r.db.Conversations(), after: func(int) {}, fails: func(n int) error {
		if n > 1 {
			return killed
		}
		return nil
	}}
	_, err := keeping(w).Import("t", d)
	refused(t, err, killed)
	same(t, "what is left of it", r.staged(), []string{d.SessionID})
	same(t, "the current one", r.head("t"), old)
	r.idle = false
	r.again()
	until(t, "the purge", func() bool { return len(r.staged()) == 0 })
	w.n, w.Database, w.fails = 0, r.db.Conversations(), func(n int) error {
		if n == 2 {
			return killed
		}
		return nil
	}
	_, err = keeping(w).Import("t", d) // this time it lives to tidy up
	refused(t, err, killed)
	same(t, "what is left of it", len(r.staged()), 0)
	h, err := r.Import("t", d)
	must(t, err)
	same(t, "the current one", r.head("t"), h)
	same(t, "its messages", len(r.contents("t", "", store.MessageQuery{})), len(d.Messages))
}

// TestAnIDOfADeletedConversation: a document gets the id of a conversation that was deleted and not yet purged, so that
// no user learns that another had it.
func TestAnIDOfADeletedConversation(t *testing.T) {
	t.Parallel()
	r := openIdle(t)
	r.thread("alice@t")
	r.thread("bob@t")
	d, _ := sample(t)
	_, err := r.Import("alice@t", d)
	must(t, err)
	must(t, r.dropRow("alice@t"))
	same(t, "what is left of it", r.staged(), []string{d.SessionID})
	h, err := r.Import("bob@t", d)
	must(t, err)
	same(t, "its id", h.SessionID, d.SessionID)
	same(t, "the current one", r.head("bob@t"), h)
	same(t, "its messages", len(r.contents("bob@t", "", store.MessageQuery{})), len(d.Messages))
}

// TestAPurgeWaitsForAnImport, whose rows look like rows of a deleted thread until its last transaction.
func TestAPurgeWaitsForAnImport(t *testing.T) {
	t.Parallel()
	r := openIdle(t)
	d, _ := sample(t)
	now, cancel := context.WithCancel(context.Background())
	cancel()
	purged := make(chan struct{})
	w := &watched{Database: r.db.Conversations(), fails: func(int) error { return nil }}
	m := keeping(w)
	w.after = func(n int) {
		if n > 1 {
			return
		}
		go func() {
			defer close(purged)
			m.Run(now)
		}()
		select {
		case <-purged:
			t.Error("a purge ran in the middle of an import")
		case <-time.After(100 * time.Millisecond):
		}
	}
	_, err := m.Import("t", d)
	must(t, err)
	<-purged
	same(t, "its messages", len(r.contents("t", "", store.MessageQuery{})), len(d.Messages))
}

// TestARefusedImportLeavesNothing: what is wrong may come late in a document.
func TestARefusedImportLeavesNothing(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	d, _ := sample(t)
	for _, text := range d.Extra {
		text[0] = '?' // no JSON; all that comes before it is good
		break
	}
	_, err := r.Import("t", d)
	refused(t, err, conversation.ErrInvalid)
	same(t, "what is left of it", len(r.staged()), 0)
	if h, err := r.Head("t", ""); err != nil || h.SessionID != "" {
		t.Errorf("%+v, %v", h, err)
	}
}
