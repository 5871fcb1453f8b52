package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/sqlite"
)

func TestClearBeginsAnewAndKeepsTheOld(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	_, err := r.Attach("t", "Agent")
	must(t, err)
	_, err = r.Patch("t",
		json.RawMessage(`{"current_task":"Keep tidy","prompt_format":"native","prompt_sections":["A"],`+
			`"workflow_mode":"clarify","permission_mode":"read-only"}`))
	must(t, err)
	r.say("t", "one", "two")
	_, err = r.AddTurn("t", conversation.Turn{}, json.RawMessage(`{"input_tokens":1}`))
	must(t, err)
	_, err = r.Enqueue("t", "Stay")
	must(t, err)
	old := r.head("t")
	h, err := r.Clear("t")
	must(t, err)
	r.again()
	same(t, "the current one", r.head("t"), h)
	if h.SessionID == old.SessionID || h.Messages != 0 || h.Turns != 0 || h.Waiting != 0 ||
		h.Usage != (conversation.Usage{}) {
		t.Errorf("%+v", h)
	}
	s, err := r.State("t", "")
	must(t, err)
	want := conversation.NewState()
	want.RuntimeOwnerType, want.RuntimeOwnerPath, want.PermissionMode = ptr("Agent"), ptr("public-agent"), "read-only"
	same(t, "the state", s, want)
	mail, err := r.Dequeue("t")
	if must(t, err); len(mail) != 0 {
		t.Errorf("mail %+v", mail)
	}
	same(t, "the old messages", r.contents("t", old.SessionID, store.MessageQuery{}), []string{"one", "two"})
	list, err := r.List("t")
	must(t, err)
	if len(list) != 2 || list[0].SessionID != h.SessionID || list[1].SessionID != old.SessionID || list[1].Current {
		t.Errorf("%+v", list)
	}
	same(t, "the old file", len(r.saved(old.SessionID).Messages), 2)
	same(t, "the new file", len(r.saved(h.SessionID).Messages), 0)
	r.thread("other")
	_, err = r.Head("other", old.SessionID)
	refused(t, err, conversation.ErrNotFound)
}

func TestLatest(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	_, err := r.Latest("")
	refused(t, err, conversation.ErrNotFound)
	r.thread("u")
	r.say("t", "1")
	r.say("u", "2")
	r.say("t", "3")
	h, err := r.Latest("")
	must(t, err)
	same(t, "the thread", h.ThreadID, "t")
	_, err = r.Clear("u")
	must(t, err)
	h, err = r.Latest("")
	must(t, err)
	same(t, "the thread", h.ThreadID, "u")
}

// sample is the document of a file that is in testdata already.
func sample(t *testing.T) (conversation.Document, []byte) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "loader-v11.json"))
	must(t, err)
	d, err := conversation.DecodeDocument(b)
	must(t, err)
	return d, b
}

// asValue is a document as JSON without the time of its last change.
func asValue(t *testing.T, b []byte) map[string]any {
	t.Helper()
	var v map[string]any
	must(t, json.Unmarshal(b, &v))
	delete(v, "updated_at")
	return v
}

func TestImportAndExportAreEqual(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "before")
	first := r.head("t")
	d, b := sample(t)
	h, err := r.Import("t", d)
	must(t, err)
	r.again()
	out, err := r.Document("t", "", -1)
	must(t, err)
	e, err := out.Encode()
	must(t, err)
	same(t, "the document", asValue(t, e), asValue(t, b))
	f, err := os.ReadFile(r.file(h.SessionID + ".json"))
	must(t, err)
	same(t, "its file", string(f), string(e))
	same(t, "the id", h.SessionID, d.SessionID)
	same(t, "the one before", r.contents("t", first.SessionID, store.MessageQuery{}), []string{"before"})
	again, err := r.Import("t", d)
	must(t, err)
	same(t, "once more", again.UpdatedAt, h.UpdatedAt)
	r.say("t", "more")
	_, err = r.Import("t", d)
	refused(t, err, conversation.ErrConflict)
	r.thread("u")
	_, err = r.Import("u", d)
	refused(t, err, conversation.ErrConflict)
	d.SessionID = "../../etc/passwd"
	other, err := r.Import("u", d)
	must(t, err)
	if store.CheckID(other.SessionID) != nil {
		t.Errorf("the id is %s", other.SessionID)
	}
	_, err = r.Import("nobody", d)
	refused(t, err, conversation.ErrNotFound)
}

// TestImportOfLongLists: the same document again changes nothing, also when its lists have more
// than a view of them shows; one that differs where no view shows it is another.
func TestImportOfLongLists(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	d, _ := sample(t)
	for i := range 2 * conversation.MaxTimeline {
		d.WorkflowTimeline = append(d.WorkflowTimeline, conversation.Entry{Kind: "route", Summary: fmt.Sprint(i)})
		d.PromptHistory = append(d.PromptHistory, conversation.Prompt{Content: fmt.Sprint(i)})
		d.CompletionTrace = append(d.CompletionTrace, conversation.TraceEntry{Stage: fmt.Sprint(i)})
	}
	h, err := r.Import("t", d)
	must(t, err)
	again, err := r.Import("t", d)
	must(t, err)
	same(t, "once more", again, h)
	for _, change := range []func(){
		func() { d.WorkflowTimeline[0].Summary = "another" },
		func() { d.WorkflowTimeline = d.WorkflowTimeline[1:] },
	} {
		change()
		_, err = r.Import("t", d)
		refused(t, err, conversation.ErrConflict)
	}
	same(t, "the record", r.head("t"), h)
}

// TestImportOfTooManyCompactions: the next one could not be counted.
func TestImportOfTooManyCompactions(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	d, _ := sample(t)
	d.Compaction = &conversation.Compaction{Count: math.MaxInt64}
	_, err := r.Import("t", d)
	refused(t, err, conversation.ErrInvalid)
}

// TestOneImportOfManyMakesTheRecord: of equal documents at the same time one is taken and the
// others are what is there already.
func TestOneImportOfManyMakesTheRecord(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	d, _ := sample(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := r.Import("t", d); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	same(t, "the events", r.events("t"), []string{"record.imported"})
}

func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	d, _ := sample(t)
	_, err := r.Import("t", d)
	must(t, err)
	kept := r.say("t", "next")
	if kept[0].Seq != int64(len(d.Messages)+1) {
		t.Errorf("%+v", kept)
	}
	turn, err := r.AddTurn("t", conversation.Turn{}, json.RawMessage(`{"input_tokens":1}`))
	must(t, err)
	same(t, "the total", turn.CumulativeUsage, conversation.Sum(d.Usage, conversation.Usage{InputTokens: 1, Turns: 1}))
	a, ok, err := r.Compact("t", conversation.CompactOptions{Threshold: 1, Keep: 1})
	if must(t, err); !ok {
		t.Fatal("it was not compacted")
	}
	var earlier int64
	if d.Compaction != nil {
		earlier = d.Compaction.Count
	}
	same(t, "its number", a.Count, earlier+1)
	all, err := r.Messages("t", "", store.MessageQuery{Archived: true})
	must(t, err)
	for i, m := range d.Messages {
		same(t, fmt.Sprintf("message %d", i+1), all[i].Message, conversation.NormalMessage(m))
	}
}

func TestDeletedThreadsLeaveNothing(t *testing.T) {
	t.Parallel()
	r := open(t, 250)
	for range 5 {
		r.say("t", strings.Repeat("x", 200))
	}
	old := r.head("t")
	_, err := r.Clear("t")
	must(t, err)
	failed := errors.New("no")
	refused(t, r.DeleteThread("t", func() error { return failed }), failed)
	r.say("t", "still there")
	now := r.head("t")
	must(t, r.DeleteThread("t", func() error {
		_, err := r.Append("t", []conversation.Message{{Role: conversation.RoleUser, Content: "late"}})
		refused(t, err, conversation.ErrNotFound)
		return r.dropRow("t")
	}))
	_, err = r.Head("t", "")
	refused(t, err, conversation.ErrNotFound)
	for _, id := range []string{old.SessionID, now.SessionID} {
		_, err = r.Messages("t", id, store.MessageQuery{Archived: true})
		refused(t, err, conversation.ErrNotFound)
	}
	must(t, r.Flush(context.Background()))
	left, err := os.ReadDir(r.file("."))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
	r.thread("t")
	r.say("t", "a new life")
	same(t, "the messages", r.contents("t", "", store.MessageQuery{Archived: true}), []string{"a new life"})
}

// dropRow deletes the row of a thread, as the server of threads does.
func (r *rig) dropRow(thread string) error {
	return r.db.Update(func(tx *sqlite.Tx) error { tx.DeleteThread(thread); return nil })
}

// TestFilesOfDeletedThreads: a server that was killed between the row of a thread and its files
// leaves them to the next one; those of others stay.
func TestFilesOfDeletedThreads(t *testing.T) {
	t.Parallel()
	r := open(t, 250)
	r.thread("stays")
	for range 5 {
		r.say("t", strings.Repeat("x", 200))
	}
	_, err := r.Clear("t")
	must(t, err)
	r.say("stays", "one")
	keep := r.head("stays").SessionID
	must(t, r.dropRow("t"))
	r.again()
	until(t, "the end of the files", func() bool {
		left, err := os.ReadDir(r.file("."))
		must(t, err)
		return len(left) == 1
	})
	same(t, "the other", len(r.saved(keep).Messages), 1)
}

// late is a store in which something happens between a look and the next change.
type late struct {
	store.Database
	before func()
}

func (l late) Update(fn func(store.Tx) error) error {
	l.before()
	return l.Database.Update(fn)
}

// TestADeletionDuringAPurge: the files of a thread that is deleted while those of others are, by a
// server that is killed then, are known to the next one.
func TestADeletionDuringAPurge(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "one")
	deleted := sync.OnceFunc(func() { must(t, r.dropRow("t")) })
	ctx, end := context.WithCancel(context.Background())
	keeping(late{r.db.Conversations(), func() { deleted(); end() }}).Run(ctx)
	r.again()
	until(t, "the end of the files", func() bool {
		left, err := os.ReadDir(r.file("."))
		must(t, err)
		return len(left) == 0
	})
}

// TestADeletionAmongWritersLeavesNothing: whoever writes while a thread is deleted is refused or
// deleted with it.
func TestADeletionAmongWritersLeavesNothing(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	var writers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for n := 0; ; n++ {
				_, err := r.Append("t",
					[]conversation.Message{{Role: conversation.RoleUser, Content: fmt.Sprint(i, n)}})
				if err == nil && n%3 == 0 {
					_, err = r.Clear("t")
				}
				if errors.Is(err, conversation.ErrNotFound) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	until(t, "some records", func() bool { list, err := r.List("t"); must(t, err); return len(list) > 4 })
	must(t, r.DeleteThread("t", func() error {
		return r.dropRow("t")
	}))
	writers.Wait()
	must(t, r.Flush(context.Background()))
	left, err := os.ReadDir(r.file("."))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	six := []string{"Kick off runtime audit", "Initial findings", "Focus on sessions", "Compaction design drafted",
		"Preserve the latest four messages", "Ready to compact"}
	r.say("t", six...)
	_, err := r.Patch("t", json.RawMessage(`{"current_task":null}`))
	must(t, err)
	before := r.head("t")
	for _, o := range []conversation.CompactOptions{{}, {Threshold: 1, Keep: 6}} {
		_, ok, err := r.Compact("t", o)
		if must(t, err); ok {
			t.Errorf("%+v: it was compacted", o)
		}
	}
	same(t, "the head", r.head("t"), before)
	a, ok, err := r.Compact("t", conversation.CompactOptions{Threshold: 1})
	if must(t, err); !ok || a.Count != 1 || a.RemovedMessageCount != 2 {
		t.Fatalf("%v %+v", ok, a)
	}
	r.again()
	got := r.contents("t", "", store.MessageQuery{})
	if len(got) != 5 || !strings.HasPrefix(got[0], "[COMPACTED CONTEXT]") ||
		strings.Join(got[1:], ",") != strings.Join(six[2:], ",") {
		t.Errorf("%q", got)
	}
	d := r.saved(r.head("t").SessionID)
	if d.Compaction == nil || d.Compaction.Count != 1 || len(d.Messages) != 5 || d.Messages[0].Content != got[0] {
		t.Errorf("%+v", d.Compaction)
	}
	all, err := r.Messages("t", "", store.MessageQuery{Archived: true})
	must(t, err)
	for i, k := range all {
		if k.Content != six[i] || k.Seq != int64(i+1) || (k.ArchivedBy == 1) != (i < 2) {
			t.Errorf("%+v", k)
		}
	}
	var bytes int64
	must(t, r.db.Conversations().View(func(tx store.Tx) (err error) {
		bytes, err = tx.MessageBytes(r.head("t").SessionID, 2, 6)
		return err
	}))
	if h := r.head("t"); h.Bytes < bytes+int64(len(got[0])) || h.Bytes > bytes+int64(len(got[0]))+5*100 {
		t.Errorf("%d bytes, of which %d are of messages and %d of the summary", h.Bytes, bytes, len(got[0]))
	}
	if kept := r.say("t", "next"); kept[0].Seq != 7 {
		t.Errorf("%+v", kept)
	}
}

// TestNothingIsLost: whatever is appended and compacted in whatever order, all messages are there
// as they were given, those that are not archived are the newest, and every one of the others is
// behind one of the summaries.
func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := open(t, 0)
			random := rand.New(rand.NewPCG(seed, 7))
			var given []string
			compactions := int64(0)
			for range 25 {
				if random.IntN(4) == 0 && len(given) > 0 {
					_, ok, err := r.Compact("t", conversation.CompactOptions{Threshold: 1, Keep: 1 + random.IntN(6)})
					if must(t, err); ok {
						compactions++
					}
				} else {
					var list []string
					for range 1 + random.IntN(5) {
						list = append(list, fmt.Sprintf("message %d of seed %d: look at /src/f%d.go",
							len(given)+len(list)+1, seed, random.IntN(9)))
					}
					given = append(given, list...)
					r.say("t", list...)
				}
				if random.IntN(15) == 0 {
					r.again()
				}
			}
			same(t, "all", r.contents("t", "", store.MessageQuery{Archived: true}), given)
			live, err := r.Messages("t", "", store.MessageQuery{})
			must(t, err)
			h := r.head("t")
			if compactions == 0 || h.Compactions != compactions || !live[0].Summary || live[0].Seq != h.Archived {
				t.Fatalf("%d compactions, %+v, %+v", compactions, h, live[0])
			}
			for i, k := range live[1:] {
				if k.Summary || k.Seq != h.Archived+int64(i+1) || k.Content != given[k.Seq-1] {
					t.Errorf("%+v", k)
				}
			}
			list, err := r.Compactions("t", "", store.Page{})
			must(t, err)
			removed := int64(0)
			for _, a := range list {
				removed += a.RemovedMessageCount
				if a.UpTo != removed {
					t.Errorf("compaction %d is up to %d and has removed %d", a.Count, a.UpTo, removed)
				}
			}
			same(t, "those that are archived", removed, h.Archived)
			same(t, "the file", len(r.saved(h.SessionID).Messages), len(live))
		})
	}
}

func TestEventsAreOneStream(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "hello")
	_, err := r.Patch("t", json.RawMessage(`{"prompt_format":"x","active_turn_phase":"y"}`))
	must(t, err)
	_, err = r.AddEntry("t", conversation.Entry{Kind: "route", ReasonCode: "why"})
	must(t, err)
	_, err = r.PutLedger("t", conversation.Ledger{})
	must(t, err)
	_, err = r.Clear("t")
	must(t, err)
	var list []thread.Event
	must(t, r.db.View(func(tx *sqlite.Tx) (err error) { list, err = tx.Events("t", 0, 0); return err }))
	var got []string
	for i, e := range list {
		if e.Seq != int64(i+1) {
			t.Errorf("event %d has number %d", i+1, e.Seq)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s %s", e.Type, e.Data.Version, e.Data.To,
			e.Data.Reason)))
	}
	now := r.head("t").SessionID
	same(t, "events", got, []string{"record.created 0", "record.message 1 user",
		"record.state 0  active_turn_phase, prompt_format", "record.timeline 1 route why", "record.ledger 0",
		"record.cleared 0 " + now})
	r.mu.Lock()
	defer r.mu.Unlock()
	same(t, "how often it was told", r.told["t"], 5)
}
