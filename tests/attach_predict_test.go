package tests

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// distant is a user who looks at a terminal of s over a slow line, in a window that is a terminal itself.
type distant struct {
	*jobs
	s     *server
	line  *line
	inner string
	tap   *output // what attach writes
}

// attachOver has a user attach to a terminal over a line with a round trip of one second: a key that is shown while the
// line is held is on the screen 3 round trips at most.
func attachOver(t *testing.T, s, people *server, rows int, flags string) *distant {
	t.Helper()
	d := &distant{jobs: newJobs(t, people), s: s, tap: &output{},
		line: newLine(t, strings.TrimPrefix(s.url, "http://"), 500*time.Millisecond, 0)}
	d.inner = s.createWith(wire.CreateTerminal{Cmd: []string{"bash", "--norc", "--noprofile", "-i"}, Cols: new(80),
		Rows: &rows, SizePolicy: "fixed", Env: map[string]string{"PS1": "inner$ ", "TERM": "xterm-256color"}}).ID
	conn, err := people.Raw(people.ctx(), d.id, nil, client.AttachOptions{})
	people.must(err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := conn.Read(buf)
			if err != nil {
				return
			}
			_, _ = d.tap.Write(buf[:n])
		}
	}()
	d.enter(binary + " attach " + d.inner + " --nested --server " + "http://" + d.line.addr + flags)
	people.await(d.id, `inner\$ ($|\n)`)
	return d
}

// types types a key.
func (d *distant) types(key string) { d.people.input(d.id, key) }

// pause is as long as a person thinks: predictions begin a round trip behind the key before.
func (d *distant) pause() { time.Sleep(3 * d.line.delay) }

// echoes reports whether the terminal's line discipline or an editor shows what is typed.
func (d *distant) echoes() bool {
	tty, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/0", d.s.info(d.inner).PID))
	d.s.must(err)
	out, err := exec.CommandContext(d.s.ctx(), "stty", "-F", tty, "-a").Output()
	d.s.must(err)
	return !strings.Contains(string(out), "-echo ") || strings.Contains(string(out), "-icanon")
}

// row is the row of the cursor, and what of it is underlined.
func (d *distant) row() (text, underlined string) {
	screen := screenOf(d.people, d.id)
	if y := screen.Cursor.Y; y < len(screen.Lines) {
		for _, r := range screen.Lines[y].Runs {
			text += r.Text
			if r.Underline != "" {
				underlined += r.Text
			}
		}
	}
	return text, underlined
}

// earns types x until one is shown before the program has shown it.
func (d *distant) earns() {
	d.t.Helper()
	eventually(d.t, "a key is predicted", func() bool {
		d.pause()
		before, _ := d.row()
		d.types("x")
		for {
			text, underlined := d.row()
			if underlined != "" {
				return true
			}
			if len(text) > len(before) {
				return false
			}
		}
	})
	d.same("the echo")
}

// same waits until the window shows the terminal cell by cell, above a status line if there is one.
func (d *distant) same(what string) {
	d.t.Helper()
	eventually(d.t, what+": the window shows the terminal", func() bool {
		want, got := screenOf(d.s, d.inner), screenOf(d.people, d.id)
		return got.Alt == want.Alt && got.Cursor == want.Cursor &&
			slices.Equal(looks(got.Lines[:want.Rows]), looks(want.Lines))
	})
}

// TestAttachPredictsOnASlowLine: keys are shown while the line is held, underlined, and nothing of them is left behind
// their echo; in a window that shows the output as it is, and in one that is painted.
func TestAttachPredictsOnASlowLine(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	for flags, rows := range map[string]int{"": 24, " --status": 23} {
		t.Run("attach"+flags, func(t *testing.T) {
			t.Parallel()
			d := attachOver(t, s, people, rows, flags)
			d.earns()
			text, _ := d.row()
			d.line.hold()
			shows := func(keys string) {
				t.Helper()
				begun := time.Now()
				eventually(t, "keys are shown before the program shows them", func() bool {
					now, underlined := d.row()
					return underlined == keys && now == text+keys
				})
				t.Logf("%q is shown after %v", keys, time.Since(begun))
				if x := screenOf(people, d.id).Cursor.X; x != len(text+keys) {
					t.Errorf("the cursor is in column %d of %q", x, text+keys)
				}
			}
			d.types("y")
			shows("y")
			d.types("z")
			shows("yz")
			d.types("\x7f")
			shows("y")
			d.line.release()
			d.same("the echo")
			for _, keys := range []string{"\r", "w", "\r"} {
				people.input(d.id, keys)
				d.pause()
			}
			d.same("a prompt where a key was right")
			text, _ = d.row()
			d.line.hold()
			d.types("w") // at once
			shows("w")
			d.line.release()
			d.same("all of it")
		})
	}
}

// TestAttachPredictsWords: at the end of each word all of it is on the screen, and behind a thousand keys (in the long
// form) in shells and an editor the window is the terminal's, cell by cell.
func TestAttachPredictsWords(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	words := []string{"echo ", "one ", "two ", "three"}
	for name, p := range map[string]struct{ begins, prompt, enter string }{
		"bash": {"", "inner$ ", "\r"},
		"fish": {`TMPDIR=$PWD fish --no-config -C "function fish_prompt; echo -n 'me> '; end"`, "me> ", "\r"},
		"vim":  {"vim -u NONE -N", "", "\x1bo"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("%s is not installed", name)
			}
			t.Parallel()
			d := attachOver(t, s, people, 24, "")
			d.enter(p.begins)
			d.pause()
			var took []time.Duration
			for i := range times(3, 1000/len("echo one two three")+1) {
				eventually(t, "a prompt", func() bool {
					text, _ := d.row()
					return strings.TrimSpace(text) == strings.TrimSpace(p.prompt)
				})
				time.Sleep(200 * time.Millisecond) // a person sees it first
				typed := p.prompt
				if name == "vim" && i == 0 {
					d.types("i")
				}
				for _, word := range words {
					for _, key := range word {
						typed += string(key)
						d.types(string(key))
						time.Sleep(50 * time.Millisecond)
					}
					begun := time.Now()
					eventually(t, "the word "+word, func() bool {
						text, _ := d.row()
						return strings.HasPrefix(text, typed)
					})
					if i > 0 {
						took = append(took, time.Since(begun))
					}
				}
				d.types(p.enter)
				d.pause()
			}
			d.same("all of it")
			slices.Sort(took)
			half := took[len(took)/2]
			t.Logf("a word is there %v after its last key (median)", half)
			if full() && name != "vim" && half > 20*time.Millisecond { // a busy machine makes the line seem slower
				t.Error("words are not predicted")
			}
		})
	}
}

// TestAttachPredictsForNobodyElse: who does not want it, and who may not type.
func TestAttachPredictsForNobodyElse(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	for name, flags := range map[string]string{"never": " --predict never", "locked": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := attachOver(t, s, people, 24, flags)
			if name == "locked" {
				d.earns()
				other, err := s.Attach(s.ctx(), d.inner, client.AttachOptions{})
				s.must(err)
				defer other.Close()
				s.must(other.Control("lock", ""))
				d.same("locked")
			}
			mark := len(d.tap.String())
			for range 4 {
				d.pause()
				d.types("x")
			}
			d.pause()
			if written := d.tap.String()[mark:]; strings.Contains(written, "\x1b[4m") {
				t.Errorf("a key was shown: %q", written)
			}
		})
	}
}

// TestAttachPredictsNoSecret: what no program shows is never shown, on a full screen nothing is; also where predictions
// were right at the same prompt just before.
func TestAttachPredictsNoSecret(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	for name, p := range map[string]struct{ before, leaves, then, ends string }{
		"read":   {"read v", "\r", "read -s v", "\r"},
		"prompt": {"read -p 'pass: ' v", "\r", "read -s -p 'pass: ' v", "\r"},
		"cat":    {"cat", "\r\x04", "stty -echo; cat; stty echo", "\r\x04"},
		"vim":    {"", "\x15", "vim -u NONE -N +startinsert", "\x1b:q!\r"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("vim"); err != nil && name == "vim" {
				t.Skip("no vim here")
			}
			t.Parallel()
			d := attachOver(t, s, people, 24, "")
			d.enter(p.before)
			d.earns()
			people.input(d.id, p.leaves)
			d.enter(p.then)
			eventually(t, "the program reads", func() bool {
				return screenOf(s, d.inner).Alt || !d.echoes()
			})
			mark := len(d.tap.String())
			for _, key := range []string{"s", "e", "c", "\x7f", "t"} {
				d.pause()
				people.input(d.id, key)
			}
			d.pause()
			people.input(d.id, p.ends)
			eventually(t, "the shell reads", func() bool { return !screenOf(s, d.inner).Alt && d.echoes() })
			d.enter("echo end $((40+2))")
			people.await(d.id, "end 42")
			if written := d.tap.String()[mark:]; strings.Contains(written, "\x1b[4m") {
				t.Errorf("a secret was shown: %q", written)
			}
		})
	}
}

// underlined reports whether anything in the window is.
func (d *distant) underlined() bool {
	return slices.ContainsFunc(screenOf(d.people, d.id).Lines, func(l wire.Line) bool {
		return slices.ContainsFunc(l.Runs, func(r wire.Run) bool { return r.Underline != "" })
	})
}

// TestAttachLeavesNoPrediction: whatever comes in the middle of one, the end of the server, another size, a stop and
// the detach keys.
func TestAttachLeavesNoPrediction(t *testing.T) {
	t.Parallel()
	s, people := start(t, launch{}), start(t, launch{})
	d := attachOver(t, s, people, 24, "")
	predicted := func() string {
		t.Helper()
		d.earns()
		text, _ := d.row()
		d.line.hold()
		d.types("y")
		eventually(t, "the key is shown", func() bool { _, underlined := d.row(); return underlined == "y" })
		return text
	}
	text := predicted()
	s.kill()
	eventually(t, "the prediction is gone", func() bool {
		return slices.ContainsFunc(screenOf(people, d.id).Lines, func(l wire.Line) bool { return l.Text == text })
	})
	d.line.release()
	s.again()
	d.line.leadsTo(strings.TrimPrefix(s.url, "http://"))
	d.same("the server is back")
	predicted()
	people.must(people.Resize(people.ctx(), d.id, 90, 26))
	eventually(t, "the prediction is gone", func() bool { return !d.underlined() })
	d.line.release()
	people.must(people.Resize(people.ctx(), d.id, 80, 24))
	d.same("a window that was resized")
	text = predicted()
	d.stop(d.job(), syscall.SIGTSTP)
	if shown := d.screen(); d.underlined() || strings.Contains(shown, text+"y") {
		t.Errorf("stopped, it leaves\n%s", shown)
	}
	d.line.release()
	d.enter("fg")
	d.same("fg")
	text = predicted()
	people.input(d.id, "\x1c\x1c")
	people.await(d.id, `\[detached from`)
	d.enter("echo $((40+2)) in the shell")
	people.await(d.id, "42 in the shell")
	if shown := d.screen(); d.underlined() || strings.Contains(shown, text+"y") {
		t.Errorf("it leaves\n%s", shown)
	}
}
