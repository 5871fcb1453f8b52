package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The four commands of the persistence guide, word for word.
const (
	curlCreate = `curl -X POST http://localhost:3000/session/test/pty \
  -H "Content-Type: application/json" \
  -d '{"cmd": ["bash", "-l"], "cols": 80, "rows": 24}'`
	curlInput = `curl -X POST http://localhost:3000/session/test/pty/{ptyID}/input \
  -H "Content-Type: application/json" \
  -d '{"data": "echo hello\n"}'`
	curlSnapshot = `curl http://localhost:3000/session/test/pty/{ptyID}/snapshot`
	curlStream   = `curl -N http://localhost:3000/session/test/pty/{ptyID}/stream`
)

// TestTheGuidesCurlCommands: R-290. On port 3000 when it is free.
func TestTheGuidesCurlCommands(t *testing.T) {
	t.Parallel()
	listen := "127.0.0.1:3000"
	if l, err := net.Listen("tcp", listen); err == nil {
		_ = l.Close()
	} else {
		listen = freePort(t)
		t.Logf("port 3000 is taken (%v): the commands are run with %s", err, listen)
	}
	s := start(t, launch{listen: listen})
	id := ""
	do := func(command string, enough string) string {
		t.Helper()
		command = strings.ReplaceAll(command, ":3000/", ":"+s.port()+"/")
		out := s.curl(strings.ReplaceAll(command, "{ptyID}", id), enough)
		if !strings.Contains(out, enough) {
			t.Fatalf("%s\n%s", command, out)
		}
		return out
	}
	created := do(curlCreate, `"ptyID":"`)
	id = regexp.MustCompile(`"ptyID":"([^"]+)"`).FindStringSubmatch(created)[1]
	s.await(id, `[$#]$`)
	do(curlInput, `"success":true`)
	s.await(id, "^hello$")
	shows := func(what, object string) {
		t.Helper()
		var shot struct{ Data string }
		if err := json.Unmarshal([]byte(object), &shot); err != nil ||
			!strings.Contains(render(t, shot.Data, "text"), "\nhello\n") {
			t.Errorf("%s: %v: %s", what, err, object)
		}
	}
	shows("the snapshot", do(curlSnapshot, `"seq":`))
	stream := do(curlStream, "\n\n")
	event := regexp.MustCompile(`^event: snapshot\nid: \d+\ndata: (.*)\n\n`).FindStringSubmatch(stream)
	if event == nil {
		t.Fatalf("the stream begins with %q", clip(stream))
	}
	shows("the stream", event[1])
}

// curl runs the command with the real curl until its output has the text, or to
// its end. Without curl the same request is sent over a socket.
func (s *server) curl(command, enough string) string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.ctx())
	defer cancel()
	if _, err := exec.LookPath("curl"); err != nil {
		s.t.Logf("there is no curl (%v): its request is sent over a socket", err)
		return s.likeCurl(command, enough)
	}
	c := exec.CommandContext(ctx, "bash", "-c", "exec "+command+" -sS")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.StdoutPipe()
	s.must(err)
	s.must(c.Start())
	out := readUntil(stdout, enough)
	cancel()
	_ = c.Wait()
	if out == "" {
		s.t.Fatalf("%s: %s", command, &stderr)
	}
	return out
}

// readUntil reads until the text was seen, or to the end.
func readUntil(r io.Reader, enough string) string {
	var out []byte
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if out = append(out, buf[:n]...); err != nil || strings.Contains(string(out), enough) {
			return string(out)
		}
	}
}

// likeCurl sends the bytes that curl sends for such a command.
func (s *server) likeCurl(command, enough string) string {
	url := regexp.MustCompile(`http://(\S+?)(/\S+)`).FindStringSubmatch(command)
	head := fmt.Sprintf(" %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n", url[2], url[1])
	req := "GET" + head + "\r\n"
	if data := regexp.MustCompile(`-d '(.*)'`).FindStringSubmatch(command); data != nil {
		req = fmt.Sprintf("POST%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", head, len(data[1]),
			data[1])
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	s.must(err)
	defer conn.Close()
	_, err = io.WriteString(conn, req)
	s.must(err)
	reply := readUntil(conn, enough)
	_, body, _ := strings.Cut(reply, "\r\n\r\n")
	if strings.Contains(reply, "Transfer-Encoding: chunked") {
		body = regexp.MustCompile(`(?m)^[0-9a-f]+\r\n`).ReplaceAllString(body, "")
	}
	return body
}
