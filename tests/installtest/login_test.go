package installtest

import (
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/creack/pty"

	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/vt"
)

// login is a user at a terminal of 80x24 with a shell.
type login struct {
	t    *testing.T
	tty  *os.File
	mu   sync.Mutex
	term *vt.Terminal // what the user sees
}

// login logs a user in; the terminal is closed at the end of the test.
func (r *root) login(user string) *login {
	r.t.Helper()
	c := r.enter("su", "-", user)
	tty, err := pty.StartWithSize(c, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		r.t.Fatal(err)
	}
	l := &login{t: r.t, tty: tty}
	l.term = vt.New(vt.Config{Cols: 80, Rows: 24, Effects: &vt.Effects{Reply: func(p []byte) { _, _ = tty.Write(p) }}})
	r.t.Cleanup(func() {
		_ = tty.Close()
		_ = c.Wait()
	})
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := tty.Read(buffer)
			l.mu.Lock()
			l.term.Write(buffer[:n])
			l.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	l.shows(`[$#]$`)
	return l
}

// types types a text.
func (l *login) types(text string) {
	l.t.Helper()
	if _, err := l.tty.WriteString(text); err != nil {
		l.t.Fatal(err)
	}
}

// screen is the rows of the screen without blanks at their ends, down to the last with text.
func (l *login) screen() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var rows []string
	for y := range 24 {
		rows = append(rows, strings.TrimRight(l.term.Row(y).Text(), " "))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

// shows waits until the screen matches: (?m) is on, so ^ and $ are those of rows, \z is the end.
func (l *login) shows(pattern string) {
	l.t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	if !polling.Until(enough, func() bool { return re.MatchString(l.screen()) }) {
		l.t.Fatalf("no %s on the screen:\n%s", pattern, l.screen())
	}
}
