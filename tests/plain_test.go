package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
)

// TestResumeInPlainText: output without one escape sequence can be gone on with from any position that is kept, also
// when what came before was dropped, and after a kill of the server.
func TestResumeInPlainText(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: []string{"--journal-terminal-quota", "2MiB"}})
	// Three bytes a character: most pieces end inside one.
	const line, lines = "汉字汉字汉字汉字汉字汉字汉字汉字汉字汉字汉字汉字 %07g", 110_000
	id := s.create("bash", "-c", fmt.Sprintf(`stty -opost; seq -f '%s' %d; read x`, line, lines)).ID
	end := s.reached(id, lines*81)
	for round := range 2 {
		eventually(t, "what is kept is within the quota", func() bool { return s.info(id).JournalBytes <= 2<<20+1<<19 })
		var wrong []string
		eventually(t, "nothing is dropped while it is looked at", func() bool {
			first := s.firstKept(id, end)
			wrong = s.resumesFrom(id, first, end)
			return s.firstKept(id, end) == first
		})
		for _, w := range wrong {
			t.Errorf("round %d: %s", round, w)
		}
		s.kill()
		s.again()
	}
	s.input(id, "\n")
}

// firstKept is where the recording of a terminal begins whose beginning was dropped.
func (s *server) firstKept(id string, end uint64) uint64 {
	s.t.Helper()
	var gone struct{ Details struct{ Start, End uint64 } }
	s.get("/pty/" + id + "/recording?from=0").wants(404).into(&gone)
	if gone.Details.Start == 0 || gone.Details.End != end {
		s.t.Fatalf("kept is %+v of %d", gone.Details, end)
	}
	return gone.Details.Start
}

// resumesFrom says what is wrong with streams that go on from positions of what is kept.
func (s *server) resumesFrom(id string, first, end uint64) (wrong []string) {
	s.t.Helper()
	raw := s.get("/pty/" + id + "/recording?format=raw").wants(200).body
	if uint64(len(raw)) != end-first {
		return []string{fmt.Sprintf("%d bytes are kept, not %d", len(raw), end-first)}
	}
	for _, at := range []uint64{first, first + 81, first + 300, first + (end-first)/3, first + (end-first)/2,
		end - 200<<10, end - 81} {
		since := at + (81-at%81)%81 // whole characters
		if got := s.resumed(id, since, end); got != raw[since-first:] {
			wrong = append(wrong, fmt.Sprintf("since %d of [%d, %d]: %d bytes, not the %d that came", since, first, end,
				len(got), end-since))
		}
	}
	return wrong
}

// resumed is the text that a viewer gets who has everything up to a position, "" when it gets a snapshot instead.
func (s *server) resumed(id string, since, end uint64) string {
	s.t.Helper()
	events, err := s.Attach(s.ctx(), id, client.AttachOptions{Since: &since})
	s.must(err)
	defer events.Close()
	var got strings.Builder
	for seq := since; ; {
		e, err := events.Next()
		s.must(err)
		switch e.Kind {
		case client.KindSnapshot:
			return ""
		case client.KindData:
			got.Write(e.Data)
			seq = e.Seq
		}
		if seq >= end {
			return got.String()
		}
	}
}

// TestQuotaInAFlood: a journal does not outgrow its quota while a program prints as fast as it can, nor afterwards.
func TestQuotaInAFlood(t *testing.T) {
	t.Parallel()
	const quota = 2 << 20
	s := start(t, launch{flags: []string{"--journal-terminal-quota", "2MiB"}})
	id := s.create("bash", "-c", "yes $(seq 20 | tr '\\n' ' ') | head -c 60000000; exec cat").ID
	size := func() (n int64) {
		files, _ := filepath.Glob(filepath.Join(s.how.dir, "terminals", id, "[di][an]*.*"))
		for _, f := range files {
			if i, err := os.Stat(f); err == nil {
				n += i.Size()
			}
		}
		return n
	}
	peak := int64(0)
	eventually(t, "the end of the flood", func() bool {
		peak = max(peak, size())
		return s.info(id).Seq >= 60_000_000
	})
	if peak > 2*quota {
		t.Errorf("the journal had %d bytes of a quota of %d", peak, int64(quota))
	}
	eventually(t, "what is kept is within the quota", func() bool { return size() <= quota+quota/4 })
	t.Logf("figure: at most %.2f of the quota in a flood of 60 MB", float64(peak)/quota)
}
