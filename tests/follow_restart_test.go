package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// takeOver has a server of another port go on in the place of this one.
func (s *server) takeOver() {
	s.t.Helper()
	left := s.exited
	s.how.listen = ""
	s.startWith(append(s.serveFlags(), "--takeover"))
	<-left
}

// connected reports whether the call has a connection to a server's socket (proc_pid_net(5)).
func (e *ending) connected() bool {
	dir := fmt.Sprintf("/proc/%d/", e.Process.Pid)
	table, _ := os.ReadFile(dir + "net/unix")
	files, _ := os.ReadDir(dir + "fd")
	const established, state, inode = "03", 5, 6
	for _, f := range files {
		target, _ := os.Readlink(dir + "fd/" + f.Name())
		for line := range strings.Lines(string(table)) {
			if w := strings.Fields(line); len(w) > inode && w[state] == established &&
				target == "socket:["+w[inode]+"]" {
				return true
			}
		}
	}
	return false
}

// castText is all output of a recording and the number of its events of other kinds.
func castText(t *testing.T, cast string) (text string, others int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(cast, "\n"), "\n")
	for _, line := range lines[1:] {
		var at float64
		var code, data string
		if err := json.Unmarshal([]byte(line), &[3]any{&at, &code, &data}); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if code == "o" {
			text += data
		} else {
			others++
		}
	}
	return text, others
}

// TestFollowersOutliveTheServer: what waits for a terminal or follows it goes on when
// the server is killed, replaced or stopped and started, twice: nothing is missing,
// nothing there twice.
func TestFollowersOutliveTheServer(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"kill", "stop", "takeover"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{auth: "token", flags: often})
			dir := t.TempDir()
			// Each line waits for its turn, so that it is known what is printed when.
			gate := filepath.Join(dir, "gate")
			if out, err := exec.Command("mkfifo", gate).CombinedOutput(); err != nil {
				t.Fatal(string(out))
			}
			hold, err := os.OpenFile(gate, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Close()
			id := s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "-c", `exec 3<` + gate + `; stty -echo; n=0
				while read -r line <&3; do n=$((n+1)); printf 'line %d h\303' $n; [ "$line" = end ] &&
					exit 7; [ "$line" = flash ] && printf '\nFLASH\n'; printf '\251\n'; done`}}).ID
			said := 0
			say := func(n int, word string) {
				for range n {
					said++
					fmt.Fprintln(hold, word)
				}
			}
			waiting := s.begins(nil, "wait", id)
			flash := s.begins(nil, "wait", id, "--for", "text", "--pattern", "FLASH", "--timeout", patience.String())
			logs := s.begins(nil, "logs", "--follow", id)
			raw := s.begins(nil, "record", "--follow", "--format", "raw", id)
			v3 := s.begins(nil, "record", "--follow", id)
			v2 := s.begins(nil, "record", "--follow", "--format", "asciicast-v2", id)
			say(1, "x")
			eventually(t, "all are there", func() bool {
				if !waiting.connected() || !flash.connected() {
					return false
				}
				for _, one := range []*ending{logs, raw, v3, v2} {
					if !strings.Contains(one.stdout.String(), "line 1 h") {
						return false
					}
				}
				return true
			})
			restart := func() {
				switch how {
				case "kill":
					s.kill()
				case "stop":
					s.stop()
				}
				say(3, "x") // while nobody serves, but with takeover
				if how == "takeover" {
					s.takeOver()
				} else {
					s.again()
				}
			}
			say(4, "x")
			s.await(id, "line 5 hé")
			restart()
			eventually(t, "the follower is back", func() bool { return s.info(id).Viewers == 1 })
			say(5, "x")
			s.await(id, "line 13 hé")
			if how == "takeover" {
				say(1, "flash")
				s.takeOver()
			} else {
				s.kill()
				say(1, "flash")
				s.again()
			}
			flash.ends(0)
			say(5, "x")
			say(1, "end")
			waiting.ends(7)
			var want strings.Builder
			for i := 1; i <= said; i++ {
				fmt.Fprintf(&want, "line %d h", i)
				switch {
				case i == said:
					want.WriteString("\ufffd")
				case i == 14:
					want.WriteString("\ufffd\r\nFLASH\r\n\ufffd\r\n")
				default:
					want.WriteString("é\r\n")
				}
			}
			bytesWanted := strings.NewReplacer("\ufffd\r\nFLASH\r\n\ufffd", "\xc3\r\nFLASH\r\n\xa9",
				fmt.Sprintf("line %d h\ufffd", said), fmt.Sprintf("line %d h\xc3", said)).Replace(want.String())
			raw.ends(0)
			if got := raw.stdout.String(); got != bytesWanted {
				t.Errorf("raw is\n%q\nwant\n%q", got, bytesWanted)
			}
			for _, one := range []*ending{v3, v2} {
				one.ends(0)
				text, others := castText(t, one.stdout.String())
				if text != want.String() || others != 1 {
					t.Errorf("%v has %d other events and\n%q\nwant\n%q", one.Args, others, text, want.String())
				}
			}
			logs.ends(0)
			lines := logs.stdout.String()
			for i := 1; i <= said; i++ {
				if n := strings.Count(lines, fmt.Sprintf("line %d h", i)); n != 1 {
					t.Errorf("line %d is there %d times in the logs:\n%s%s", i, n, lines, logs.stderr.String())
				}
			}
		})
	}
}
