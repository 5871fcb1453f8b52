package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

func TestAppendKeepsMessagesAcrossServers(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	call := conversation.ToolCall{ID: "write-1", Name: "write",
		Arguments: json.RawMessage(`{"n":12345678901234567890,"x":0.10}`)}
	given := []conversation.Message{
		{Role: conversation.RoleSystem, Content: "be kind"},
		{Role: conversation.RoleUser, Content: "Create hello.txt"},
		{Role: conversation.RoleAssistant, Content: "I'll create it <b>&</b> \u2028",
			ToolCalls: []conversation.ToolCall{call}},
		{Role: conversation.RoleTool,
			ToolResults: []conversation.ToolResult{{ToolCallID: "write-1", Content: "no", IsError: true}}},
	}
	kept, err := r.Append("t", given)
	must(t, err)
	r.say("t", "and another")
	before := r.head("t")
	r.again()
	h := r.head("t")
	same(t, "the head", h, before)
	if h.Messages != 5 || kept[3].Seq != 4 {
		t.Errorf("%+v, %+v", h, kept)
	}
	list, err := r.Messages("t", "", store.MessageQuery{})
	must(t, err)
	for i, m := range given {
		same(t, fmt.Sprintf("message %d", i+1), list[i].Message, conversation.NormalMessage(m))
	}
	if got := string(list[2].ToolCalls[0].Arguments); got != string(call.Arguments) {
		t.Errorf("arguments %s", got)
	}
	s, err := r.State("t", "")
	must(t, err)
	if s.CurrentTask == nil || *s.CurrentTask != "Create hello.txt" {
		t.Errorf("the task is %v", s.CurrentTask)
	}
	same(t, "the file", len(r.saved(h.SessionID).Messages), 5)
	same(t, "the events", strings.Join(r.events("t"), " "), "record.created"+strings.Repeat(" record.message", 5))
}

func TestTheTaskIsTheFirstOfTheUser(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		patch string
		want  string
	}{
		"none":               {"{}", "first"},
		"one is set":         {`{"current_task":"mine"}`, "mine"},
		"set and cleared":    {`{"current_task":null}`, "first"},
		"cleared after that": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, 0)
			if c.patch != "" {
				_, err := r.Patch("t", json.RawMessage(c.patch))
				must(t, err)
			}
			r.say("t", "first", "yes")
			if c.patch == "" {
				_, err := r.Patch("t", json.RawMessage(`{"current_task":null}`))
				must(t, err)
			}
			r.say("t", "second")
			s, err := r.State("t", "")
			must(t, err)
			got := ""
			if s.CurrentTask != nil {
				got = *s.CurrentTask
			}
			if got != c.want {
				t.Errorf("the task is %q, want %q", got, c.want)
			}
		})
	}
}

// TestConcurrentAppendsLeaveNoGap: numbers are 1..n, those of one writer in its order, and the file
// has all in the end.
func TestConcurrentAppendsLeaveNoGap(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	const writers, each = 8, 10
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				_, err := r.Append("t", []conversation.Message{{Role: conversation.RoleUser,
					Content: fmt.Sprintf("%d %d", w, i)}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	list, err := r.Messages("t", "", store.MessageQuery{})
	must(t, err)
	next := [writers]int{}
	for i, k := range list {
		var w, n int
		_, err := fmt.Sscan(k.Content, &w, &n)
		must(t, err)
		if k.Seq != int64(i+1) || next[w] != n {
			t.Fatalf("message %d: %+v", i, k)
		}
		next[w]++
	}
	if len(list) != writers*each {
		t.Errorf("%d messages", len(list))
	}
	same(t, "messages of the file", len(r.saved(r.head("t").SessionID).Messages), writers*each)
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "one")
	user := conversation.Message{Role: conversation.RoleUser, Content: "x"}
	for name, c := range map[string]struct {
		thread string
		list   []conversation.Message
		want   error
		text   string
	}{
		"nothing": {"t", nil, conversation.ErrInvalid, "no message"},
		"a role": {"t", []conversation.Message{user, {Role: "king"}}, conversation.ErrInvalid,
			`"king" of message 2`},
		"arguments": {"t", []conversation.Message{{Role: "assistant",
			ToolCalls: []conversation.ToolCall{{ID: "c", Arguments: json.RawMessage(`[1]`)}}}}, conversation.ErrInvalid,
			"not a JSON object"},
		"half JSON": {"t", []conversation.Message{{Role: "assistant",
			ToolCalls: []conversation.ToolCall{{ID: "c", Arguments: json.RawMessage(`{"a`)}}}}, conversation.ErrInvalid,
			"not a JSON object"},
		"too many": {"t", make([]conversation.Message, conversation.MaxAppend+1), conversation.ErrTooMany,
			"at most 256"},
		"a large one": {"t", []conversation.Message{user,
			{Role: "user", Content: strings.Repeat("x", conversation.MaxMessageBytes)}}, conversation.ErrTooLarge,
			"message 3"},
		"no such a thread": {"nobody", []conversation.Message{user}, conversation.ErrNotFound, "nobody"},
	} {
		_, err := r.Append(c.thread, c.list)
		refused(t, err, c.want)
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h := r.head("t"); h.Messages != 1 {
		t.Errorf("a part of what was refused is kept: %+v", h)
	}
	_, err := r.Messages("nobody", "", store.MessageQuery{})
	refused(t, err, conversation.ErrNotFound)
	r.thread("quiet")
	if list, err := r.Messages("quiet", "", store.MessageQuery{}); err != nil || len(list) != 0 {
		t.Errorf("of a thread that nobody has written to: %v, %v", list, err)
	}
}

// TestARecordHasAnEnd: a conversation takes no more than can be in its file, until it is compacted.
// One that is nearly full is made by its head: messages for it would take long to write.
func TestARecordHasAnEnd(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "one", "two", "three")
	r.pretend("t", func(h *conversation.Head) { h.Bytes = conversation.MaxRecordBytes - 1000 })
	r.say("t", strings.Repeat("x", 500))
	_, err := r.Append("t", []conversation.Message{{Role: conversation.RoleUser, Content: strings.Repeat("x", 500)}})
	refused(t, err, conversation.ErrTooLarge)
	same(t, "messages", r.head("t").Messages, 4)
	_, ok, err := r.Compact("t", conversation.CompactOptions{Threshold: 1, Keep: 1})
	if must(t, err); !ok {
		t.Fatal("it was not compacted")
	}
	r.say("t", strings.Repeat("x", 500))
	if h := r.head("t"); h.Bytes > 10_000 {
		t.Errorf("%d bytes", h.Bytes)
	}
}

// TestPagesOfLargeMessages: pages of them are shorter, but leave nothing out. What is in the
// database is what counts, so these messages are small and only said to be large.
func TestPagesOfLargeMessages(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "1", "2", "3", "4", "5", "6", "7", "8")
	r.tellSize(conversation.MaxMessageBytes)
	var got []int64
	for after := int64(0); after < 8; {
		list, next, err := r.MessagesPart("t", "", store.MessageQuery{After: after})
		must(t, err)
		if want := list[len(list)-1].Seq % 8; next != want {
			t.Errorf("the part after %d says that the next begins after %d, want %d", after, next, want)
		}
		if len(list) != conversation.MaxPageBytes/conversation.MaxMessageBytes {
			t.Fatalf("%d messages of 8 MiB in a page", len(list))
		}
		for _, k := range list {
			got = append(got, k.Seq)
			after = k.Seq
		}
	}
	same(t, "numbers", got, []int64{1, 2, 3, 4, 5, 6, 7, 8})
	list, next, err := r.MessagesPart("t", "", store.MessageQuery{Newest: true})
	must(t, err)
	if len(list) != 4 || list[3].Seq != 8 || next != 0 {
		t.Errorf("%d messages", len(list))
	}
}

// tellSize has the database say that every message has so many bytes.
func (r *rig) tellSize(bytes int) {
	r.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(r.dir, "evertty.db")+"?_pragma=busy_timeout(10000)")
	must(r.t, err)
	_, err = db.Exec("UPDATE messages SET bytes = ?", bytes)
	must(r.t, errors.Join(err, db.Close()))
}

func TestMessagesByPages(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	for i := range 10 {
		r.say("t", fmt.Sprint(i+1))
	}
	_, ok, err := r.Compact("t", conversation.CompactOptions{Threshold: 1, Keep: 4})
	if must(t, err); !ok {
		t.Fatal("it was not compacted")
	}
	for _, c := range []struct {
		q    store.MessageQuery
		want []int64
	}{
		{store.MessageQuery{}, []int64{-6, 7, 8, 9, 10}},
		{store.MessageQuery{Limit: 1}, []int64{-6}},
		{store.MessageQuery{Limit: 2}, []int64{-6, 7}},
		{store.MessageQuery{After: 6}, []int64{7, 8, 9, 10}},
		{store.MessageQuery{After: 6, Limit: 2}, []int64{7, 8}},
		{store.MessageQuery{After: 10}, nil},
		{store.MessageQuery{After: 11}, nil},
		{store.MessageQuery{Newest: true, Limit: 2}, []int64{9, 10}},
		{store.MessageQuery{Newest: true, Limit: 4}, []int64{7, 8, 9, 10}},
		{store.MessageQuery{Newest: true, Limit: 5}, []int64{-6, 7, 8, 9, 10}},
		{store.MessageQuery{Archived: true}, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{store.MessageQuery{Archived: true, After: 4, Limit: 3}, []int64{5, 6, 7}},
		{store.MessageQuery{Archived: true, Newest: true, Limit: 1}, []int64{10}},
	} {
		list, err := r.Messages("t", "", c.q)
		must(t, err)
		var got []int64
		for _, k := range list {
			if k.Summary {
				k.Seq = -k.Seq
			}
			if (k.ArchivedBy == 1) != (c.q.Archived && k.Seq <= 6) {
				t.Errorf("%+v: %+v", c.q, k)
			}
			got = append(got, k.Seq)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%+v: %v, want %v", c.q, got, c.want)
		}
	}
	for _, q := range []store.MessageQuery{{After: -1}, {Limit: -1}, {Limit: conversation.MaxPage + 1}} {
		_, err := r.Messages("t", "", q)
		refused(t, err, conversation.ErrInvalid)
	}
}
