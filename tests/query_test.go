package tests

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
)

// queries are what programs ask terminals. The answers hold numbers and
// constants only.
var queries = []struct{ name, query, answer string }{
	{"DA1", "\x1b[c", `\x1b\[\?[0-9;]+c`},
	{"DA2", "\x1b[>c", `\x1b\[>[0-9;]+c`},
	{"DA3", "\x1b[=c", `\x1bP!\|[0-9A-F]+\x1b\\`},
	{"DSR", "\x1b[5n", `\x1b\[0n`},
	{"CPR", "\x1b[6n", `\x1b\[1;6R`},
	{"DECXCPR", "\x1b[?6n", `\x1b\[\?1;6(;1)?R`},
	{"DECRQM", "\x1b[?2004$p", `\x1b\[\?2004;2\$y`},
	{"DECRQSS", "\x1bP$qm\x1b\\", `\x1bP1\$r0?m\x1b\\`},
	{"XTVERSION", "\x1b[>q", `\x1bP>\|[ -~]+\x1b\\`},
	{"XTGETTCAP", "\x1bP+q436F\x1b\\", `\x1bP1\+r436F=323536\x1b\\`},
	{"OSC 4", "\x1b]4;1;?\x1b\\", `\x1b\]4;1;rgb:[0-9a-f/]+\x1b\\`},
	{"OSC 10", "\x1b]10;?\a", `\x1b\]10;rgb:[0-9a-f/]+(\a|\x1b\\)`},
	{"OSC 11", "\x1b]11;?\x1b\\", `\x1b\]11;rgb:[0-9a-f/]+\x1b\\`},
	{"OSC 12", "\x1b]12;?\x1b\\", `\x1b\]12;rgb:[0-9a-f/]+\x1b\\`},
	{"kitty keyboard", "\x1b[?u", `\x1b\[\?\d+u`},
	{"size", "\x1b[18t", `\x1b\[8;24;80t`},
	// What a program stored is never given back: it could type for the user.
	{"title report", "\x1b]2;;touch x\x0d\x1b\\\x1b[21t", `\x1b\]l\x1b\\`},
	{"clipboard read", "\x1b]52;c;?\x1b\\", ``},
	{"font", "\x1b]50;?\x1b\\", ``},
	{"ENQ", "\x05", ``},
}

// TestQueriesAreAnsweredOnce: whatever the number of viewers, the program gets
// one answer, and no viewer sees the question.
func TestQueriesAreAnsweredOnce(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for _, watching := range []int{0, 1, 5} {
		for _, q := range queries {
			// ready; the question; what came until Z is typed.
			script := fmt.Sprintf(`stty raw -echo; printf ready; read -r -N1; echo %s | base64 -d; printf asked; `+
				`IFS= read -r -d Z a; printf '\r\nanswer:%%s:' "$(printf %%s "$a" | base64 -w0)"`,
				base64.StdEncoding.EncodeToString([]byte(q.query)))
			id := s.create("bash", "-c", script).ID
			s.await(id, "^ready$")
			var viewers []*viewer
			for i := range watching {
				viewers = append(viewers, s.watch(transports[i%len(transports)], id))
			}
			s.input(id, "x")
			s.await(id, "^readyasked$")
			for _, v := range viewers {
				v.sees("readyasked\n")
				text := bytes.ReplaceAll(v.text, []byte("\x1b]2;;touch x"), nil) // the title itself is no question
				if bytes.ContainsAny(text, "\x05") || bytes.Contains(text, []byte("\x1b[")) ||
					bytes.Contains(text, []byte("?")) || bytes.Contains(text, []byte("\x1bP")) {
					t.Errorf("%s, %s: the viewer got %q", q.name, v.kind, v.text)
				}
			}
			s.input(id, "Z")
			m := regexp.MustCompile(`answer:(.*?):`).FindStringSubmatch(strings.ReplaceAll(s.await(id,
				"answer:(.*\n?)*?:$"), "\n", ""))
			answer, err := base64.StdEncoding.DecodeString(m[1])
			s.must(err)
			if !regexp.MustCompile(`^` + q.answer + `$`).Match(answer) {
				t.Errorf("%s with %d viewers: %q, want %s", q.name, watching, answer, q.answer)
			}
			s.exit(id)
			for _, v := range viewers {
				v.close()
			}
		}
	}
}

// TestSnapshotsAskNothing: a snapshot holds no question, rings no bell and
// writes no clipboard, whatever the program printed.
func TestSnapshotsAskNothing(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	var all strings.Builder
	for _, q := range queries {
		all.WriteString(q.query)
	}
	all.WriteString("\a\x1b]52;c;aGVsbG8=\x1b\\\x1b]9;note\x1b\\the text\x1b[6")
	id := s.create("bash", "-c", fmt.Sprintf(`stty raw -echo; echo %s | base64 -d; read -r -d Z a`,
		base64.StdEncoding.EncodeToString([]byte(all.String())))).ID
	s.await(id, "the text$")
	shot, err := s.Snapshot(s.ctx(), id, client.ANSI, client.AllHistory)
	s.must(err)
	for _, bad := range []string{"\a", "\x05", "]52;", "]9;", "\x1b[c", "6n", "5n", "$p", "\x1bP", "?\x1b\\", "21t"} {
		if strings.Contains(shot.Data, bad) {
			t.Errorf("the snapshot has %q: %q", bad, shot.Data)
		}
	}
	if !strings.HasSuffix(shot.Data, "\x1b[6") {
		t.Errorf("the snapshot does not end with the unfinished sequence: %q", shot.Data)
	}
}
