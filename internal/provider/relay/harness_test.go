package relay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/relay"
	"github.com/evertty/evertty/tests/fakeprov"
	"github.com/evertty/evertty/tests/polling"

	"github.com/evertty/evertty/internal/provider/catalog"
)

// limit is for anything that is waited for.
const limit = 2 * time.Minute

// place is an instance with a real bash at one of the services, as a job names it, and a directory in it.
type place struct {
	provider.Provider
	fake          *fakeprov.Server
	settings      []byte
	instance, dir string
}

// rent makes a place: a relay opens only what settings can name, which this machine is not.
func rent(t *testing.T) *place {
	t.Helper()
	dir := t.TempDir()
	fake, err := fakeprov.Start(dir)
	must(t, err)
	t.Cleanup(func() { must(t, fake.Close()) })
	section := map[string]string{"api_key": fakeprov.Key, "api_url": fake.E2BURL(), "sandbox_url": fake.E2BSandboxURL(),
		"cwd": dir}
	text, err := json.Marshal(map[string]any{"provider": "e2b", "e2b": section})
	must(t, err)
	s, err := catalog.ParseSettings(text, func(string) (string, bool) { return "", false })
	must(t, err)
	w := &place{fake: fake, dir: dir}
	w.settings, err = s.Pack()
	must(t, err)
	w.Provider, err = s.Open()
	must(t, err)
	w.instance = w.create(t)
	return w
}

func (w *place) create(t *testing.T) string {
	t.Helper()
	i, err := w.Create(within(t), provider.CreateRequest{Name: t.Name()})
	must(t, err)
	return i.ID
}

// job leaves one in a new directory.
func (w *place) job(t *testing.T, c *relay.Command, p *relay.Terminal) (dir string) {
	t.Helper()
	dir = t.TempDir()
	w.leave(t, dir, w.instance, c, p)
	return dir
}

func (w *place) leave(t *testing.T, dir, instance string, c *relay.Command, p *relay.Terminal) {
	t.Helper()
	if c != nil && c.State == "" {
		c.State = filepath.Join(dir, "state")
	}
	must(t, relay.WriteJob(dir, relay.Job{Settings: w.settings, Instance: instance, Command: c, Terminal: p}))
}

// file waits for a file of the place that has a text, and returns that.
func (w *place) file(t *testing.T, name string) (text string) {
	t.Helper()
	becomes(t, "there is "+name, func() bool {
		b, err := w.ReadFile(within(t), w.instance, filepath.Join(w.dir, name), 1<<20)
		text = strings.TrimSpace(string(b))
		return err == nil && text != ""
	})
	return text
}

// gone fails unless the process whose number is in a file ends.
func (w *place) gone(t *testing.T, name string) {
	t.Helper()
	pid := w.file(t, name)
	becomes(t, "process "+pid+" has ended", func() bool {
		r, err := w.Exec(within(t), w.instance, provider.ExecRequest{Command: "kill -0 " + pid}, &bytes.Buffer{},
			&bytes.Buffer{})
		return err == nil && r.ExitCode != 0
	})
}

// untaken reports whether the job is still in a directory.
func untaken(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "job"))
	return !errors.Is(err, fs.ErrNotExist)
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func becomes(t *testing.T, what string, fact func() bool) {
	t.Helper()
	if !polling.Until(limit, fact) {
		t.Fatal("it did not come to that: " + what)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shared is a buffer that is read while it is written.
type shared struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
