//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// castFile keeps a recording and returns its path.
func castFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.cast")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const castHead = `{"version":3,"term":{"cols":40,"rows":8}}` + "\n"

func TestPlayToAPipe(t *testing.T) {
	v2 := `{"version":2,"width":40,"height":8}` +
		"\n[1.5, \"o\", \"a\\u001b[6n\"]\n[1.5, \"i\", \"typed\"]\n[3, \"o\", \"é\\r\\n\"]\n"
	for _, tc := range []struct {
		name, cast, flags string
		out, err          string
		code              int
	}{
		{"v3", castHead + "# no\n[1, \"o\", \"a\"]\n[2, \"m\", \"x\"]\n[0.5, \"r\", \"50x9\"]\n[0.1, \"o\", " +
			"\"b\"]\n[0, \"x\", \"3\"]\n", "--no-wait", "ab", "", 0},
		{"v2, exactly", v2, "--no-wait", "a\x1b[6né\r\n", "", 0},
		{"fast", v2, "--speed 1000", "a\x1b[6né\r\n", "", 0},
		{"no pauses", v2, "--idle-limit 1ms", "a\x1b[6né\r\n", "", 0},
		{"the recording's limit", `{"version":2,"width":40,"height":8,"idle_time_limit":0.001}` +
			"\n[3600, \"o\", \"a\"]\n", "", "a", "", 0},
		{"broken", castHead + "[1, \"o\", \"a\"]\n[oops\n", "--no-wait", "a",
			"play: %s: not a recording in the form asciicast v2 or v3: line 3: invalid character", 1},
		{"no recording", "\x7fELF", "", "", "line 1", 1},
		{"wrong speed", v2, "--speed 0", "", `--speed: got "0", allowed is a number from 0.001 to 1000`, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := castFile(t, tc.cast)
			got := evertty(t, "", append([]string{"play", path}, strings.Fields(tc.flags)...)...)
			want := strings.ReplaceAll(tc.err, "%s", path)
			if got.code != tc.code || got.stdout != tc.out || !strings.Contains(got.stderr, want) || want == "" &&
				got.stderr != "" {
				t.Errorf("got %+v, want %d %q %q", got, tc.code, tc.out, want)
			}
		})
	}
	if got := evertty(t, v2, "play", "-", "--no-wait"); got.code != 0 || got.stdout != "a\x1b[6né\r\n" {
		t.Errorf("from standard input: %+v", got)
	}
	if got := evertty(t, "", "play", "/no/such.cast"); got.code != 1 || !strings.Contains(got.stderr, "no such file") {
		t.Errorf("without a file: %+v", got)
	}
}

// TestPlayKeepsTime: the pauses are those of the recording, divided by the speed.
func TestPlayKeepsTime(t *testing.T) {
	path := castFile(t, castHead+"[0.2, \"o\", \"a\"]\n[0.4, \"o\", \"b\"]\n")
	begin := time.Now()
	if got := evertty(t, "", "play", path, "--speed", "2"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if took := time.Since(begin); took < 300*time.Millisecond {
		t.Errorf("it took %v, want 300 ms", took)
	}
}

func TestPlayOnATerminal(t *testing.T) {
	noLeak(t)
	u := newUserTTY(t)
	before := u.modes()
	put(u.slave, "before\r\n")
	path := castFile(t, castHead+"[0, \"o\", \"one\\u001b[6n\\u001b[?1000h\\u001b]4;1;"+
		"#123456\\u0007\\r\\ntwo\"]\n[3600, \"o\", \"three\"]\n")
	code, stderr := u.evertty("play", path)
	u.sees("two")
	if raw := u.modes(); raw == before {
		t.Error("the terminal is not in raw mode")
	}
	u.press(" x q") // pause, nothing, go on, end
	if got := within(t, code, "the end"); got != 0 || stderr.String() != "" {
		t.Errorf("it ended with %d, %q", got, stderr)
	}
	eventually(t, func() string { return "the colours put back in " + u.written() }, func() bool {
		return strings.Contains(u.written(), "\x1b]104\x1b\\") && strings.HasSuffix(u.written(), giveTitle)
	})
	if after := u.modes(); after != before {
		t.Errorf("the terminal is left in %+v, it was %+v", after, before)
	}
	if text := u.text(-1); !strings.Contains(text, "before") || !strings.Contains(text, "one\ntwo") {
		t.Errorf("the screen is\n%s", text)
	}
	if s := u.written(); strings.Contains(s, "\x1b[6n") ||
		!strings.Contains(s[strings.LastIndex(s, "two"):], "\x1b[?1000l") {
		t.Errorf("written was %q", s)
	}
	if f := u.frame(); f.Main.X != 0 || f.Main.Y != 2 {
		t.Errorf("the cursor is left at %d,%d, want below the content", f.Main.X, f.Main.Y)
	}
}

func TestPlayIsInterrupted(t *testing.T) {
	noLeak(t)
	u := newUserTTY(t)
	path := castFile(t, `{"version":2,"width":120,"height":30}`+
		"\n[0, \"o\", \"\\u001b[?1049hfull\"]\n[3600, \"o\", \"\"]\n")
	code, stderr := u.evertty("play", path)
	u.sees("full")
	u.press("\x03")
	if got := within(t, code, "the end"); got != 130 ||
		stderr.String() != "[the recording is of 120 x 30, this window has 40 x 8]\n" {
		t.Errorf("it ended with %d, %q", got, stderr)
	}
	u.left()
	if f := u.frame(); f.Alt != nil {
		t.Error("the alternate screen is left on")
	}
}

func TestPlayKeys(t *testing.T) {
	for typed, want := range map[string]string{"q": "q", " x\x03": " x\x03", "\x1b[M q": "", "\x1b[A": ""} {
		if got := string(playKeys([]byte(typed))); got != want {
			t.Errorf("%q: the keys %q, want %q", typed, got, want)
		}
	}
}

// TestPlayPauses: what becomes due while it is paused comes so much later.
func TestPlayPauses(t *testing.T) {
	const short = 20 * time.Millisecond
	for paused := false; !paused; {
		p := &player{keys: make(chan byte), due: time.Now().Add(short)}
		due, done := p.due, make(chan error)
		go func() { done <- p.wait(t.Context()) }()
		select {
		case p.keys <- ' ':
			paused = true
		case <-done: // it was due before the key came
			continue
		}
		select {
		case <-done:
			t.Fatal("it went on while it was paused")
		case <-time.After(2 * short):
		}
		p.keys <- ' '
		if err := within(t, done, "going on"); err != nil || p.due.Sub(due) < 2*short {
			t.Errorf("it went on %v later than it was due: %v", p.due.Sub(due), err)
		}
	}
}
