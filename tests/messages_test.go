package tests

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// insideWords are names of packages and of Go's own texts, which a person cannot know.
var insideWords = regexp.MustCompile(`%!|goroutine|httpapi|wire\.|\*[a-z]+\.[A-Z]|strconv|<nil>|` +
	`(^|: )(terminal|supervisor|registry|pty|keeper|proc|client|datadir|journal|stream|auth|shell|store|sqlite|wait|` +
	`cobra|pflag|json|http|tls|dial|unix|net|url|localsocket|strictmodes|asciicast|conversation|provider|toml): `)

// tellsPeople checks that a call has ended with a code and one sentence for a person.
func (e ended) tellsPeople(t *testing.T, verb, args string, code int) {
	t.Helper()
	text := strings.TrimPrefix(e.stderr, "evertty: ")
	text = strings.TrimPrefix(text, verb+": ") // what a person has typed
	if e.code != code || strings.Count(e.stderr, "\n") != 1 || !strings.HasPrefix(e.stderr, "evertty: ") {
		t.Errorf("evertty %s: exit code %d, want %d and one line: %q", args, e.code, code, e.stderr)
	}
	if word := insideWords.FindString(text); word != "" {
		t.Errorf("evertty %s: %q says %q", args, e.stderr, word)
	}
}

// TestWrongCallsTellPeople: each verb called wrongly ends with the code of that and a sentence without the words of its
// inside.
func TestWrongCallsTellPeople(t *testing.T) {
	t.Parallel()
	s := start(t, launch{auth: "token"})
	none := unstarted(t)
	for _, verb := range talkingVerbs(t) {
		words := strings.Fields(verb)
		for _, wrong := range []string{"--zzz", "--server nonsense", "--server ftp://h", "--context zzz",
			"--server http://h --context c", "--no-start=maybe", "a b c d e f"} {
			many := "kill park restart exec thread new send labels"
			if wrong[0] == 'a' && strings.Contains(many, words[0]) {
				continue // takes many, or has its own rules
			}
			args := append(slices.Clone(words), strings.Fields(wrong)...)
			if wrong != "--zzz" && wrong != "a b c d e f" {
				args = slices.Insert(s.wholeCall(verb), len(words), strings.Fields(wrong)...)
			}
			if verb == "attach" || verb == "new" || verb == "thread import" {
				continue // one needs a terminal, one a file first; they have tests of their own
			}
			run(t, none.verb(args...)).tellsPeople(t, words[0], strings.Join(args, " "), 2)
		}
	}
	for _, args := range verbArguments {
		if !strings.Contains(args, " x") || strings.HasPrefix(args, "__") {
			continue
		}
		args = strings.Replace(args, " x", " nosuch", 1)
		run(t, s.cli(strings.Fields(args)...)).tellsPeople(t, strings.Fields(args)[0], args, 4)
	}
	for _, args := range []string{"ls --session a/b", "new -d --name a/b", "new -d --cwd /nowhere -- true",
		"new -d -- /no/such/program", "new -d --label a", "render /nowhere", "play /nowhere", "play /etc/passwd",
		"login http://127.0.0.1:1", "restore /nowhere --data-dir DIR", "backup /nowhere/file", "ls --label a",
		"exec --sandbox zzz true", "ls --server http://127.0.0.1:1", "ls --server unix:///nowhere", "user add a/b",
		"login nonsense", "render --resize-at x", "wait x --since -1", "top --session a/b"} {
		args = strings.ReplaceAll(args, "DIR", t.TempDir())
		e := run(t, s.cli(strings.Fields(args)...))
		e.tellsPeople(t, strings.Fields(args)[0], args, max(1, e.code))
	}
}

// wholeCall is a verb with the arguments that it is tried with.
func (s *server) wholeCall(verb string) []string {
	for _, args := range verbArguments {
		if strings.HasPrefix(args+" ", verb+" ") {
			return strings.Fields(args)
		}
	}
	return strings.Fields(verb)
}
