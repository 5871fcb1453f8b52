package tests

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// jsonCalls are calls of all verbs that print something, in an order in which each succeeds; they are carried out with
// --json. NAME@ before one keeps the first id that it prints, for <NAME>.
var jsonCalls = []string{
	"version", "doctor", "user add alice",
	"new -d --name build -- cat", "ls", "top", "status", "send build x", "labels build a=b", "rename build made",
	"resize made 90x30", "snapshot made", "logs made", "record made", "wait made --for text --pattern x", "park made",
	"viewers made", "link@share made", "share ls", "share rm <link>",
	"new -d --name short -- true", "wait short", "logs short --follow", "restart short", "kill made",
	"exec -s work true", "cmd@commands -s work", "commands -s work <cmd>", "shells -s work", "url",
	"backup DIR/file", "restore DIR/file --data-dir DIR/new",
	"thread new t1", "thread ls", "thread show t1", "thread resume t1", "thread pause t1", "thread policy t1 --idle 1h",
	"thread permissions t1 --mode prompt", "exec -s t1 touch DIR/one", "exec -s t1 touch DIR/two",
	"one@thread approvals t1", "thread approve t1 <one> --yes", "two@thread approvals t1", "thread deny t1 <two>",
	"thread steer t1 hello", "thread steer t1 --drain", "thread import t1 DIR/record", "thread export t1",
	"thread compact t1 --summary s", "lease ls", "thread permissions t1 --mode allow", "thread rm t1",
	"login URL --token-file TOKEN --context here", "context ls", "context use here", "context rm here",
	"logout --all", "stop",
}

// jsonExempt are the verbs that are not among these: leases of the local provider cannot be changed.
var jsonExempt = []string{"lease pause", "lease resume", "lease rm"}

// TestJSONOfEveryVerb: each verb that talks to a server takes --json and prints JSON on stdout, and nothing else.
func TestJSONOfEveryVerb(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	dir := t.TempDir()
	s.must(os.WriteFile(filepath.Join(dir, "record"), []byte(`{"messages":[]}`), 0o600))
	kept := map[string]string{}
	for _, line := range jsonCalls {
		name, line, named := cutName(line)
		line = strings.NewReplacer("DIR", dir, "URL", s.url, "TOKEN", s.file("token")).Replace(line)
		for k, v := range kept {
			line = strings.ReplaceAll(line, "<"+k+">", v)
		}
		words := strings.Split(line, " ")
		at := len(words)
		if i := slices.Index(words, "--"); i >= 0 {
			at = i
		} else if words[0] == "exec" {
			at = 1
		}
		c := s.cli(slices.Insert(words, at, "--json")...)
		c.Env = append(c.Env, "XDG_CONFIG_HOME="+dir)
		e := run(t, c)
		asks := words[0] == "exec" && strings.Contains(line, "touch") // an approval, with an error
		if e.code != 0 && !asks && words[0] != "doctor" {
			t.Errorf("evertty %s --json: %+v", line, e)
			continue
		}
		if asks {
			continue
		}
		if err := allJSON(e.stdout); err != nil {
			t.Errorf("evertty %s --json printed %q: %v", line, e.stdout, err)
		}
		if named {
			if kept[name] = firstID(e.stdout); kept[name] == "" {
				t.Errorf("evertty %s --json printed no id: %s", line, e.stdout)
			}
		}
	}
	for _, verb := range talkingVerbs(t) {
		if strings.Contains(run(t, call(t, nil, append(strings.Fields(verb), "--help")...)).stdout, "--json") {
			if slices.ContainsFunc(jsonCalls, func(line string) bool {
				_, call, _ := cutName(line)
				return strings.HasPrefix(call+" ", verb+" ")
			}) || slices.Contains(jsonExempt, verb) {
				continue
			}
			t.Errorf("evertty %s --json is not tried", verb)
		} else if verb != "attach" { // which shows a terminal
			t.Errorf("evertty %s has no --json", verb)
		}
	}
	c := call(t, nil, "render", "--json", "-")
	c.Stdin = strings.NewReader("hello")
	if e := run(t, c); e.code != 0 || allJSON(e.stdout) != nil {
		t.Errorf("render: %+v", e)
	}
}

// cutName parts NAME@CALL.
func cutName(line string) (name, rest string, ok bool) {
	if name, rest, ok = strings.Cut(line, "@"); ok {
		return name, rest, true
	}
	return "", line, false
}

// allJSON is the error of a text that is not one or more values in JSON.
func allJSON(text string) error {
	d, n := json.NewDecoder(strings.NewReader(text)), 0
	for ; ; n++ {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	if n == 0 {
		return errors.New("there is none")
	}
	return nil
}

var anyID = regexp.MustCompile(`"(?:id|command_id|commandID|lease_id)": "([^"]+)"`)

// firstID is the first id in JSON.
func firstID(text string) string {
	if m := anyID.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
