package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

// TestSessionRotationKicksInAtSizeCap is test_session_rotation_kicks_in_at_size_cap.
func TestSessionRotationKicksInAtSizeCap(t *testing.T) {
	t.Parallel()
	r := open(t, 250)
	for i := range 6 {
		r.say("t", fmt.Sprintf("Message %d: %s", i, strings.Repeat("x", 120)))
	}
	id := r.head("t").SessionID
	same(t, "messages of the file", len(r.saved(id).Messages), 6)
	if _, err := os.Stat(r.file(id + ".1.json")); err != nil {
		t.Error(err)
	}
}

// large appends until the file is one that is not saved at once.
func (r *rig) large(thread string) {
	r.t.Helper()
	for range 3 {
		r.say(thread, strings.Repeat("y", 30<<10))
	}
}

func TestLargeRecordsAreSavedSoon(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.large("t")
	id := r.head("t").SessionID
	until(t, "the file", func() bool { return len(r.saved(id).Messages) == 3 })
	for range 3 { // now the saver may rest
		r.say("t", "more")
	}
	must(t, r.Flush(context.Background()))
	same(t, "messages after Flush", len(r.saved(id).Messages), 6)
}

// TestFilesThatAreNotOfNowAreWrittenAtTheStart: whatever a killed server or somebody else has left.
func TestFilesThatAreNotOfNowAreWrittenAtTheStart(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	ids := map[string]string{}
	for _, thread := range []string{"older", "missing", "same time", "good", "large"} {
		thread = strings.ReplaceAll(thread, " ", "-")
		r.thread(thread)
		r.say(thread, "first")
		ids[thread] = r.head(thread).SessionID
	}
	r.large("large")
	path := func(thread string) string { return r.file(ids[thread] + ".json") }
	must(t, r.Flush(context.Background()))
	first, err := os.ReadFile(path("older"))
	must(t, err)
	info, err := os.Stat(path("older"))
	must(t, err)
	r.say("older", "second")
	r.say("good", "second")
	r.stop()
	good, err := os.Stat(path("good"))
	must(t, err)
	must(t, os.WriteFile(path("older"), first, 0o600))
	must(t, os.Chtimes(path("older"), info.ModTime(), info.ModTime()))
	must(t, os.Remove(path("missing")))
	// as when it was saved and the server died before the stamp
	must(t, os.Chtimes(path("same-time"), time.Now(), time.Now()))
	must(t, os.Truncate(path("large"), 0))
	r.begin()
	for thread, want := range map[string]int{"older": 2, "missing": 1, "large": 4} {
		until(t, thread, func() bool {
			b, err := os.ReadFile(path(thread))
			if err != nil || len(b) == 0 {
				return false
			}
			d, err := conversation.DecodeDocument(b)
			must(t, err)
			return len(d.Messages) == want
		})
	}
	until(t, "the stamp", func() bool {
		info, err := os.Stat(path("same-time"))
		must(t, err)
		at, err := time.Parse(time.RFC3339Nano, r.head("same-time").UpdatedAt)
		must(t, err)
		return info.ModTime().Equal(at)
	})
	again, err := os.Stat(path("good"))
	must(t, err)
	if !os.SameFile(good, again) {
		t.Error("a file that was of now is written again")
	}
}

// TestAFileThatCannotBeSaved: the conversation is kept, the trouble is told once and ends.
func TestAFileThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "one")
	path := r.file(r.head("t").SessionID + ".json")
	must(t, os.Rename(path, path+".away"))
	must(t, os.Mkdir(path, 0o700))
	r.say("t", "two")
	r.say("t", "three")
	if r.Trouble() == nil || len(r.failures()) != 1 {
		t.Errorf("%v, %v", r.Trouble(), r.failures())
	}
	must(t, os.Remove(path))
	r.say("t", "four")
	if r.Trouble() != nil {
		t.Error(r.Trouble())
	}
	same(t, "messages of the file", len(r.saved(r.head("t").SessionID).Messages), 4)
}

func TestADamagedFileIsSetAside(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "one")
	id := r.head("t").SessionID
	r.stop()
	must(t, os.WriteFile(r.file(id+".json"), []byte("{half"), 0o600))
	r.begin()
	until(t, "the file", func() bool { _, err := os.Stat(r.file(id + ".damaged.json")); return err == nil })
	until(t, "who is told", func() bool { return len(r.failures()) > 0 })
	if text := r.failures()[0].Error(); !strings.Contains(text, id+".damaged.json") {
		t.Error(text)
	}
	until(t, "the new file", func() bool { _, err := os.Stat(r.file(id + ".json")); return err == nil })
	same(t, "messages of the file", len(r.saved(id).Messages), 1)
}

const appendDir = "EVERTTY_TEST_APPEND_DIR"

// TestMain is also the program that TestAKillLosesNothing kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv(appendDir); dir != "" {
		appendForEver(dir)
	}
	os.Exit(m.Run())
}

// appendForEver appends numbered messages and says each number when it is kept.
func appendForEver(dir string) {
	r := &rig{t: &testing.B{}, dir: dir, told: map[string]int{}}
	r.begin()
	for n := r.head("t").Messages + 1; ; n++ {
		if _, err := r.Append("t", []conversation.Message{{Role: conversation.RoleUser,
			Content: fmt.Sprint(n)}}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

// TestAKillLosesNothing: what was acknowledged is there after SIGKILL, the file is whole at every
// instant, and after the next start it is what the database has.
func TestAKillLosesNothing(t *testing.T) {
	t.Parallel()
	r := open(t, 0)
	r.say("t", "1")
	id := r.head("t").SessionID
	for range 3 {
		r.stop()
		told := appendAndKill(t, r.dir, 40)
		d := r.saved(id)
		r.begin()
		n := r.head("t").Messages
		if n != told && n != told+1 {
			t.Errorf("%d messages, %d were acknowledged", n, told)
		}
		if saved := int64(len(d.Messages)); saved > n || saved < told-1 {
			t.Errorf("%d messages in the file, %d were acknowledged", saved, told)
		}
		until(t, "the file", func() bool { return int64(len(r.saved(id).Messages)) == n })
		for i, text := range r.contents("t", "", store.MessageQuery{}) {
			if text != fmt.Sprint(i+1) {
				t.Fatalf("message %d is %q", i+1, text)
			}
		}
	}
}

// appendAndKill returns the last number that was acknowledged.
func appendAndKill(t *testing.T, dir string, atLeast int) (last int64) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), appendDir+"="+dir)
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		_, err := fmt.Sscan(lines.Text(), &last)
		if err != nil {
			t.Fatal(lines.Text())
		}
		if n == atLeast {
			must(t, c.Process.Kill())
		}
	}
	_ = c.Wait()
	return last
}
