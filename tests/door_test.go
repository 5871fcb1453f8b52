package tests

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// TestBodiesAreCounted: security row D25. A body is counted while it is read: one that never ends is refused at its
// limit, whatever its length was said to be, and one that is as long as it may be is read.
func TestBodiesAreCounted(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	s.thread("th")
	for _, r := range []struct {
		method, path, begin string
		most                int
	}{
		{"POST", "/pty/" + id + "/input", `{"data":"`, 1 << 20},
		{"POST", "/pty/" + id + "/wait", `{"for":"text","pattern":"`, 1 << 20},
		{"POST", "/session/x/pty", `{"name":"`, 1 << 20},
		{"PUT", "/api/threads/th/permissions", `{"mode":"`, 1 << 20},
		{"POST", "/session/x/exec", `{"command":"`, 8 << 20},
		{"POST", "/session/x/shell/default/exec", `{"command":"`, 8 << 20},
		{"POST", "/api/execute", `{"command":"`, 8 << 20},
		{"POST", "/api/file/write", `{"content":"`, 8 << 20},
		{"PUT", "/api/threads/th/record", `{"id":"`, 16 << 20},
	} {
		whole := r.begin + strings.Repeat("\x00", r.most-len(r.begin)) // whose characters are no text
		s.call(r.method, r.path, whole).refused(400, "VALIDATION")
		s.call(r.method, r.path, whole+"x").refused(413, "TOO_LARGE")
		if status := s.endless(r.method, r.path); status != http.StatusRequestEntityTooLarge {
			t.Errorf("%s %s without an end: %d", r.method, r.path, status)
		}
	}
}

// endless sends a body in chunks whose end does not come, and returns the status of the reply.
func (s *server) endless(method, path string) int {
	s.t.Helper()
	host := strings.TrimPrefix(s.url, "http://")
	conn, err := net.Dial("tcp", host)
	s.must(err)
	defer conn.Close()
	s.must(conn.SetDeadline(time.Now().Add(patience)))
	_, err = fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"+
		"Transfer-Encoding: chunked\r\n\r\n", method, path, host)
	s.must(err)
	go func() {
		chunk := "100000\r\n" + strings.Repeat(" ", 1<<20) + "\r\n"
		for err := error(nil); err == nil; {
			_, err = io.WriteString(conn, chunk)
		}
	}()
	r, err := http.ReadResponse(bufio.NewReader(conn), nil)
	s.must(err)
	_ = r.Body.Close()
	return r.StatusCode
}

// acting are sequences that act on a terminal or have it answer, of each kind that no viewer gets.
var acting = []string{
	"\x1bP0;1|17/6c730a\x1b\\", "\x1bP$qm\x1b\\", "\x1bP+q544e\x1b\\", "\x1bP1;2;3{ab\x1b\\", // DCS
	"\x1b_Gi=1;AAAA\x1b\\", "\x1b^private\x1b\\", "\x1bXstring\x1b\\", // APC, PM, SOS
	"\x1b]52;c;ZXZpbA==\a", "\x1b]52;c;?\a", "\x1b]50;?\a", "\x1b]46;/tmp/log\a", "\x1b]777;notify;a;b\a", // OSC
	"\x1b]4;7;?\a", "\x1b]10;?\a", "\x1b]11;?\a",
	"\x1b[18t", "\x1b[21t", "\x1b[8;50;100t", "\x1b[5i", "\x1b[4i", // windows, printing
	"\x1b[c", "\x1b[>c", "\x1b[=c", "\x1b[5n", "\x1b[6n", "\x1b[?6n", "\x1bZ", "\x05", "\x1b[>q", "\x1b[?1$p",
	"\x1b[1;1;1;1;1;1*y", "\x1b[0x", "\x1b[1$w", "\x1b[?u", "\x1b[?1;1;0S", "\x1b[#R", // questions
	"\x1b[?2l", "\x1b[?38h", "\x1b[?3h", "\x1b[?40h", "\x1b[?69h", "\x1b[?1001h", "\x1b[?1005h", "\x1b[?1061h", // modes
	"\x1b[61\"p", "\x1b G", "\x1b[>4;2m", "\u009b?2l", "\u009b6n", "\u00900;1|17/6c730a\u009c", "\u009d52;c;?\u009c",
}

// asked is what attach itself asks its terminal.
var asked = regexp.MustCompile(`(\x1b\](1[0-2]|4;\d+);\?\x1b\\)+\x1b\[c`)

// lacks checks that what somebody got, maybe as JSON, has none of them.
func lacks(t *testing.T, who, got string) {
	t.Helper()
	got = asked.ReplaceAllString(strings.NewReplacer(`\u001b`, "\x1b", `\\`, `\`).Replace(got), "")
	for _, s := range acting {
		if strings.Contains(got, s) {
			t.Errorf("%s gets %q", who, s)
		}
	}
}

// TestViewersGetTheListOnly: security rows D33, D34. Of sequences that act on a terminal nothing reaches a viewer of
// any kind, live or by a snapshot, or the terminal in which a verb shows what a program printed.
func TestViewersGetTheListOnly(t *testing.T) {
	t.Parallel()
	s, outer := start(t, launch{}), start(t, launch{})
	file := filepath.Join(t.TempDir(), "acting")
	s.must(os.WriteFile(file, []byte("begin-"+strings.Join(acting, "-")+"-e\x1b[1mnd\r\n"), 0o600))
	id := s.create("bash", "-c", `stty -echo; read -r; cat '`+file+`'; read -r`).ID
	in := func(args ...string) string {
		return outer.createWith(wire.CreateTerminal{Cmd: append([]string{binary}, args...), Cols: new(100),
			Env: map[string]string{"EVERTTY_DATA_DIR": s.how.dir}}).ID
	}
	var viewers []*viewer
	for _, kind := range transports {
		viewers = append(viewers, s.watch(kind, id))
	}
	stream := s.streamBy("/pty/" + id + "/stream")
	attached := in("attach", "--nested", id)
	eventually(t, "all look", func() bool { return s.info(id).Viewers == len(transports)+2 })
	s.input(id, "\r")
	for _, v := range viewers {
		v.until("the end", func() bool { return strings.Contains(string(v.text), "mnd\r") })
		lacks(t, string(v.kind), string(v.text))
	}
	outer.await(attached, "-end$")
	for _, format := range []string{"ansi", "text", "json", "html"} {
		lacks(t, format, s.get("/pty/"+id+"/snapshot?format="+format).wants(200).body)
	}
	late := s.watch(wsJSON, id)
	lacks(t, "a late viewer", string(late.first.Data))
	shown := map[string]string{"attach": attached, "logs": in("logs", id), "logs --raw": in("logs", id, "--raw"),
		"snapshot": in("snapshot", id, "--format", "ansi"), "exec": in("exec", "-s", "shown", "cat", file),
		"record": in("record", id, "--format", "raw")}
	s.book.add("shown")
	for verb, terminal := range shown {
		if verb != "attach" {
			outer.exit(terminal)
		}
		raw := outer.get("/pty/" + terminal + "/recording?format=raw").wants(200).body
		if !strings.Contains(raw, "begin-") {
			t.Errorf("%s shows %q", verb, clip(raw))
		}
		lacks(t, "the terminal of "+verb, raw)
	}
	s.must(s.Delete(s.ctx(), id, true))
	lacks(t, "a stream", <-stream)
}
