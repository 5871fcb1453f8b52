package terminal_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/internal/metrics"
	"github.com/evertty/evertty/internal/supervisor"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/tests/supervisortest"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
	"github.com/evertty/evertty/wire"
)

// untitled is an engine that does not keep a title as it was set.
type untitled struct{ vt.Engine }

// Freeze makes a title that is longer each time it is painted again.
func (u untitled) Freeze() *vt.Frame {
	f := u.Engine.Freeze()
	f.Title += "!"
	return f
}

// warnings collects the log; safe for concurrent use.
type warnings struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *warnings) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

func (w *warnings) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Split(strings.TrimSpace(w.b.String()), "\n")
}

// TestVerify: a server that checks its snapshots logs and counts one that
// differs, once, and says nothing of exact ones.
func TestVerify(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		engine vt.EngineFunc
		want   float64
	}{{vt10x.New, 0}, {func(c vt.Config) vt.Engine { return untitled{vt10x.New(c)} }, 1}} {
		log, metrics := &warnings{}, metrics.New()
		m := openWith(
			t,
			t.TempDir(),
			supervisor.Config{Terminals: terminal.Config{Engine: c.engine, Verify: true}, Metrics: metrics,
				Log: slog.New(slog.NewTextHandler(log, nil))},
		)
		term := start(t, m, "sh", "-c", `printf '\033]2;title\007\033[1mready'`)
		waitFor(t, term, wire.WaitCondition{For: "exit"})
		s := term.Hub().Snapshot()
		s.ANSI()
		s.ANSI()
		if got := supervisortest.Gather(t, metrics)["evertty_snapshot_differences_total"]; got != c.want {
			t.Errorf("counted %v, want %v", got, c.want)
		}
		text := strings.Join(log.lines(), "\n")
		logged := strings.Count(text, "differs from the screen")
		if float64(logged) != c.want {
			t.Errorf("logged %d times: %s", logged, text)
		}
		if c.want > 0 && (!strings.Contains(text, "level=WARN") ||
			!strings.Contains(text, "id="+term.ID+" seq=19 differences=1") ||
			!strings.Contains(text, `title: want \"title!\", got \"title!!\"`)) {
			t.Errorf("%s", text)
		}
	}
}
