package service

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
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/pty"
)

// RemoteProvider is a provider beside this machine.
type RemoteProvider struct {
	provider.Provider
	Settings []byte // for a process of its own: catalog.Settings.Pack
}

// Relay is how remote processes are held: by a program here that stands for them; see package
// relay.
type Relay struct {
	Program []string // with its first arguments
	Dir     string   // a directory of its own, in which the jobs of terminals wait; 0700
}

// oldJob is the age at which a job was left behind by a server that was killed before its relay
// started: a relay takes its job within a second.
const oldJob = time.Hour

// openRelay makes the directory of jobs, and removes what nobody took.
func (d *Service) openRelay() error {
	dir := d.cfg.Relay.Dir
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w", err)
	}
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if i, err := f.Info(); err == nil && time.Since(i.ModTime()) > oldJob {
			_ = os.RemoveAll(filepath.Join(dir, f.Name()))
		}
	}
	return nil
}

// providerName is where the processes of a thread run: the name of a provider, "" for this machine.
// Errors: thread.ErrNoProvider, ErrDamaged.
func (d *Service) providerName(threadID string) (string, error) {
	if d.Manager == nil {
		return "", nil
	}
	if err := d.Manager.MayBegin(threadID); err != nil {
		return "", err
	}
	th, err := d.Manager.Thread(threadID)
	if err != nil {
		// a thread that is not there is made here; trouble with the database hinders nobody
		return "", nil //nolint:nilerr
	}
	name := th.Provider
	if l, err := d.Manager.Lease(th.Lease); err == nil {
		name = l.Provider
	}
	if name == "" || name == thread.Local {
		return "", nil
	}
	if _, ok := d.cfg.Providers[name]; !ok {
		return "", d.noProvider(name)
	}
	return name, nil
}

// noProvider says that a provider is not set up, and which are.
func (d *Service) noProvider(name string) error {
	return &thread.NoProvider{Given: name, Known: slices.Sorted(maps.Keys(d.providers)),
		Setup: d.cfg.ProviderSetup[name]}
}

// remote reports whether the compute of a thread is not this machine.
func (d *Service) remote(th thread.Thread) bool {
	name, err := d.providerName(th.ID)
	return err == nil && name != ""
}

// Remote is how shells run commands elsewhere.
func (d *Service) Remote() *shell.Remote {
	return &shell.Remote{Program: append(d.cfg.Relay.Program[:len(d.cfg.Relay.Program):len(d.cfg.Relay.Program)],
		"exec"),
		Ready: d.prepareCommand, Outcome: outcome}
}

// outcome is why a relay has no result.
func outcome(dir string) error {
	f, failed := relay.Outcome(dir)
	switch {
	case !failed:
		return nil
	case f.Cannot:
		return fmt.Errorf("%w: %s", thread.ErrUnsupported, f.Message)
	}
	return fmt.Errorf("%w: %s", thread.ErrProvider, f.Message)
}

// prepareCommand gets the compute of a command running and leaves the job.
func (d *Service) prepareCommand(ctx context.Context, c shell.RemoteCommand) (recreated bool, err error) {
	s := d.shells.ByKey(c.Shell)
	if s == nil {
		return false, registry.ErrNotFound
	}
	if c.Again {
		d.recheckCompute(ctx, s.Session)
	}
	l, err := d.openThread(ctx, s.Session, useOfShell(s), s.Spec().Provider)
	if err != nil {
		return false, err
	}
	old := shellRow(s).instance.Swap(&l.Instance.Session)
	err = d.writeJob(c.Dir, l, relay.Job{Command: &relay.Command{Text: relay.Bytes(c.Text), Cwd: relay.Bytes(c.Cwd),
		Env: relay.Environ(c.Env), State: c.State, Keep: c.Keep}})
	return old != nil && *old != l.Instance.Session, err
}

// recheckCompute has the provider asked again how the compute of a thread is. What it says is in
// the records, also that it says nothing.
func (d *Service) recheckCompute(ctx context.Context, thread string) {
	if th, err := d.Manager.Thread(thread); err == nil {
		_, _ = d.Manager.Refresh(ctx, th.Lease)
	}
}

// writeJob completes a job and puts it where its relay looks. Errors: thread.ErrNoProvider,
// ErrNoSpace.
func (d *Service) writeJob(dir string, l thread.Layers, j relay.Job) error {
	p, ok := d.cfg.Providers[l.Lease.Provider]
	if !ok {
		return d.noProvider(l.Lease.Provider)
	}
	j.Settings, j.Instance = json.RawMessage(p.Settings), l.Instance.Session
	return relay.WriteJob(dir, j)
}

// program is what stands here for a terminal at a provider: its relay, with the job of it. Errors:
// those of ready.
func (d *Service) program(t *terminal.Terminal, s terminal.Spec) (pty.Spec, error) {
	l, err := d.openThread(d.life.Opening(), s.Session, useOf(t), s.Provider)
	if err != nil {
		return pty.Spec{}, err
	}
	dir := d.jobDir(t)
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
	if err := d.writeJob(dir, l, relay.Job{Terminal: &job}); err != nil {
		d.dropProgram(t)
		return pty.Spec{}, err
	}
	argv := append(slices.Clip(d.cfg.Relay.Program), "pty", dir)
	return pty.Spec{Argv: argv, Dir: "/", Cols: *s.Cols, Rows: *s.Rows, Tag: t.Tag()}, nil
}

// jobDir is where the job of a remote terminal waits for its relay.
func (d *Service) jobDir(t *terminal.Terminal) string {
	return filepath.Join(d.cfg.Relay.Dir, t.KeeperID())
}

// dropProgram removes what is left of a job when its relay has ended or never began: one that was
// not taken has secrets in it.
func (d *Service) dropProgram(t *terminal.Terminal) {
	if t.Spec().Provider != "" {
		_ = os.RemoveAll(d.jobDir(t)) // else openRelay does
	}
}

// providerOf is where a new terminal of a session runs, "" for this machine. Errors:
// thread.ErrNoProvider, ErrUnsupported (a provider without terminals).
func (d *Service) providerOf(session string) (string, error) {
	place, err := d.providerName(session)
	if err == nil && place != "" && !d.cfg.Providers[place].Capabilities().PTY {
		err = fmt.Errorf("%w: %s has no terminals", thread.ErrUnsupported, place)
	}
	return place, err
}
