package tests

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// logKeys are the keys that docs/operate/monitoring.md names, in the table below "## Log".
func logKeys(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile("../docs/operate/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## Log\n")
	text, _, _ = strings.Cut(text, "\n## ")
	keys := map[string]bool{}
	for line := range strings.Lines(text) {
		if first, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && strings.HasPrefix(line, "| `") {
			for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(first, -1) {
				keys[m[1]] = true
			}
		}
	}
	return keys
}

// TestLogKeysAreDocumented: each key that the source gives to a logger is in the document, and no other.
func TestLogKeysAreDocumented(t *testing.T) {
	t.Parallel()
	documented := logKeys(t)
	used := map[string]bool{"time": true, "level": true, "msg": true}
	for _, p := range packages(t) {
		folder := strings.TrimPrefix(p.ImportPath, module)
		if strings.HasPrefix(folder, "tests") || strings.HasPrefix(folder, "scripts") {
			continue
		}
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				for _, key := range keysOf(n) {
					if used[key] = true; !documented[key] {
						t.Errorf("%s/%s: the key %q is not in docs/operate/monitoring.md", folder, name, key)
					}
				}
				return true
			})
		}
	}
	for key := range documented {
		if !used[key] {
			t.Errorf("docs/operate/monitoring.md has the key %q, which nothing writes", key)
		}
	}
}

// keysOf are the keys of a call of a logger.
func keysOf(n ast.Node) (keys []string) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if of, ok := method.X.(*ast.Ident); ok && of.Name == "http" { // http.Error
		return nil
	}
	first := map[string]int{"Error": 1, "Warn": 1, "Info": 1, "Debug": 1, "Log": 3}[method.Sel.Name]
	if first == 0 || len(call.Args) < first+2 || (len(call.Args)-first)%2 != 0 {
		return nil
	}
	for i := first; i < len(call.Args); i += 2 {
		if l, ok := call.Args[i].(*ast.BasicLit); ok && l.Kind == token.STRING {
			key, _ := strconv.Unquote(l.Value)
			keys = append(keys, key)
		}
	}
	return keys
}

// TestLogOfJSON: each line is an object with the keys of the document. What is typed and what is secret is in none.
func TestLogOfJSON(t *testing.T) {
	t.Parallel()
	const secret = "typed-XYZZY-secret"
	s := start(t, launch{auth: "token", flags: []string{"--log-format", "json", "--log-level", "debug"}})
	id := s.create("cat").ID
	s.input(id, secret+"\n")
	s.await(id, "^"+secret)
	s.in("work").run("echo " + secret)
	s.call("GET", "/pty?token="+secret, "") // refused, which is logged
	s.call("GET", "/pty/absent/stream", "").wants(404)
	s.kill()
	s.again()
	log := s.stderr.String()
	s.stop()
	log += s.stderr.String()
	documented := logKeys(t)
	lines := 0
	for line := range strings.Lines(log) {
		lines++
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("no JSON: %q", line)
		}
		for _, key := range []string{"time", "level", "msg"} {
			if entry[key] == nil {
				t.Errorf("%s is missing: %s", key, line)
			}
		}
		for key := range entry {
			if !documented[key] {
				t.Errorf("the key %q is in no document: %s", key, line)
			}
		}
	}
	if lines == 0 || strings.Contains(log, secret) || strings.Contains(log, s.token()) {
		t.Errorf("%d lines with a secret:\n%s", lines, log)
	}
	out := run(t, s.command("serve", "--log-format", "json", "--listen", "127.0.0.1:99999999", "--data-dir", s.how.dir))
	if json.Unmarshal([]byte(out.stderr), new(map[string]any)) != nil || out.code == 0 {
		t.Errorf("a failed start: %+v", out)
	}
	s.again()
}

// TestLogOfTheKeeperIsJSON: what the keeper writes has the form that the server was started with.
func TestLogOfTheKeeperIsJSON(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--log-format", "json"}, errors: true})
	s.create("cat")
	s.must(syscall.Kill(s.keeperPID(), syscall.SIGTERM)) // which it ignores, as it holds a program
	eventually(t, "the keeper tells of the signal", func() bool { return strings.Contains(s.keeperLog(), "\n") })
	for line := range strings.Lines(s.keeperLog()) {
		var entry struct {
			Msg    string
			Keeper int
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Msg == "" || entry.Keeper != s.keeperPID() {
			t.Errorf("%v: %s", err, line)
		}
	}
}
