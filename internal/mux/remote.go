package mux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/relay"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty"
)

// RemoteProvider is a provider beside this machine.
type RemoteProvider struct {
	provider.Provider
	Settings []byte // for a process of its own: catalog.Settings.Pack
}

// Relay is how remote processes are held: by a program here that stands for them; see package relay.
type Relay struct {
	Program []string // with its first arguments
	Dir     string   // a directory of its own, in which the jobs of terminals wait; 0700
}

// oldJob is the age at which a job was left behind by a server that was killed before its relay started: a relay takes its job within a second.
const oldJob = time.Hour

// openRelay makes the directory of jobs, and removes what nobody took.
func (m *Mux) openRelay() error {
	dir := m.cfg.Relay.Dir
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("mux: %w", err)
	}
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if i, err := f.Info(); err == nil && time.Since(i.ModTime()) > oldJob {
			_ = os.RemoveAll(filepath.Join(dir, f.Name()))
		}
	}
	return nil
}

// providerOf is where the processes of a thread run: the name of a provider, "" for this machine. Errors: session.ErrNoProvider, ErrDamaged.
func (d *durable) providerOf(threadID string) (string, error) {
	if d.Manager == nil {
		return "", nil
	}
	if err := d.MayBegin(threadID); err != nil {
		return "", err
	}
	th, err := d.Manager.Thread(threadID)
	if err != nil {
		return "", nil //nolint:nilerr // a thread that is not there is made here; trouble with the database hinders nobody
	}
	name := th.Provider
	if l, err := d.Manager.Lease(th.Lease); err == nil {
		name = l.Provider
	}
	if name == "" || name == thread.Local {
		return "", nil
	}
	if _, ok := d.mux.cfg.Providers[name]; !ok {
		return "", d.noProvider(name)
	}
	return name, nil
}

// noProvider says that a provider is not set up, and which are.
func (d *durable) noProvider(name string) error {
	return &thread.NoProvider{Given: name, Known: slices.Sorted(maps.Keys(d.providers))}
}

// remote tells whether the compute of a thread is not this machine.
func (d *durable) remote(th thread.Thread) bool {
	name, err := d.providerOf(th.ID)
	return err == nil && name != ""
}

// remoteShells is how shells run commands at providers.
func (m *Mux) remoteShells() *shell.Remote {
	return &shell.Remote{Program: append(m.cfg.Relay.Program[:len(m.cfg.Relay.Program):len(m.cfg.Relay.Program)], "exec"),
		Ready: m.readyCommand, Outcome: outcome}
}

// outcome is why a relay has no result.
func outcome(dir string) error {
	f, failed := relay.Outcome(dir)
	switch {
	case !failed:
		return nil
	case f.Cannot:
		return fmt.Errorf("%w: %s", provider.ErrUnsupported, f.Message)
	}
	return fmt.Errorf("%w: %s", thread.ErrProvider, f.Message)
}

// readyCommand gets the compute of a command running and leaves the job.
func (m *Mux) readyCommand(ctx context.Context, c shell.RemoteCommand) (recreated bool, err error) {
	m.mu.Lock()
	s := m.shells.byKey[c.Shell]
	m.mu.Unlock()
	if s == nil {
		return false, ErrNoShell
	}
	if c.Again {
		m.doubt(ctx, s.Session)
	}
	l, err := m.records.ready(ctx, s.Session, s.use(), s.Spec().Place)
	if err != nil {
		return false, err
	}
	old := s.instance.Swap(&l.Instance.Session)
	err = m.leave(c.Dir, l, relay.Job{Command: &relay.Command{Text: relay.Bytes(c.Text), Cwd: relay.Bytes(c.Cwd), Env: relay.Environ(c.Env), State: c.State, Keep: c.Keep}})
	return old != nil && *old != l.Instance.Session, err
}

// doubt has the provider asked again how the compute of a thread is. What it says is in the records, also that it says nothing.
func (m *Mux) doubt(ctx context.Context, thread string) {
	if th, err := m.records.Manager.Thread(thread); err == nil {
		_, _ = m.records.Refresh(ctx, th.Lease)
	}
}

// leave completes a job and puts it where its relay looks. Errors: session.ErrNoProvider, ErrNoSpace.
func (m *Mux) leave(dir string, l thread.Layers, j relay.Job) error {
	p, ok := m.cfg.Providers[l.Lease.Provider]
	if !ok {
		return m.records.noProvider(l.Lease.Provider)
	}
	j.Settings, j.Instance = json.RawMessage(p.Settings), l.Instance.Session
	return relay.Leave(dir, j)
}

// checkProvider finds out where a new terminal runs. Errors: session.ErrNoProvider, ErrUnsupported (a provider without terminals).
func (m *Mux) checkProvider(s *Spec) (err error) {
	if s.Place, err = m.records.providerOf(s.Session); err != nil || s.Place == "" {
		return err
	}
	if !m.cfg.Providers[s.Place].Capabilities().PTY {
		return fmt.Errorf("%w: %s has no terminals", provider.ErrUnsupported, s.Place)
	}
	return nil
}

// program is what the keeper starts for a terminal: its program, or the relay of it. Errors of the latter: those of durable.ready.
func (t *Terminal) program(s Spec) (pty.Spec, error) {
	if s.Place == "" {
		env := map[string]string{}
		maps.Copy(env, s.Env)
		maps.Copy(env, pty.Identity(t.mux.cfg.Address, s.Session, t.ID))
		return pty.Spec{Argv: s.Cmd, Dir: s.Cwd, Env: env, Cols: s.Cols, Rows: s.Rows, Brand: t.brand()}, nil
	}
	m := t.mux
	l, err := m.records.ready(m.opening, s.Session, t.use(), s.Place)
	if err != nil {
		return pty.Spec{}, err
	}
	dir := t.jobDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return pty.Spec{}, errors.Join(thread.ErrNoSpace, err)
	}
	if s.Cwd == "" {
		s.Cwd = l.Terminal.State.Cwd
	}
	env := maps.Clone(l.Terminal.State.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, s.Env)
	maps.Copy(env, pty.Identity("", s.Session, t.ID)) // the server cannot be reached from there
	job := relay.Terminal{Cwd: relay.Bytes(s.Cwd), Env: relay.Environ(env)}
	for _, word := range s.Cmd {
		job.Argv = append(job.Argv, relay.Bytes(word))
	}
	if err := m.leave(dir, l, relay.Job{Terminal: &job}); err != nil {
		t.dropJob()
		return pty.Spec{}, err
	}
	argv := append(slices.Clip(m.cfg.Relay.Program), "pty", dir)
	return pty.Spec{Argv: argv, Dir: "/", Cols: s.Cols, Rows: s.Rows, Brand: t.brand()}, nil
}

// jobDir is where the job of a remote terminal waits for its relay.
func (t *Terminal) jobDir() string { return filepath.Join(t.mux.cfg.Relay.Dir, t.holdID()) }

// dropJob removes what is left of a job when its relay has ended or never began: one that was not taken has secrets in it.
func (t *Terminal) dropJob() {
	if t.spec.Place != "" {
		_ = os.RemoveAll(t.jobDir()) // else openRelay does
	}
}

// remoteCwd is the directory of a remote program: what it reported itself, or else the last one known.
func (t *Terminal) remoteCwd() string {
	said := t.Hub().Facts().Cwd
	t.mu.Lock()
	defer t.mu.Unlock()
	if filepath.IsAbs(said) {
		t.place.dir = said
	}
	return t.place.dir
}

// living is livingDir where a terminal or shell runs: a remote directory is checked by the start.
func living(place, dir string) (there, moved string) {
	if place != "" {
		return dir, ""
	}
	return livingDir(dir)
}
