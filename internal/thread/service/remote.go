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
	"github.com/evertty/evertty/internal/thread/sqlite"
	"github.com/evertty/evertty/pty"
)

// RemoteProvider is a provider beside this machine.
type RemoteProvider struct {
	provider.Provider
	Settings []byte // for a process of its own: catalog.Settings.Pack
}

// Relay is the program that stands for remote processes on this machine; see package relay.
type Relay struct {
	Program []string // with its first arguments
	Dir     string   // a directory of its own, in which the jobs of terminals wait; 0700
}

// remote runs the commands and terminals of threads at providers. Constant after Threads.Open.
type remote struct {
	*database
	*parts
	leases  *Leases
	hooks   *hooks
	remotes map[string]RemoteProvider
	relay   Relay
}

// oldJob is the age at which a job was left behind by a server that was killed before its relay
// started: a relay takes its job within a second.
const oldJob = time.Hour

// open makes the directory of jobs, and removes old ones.
func (r *remote) open() error {
	dir := r.relay.Dir
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	list, _ := os.ReadDir(dir)
	for _, f := range list {
		if i, err := f.Info(); err == nil && time.Since(i.ModTime()) > oldJob {
			_ = os.RemoveAll(filepath.Join(dir, f.Name()))
		}
	}
	return nil
}

// providerName returns the name of the provider of a thread's processes, "" for this machine. A thread
// that does not exist is made here, and a database that cannot be read blocks nothing. Errors:
// thread.ErrInvalid (no thread can have that id), ErrNoProvider.
func (r *remote) providerName(threadID string) (string, error) {
	if !r.isOpen() {
		return "", nil
	}
	name, err := read(r.database, func(tx *sqlite.Tx) (string, error) { return tx.ThreadProvider(threadID) })
	if missing(err) {
		return "", checkNew(threadID)
	}
	if err != nil {
		return "", nil //nolint:nilerr // see above
	}
	if name == "" || name == thread.Local {
		return "", nil
	}
	if _, ok := r.remotes[name]; !ok {
		return "", r.noProvider(name)
	}
	return name, nil
}

// isRemote reports whether the processes of a thread run at a provider.
func (r *remote) isRemote(threadID string) bool {
	name, err := r.providerName(threadID)
	return err == nil && name != ""
}

// Remote returns the way in which shells run commands at providers.
func (r *remote) Remote() *shell.Remote {
	return &shell.Remote{Program: append(slices.Clip(r.relay.Program), "exec"),
		Ready: r.prepareCommand, Outcome: outcome}
}

// outcome returns the reason why a relay has no result. Errors: thread.ErrUnsupported, ErrProvider.
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
func (r *remote) prepareCommand(ctx context.Context, c shell.RemoteCommand) (recreated bool, err error) {
	s := r.shells.ByKey(c.Shell)
	if s == nil {
		return false, registry.ErrNotFound
	}
	if c.Again {
		r.recheckCompute(ctx, s.Session)
	}
	l, err := r.hooks.openShell(ctx, s)
	if err != nil {
		return false, err
	}
	old := shellRow(s).instance.Swap(&l.Instance.Session)
	err = r.writeJob(c.Dir, l, relay.Job{Command: &relay.Command{Text: relay.Bytes(c.Text), Cwd: relay.Bytes(c.Cwd),
		Env: relay.Environ(c.Env), State: c.State, Keep: c.Keep}})
	return old != nil && *old != l.Instance.Session, err
}

// recheckCompute asks the provider of a thread about its compute. The lease's events have the answer,
// also that there is none.
func (r *remote) recheckCompute(ctx context.Context, thread string) {
	if th, err := r.thread(thread); err == nil {
		_, _ = r.leases.refresh(ctx, th.Lease, "api")
	}
}

// writeJob completes a job and writes it for its relay. Errors: thread.ErrNoProvider, any of
// relay.WriteJob.
func (r *remote) writeJob(dir string, l thread.Layers, j relay.Job) error {
	p, ok := r.remotes[l.Lease.Provider]
	if !ok {
		return r.leases.noProvider(l.Lease.Provider)
	}
	j.Settings, j.Instance = json.RawMessage(p.Settings), l.Instance.Session
	return relay.WriteJob(dir, j)
}

// program returns the program that stands here for a terminal at a provider: its relay, with a job.
// Errors: any of hooks.openThread, thread.ErrNoSpace.
func (r *remote) program(t *terminal.Terminal, s terminal.Spec) (pty.Spec, error) {
	l, err := r.hooks.openTerminal(r.life.Opening(), t)
	if err != nil {
		return pty.Spec{}, err
	}
	dir := r.jobDir(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return pty.Spec{}, errors.Join(thread.ErrNoSpace, err)
	}
	if s.Cwd == "" {
		s.Cwd = l.Terminal.State.Cwd
	}
	env := map[string]string{}
	maps.Copy(env, l.Terminal.State.Env)
	maps.Copy(env, s.Env)
	maps.Copy(env, terminal.Identity("", "", s.Session, t.ID)) // the server cannot be reached from there
	job := relay.Terminal{Cwd: relay.Bytes(s.Cwd), Env: relay.Environ(env)}
	for _, word := range s.Cmd {
		job.Argv = append(job.Argv, relay.Bytes(word))
	}
	if err := r.writeJob(dir, l, relay.Job{Terminal: &job}); err != nil {
		r.dropProgram(t)
		return pty.Spec{}, err
	}
	argv := append(slices.Clip(r.relay.Program), "pty", dir)
	return pty.Spec{Argv: argv, Dir: "/", Cols: *s.Cols, Rows: *s.Rows, Tag: t.Tag()}, nil
}

// jobDir returns the directory in which the job of a remote terminal waits for its relay.
func (r *remote) jobDir(t *terminal.Terminal) string {
	return filepath.Join(r.relay.Dir, t.KeeperID())
}

// dropProgram removes the job of a relay that has ended or never began: one that was not taken has
// secrets in it.
func (r *remote) dropProgram(t *terminal.Terminal) {
	if t.Spec().Provider != "" {
		_ = os.RemoveAll(r.jobDir(t)) // else open does
	}
}

// terminalProvider is providerName for a new terminal. Errors: also thread.ErrUnsupported (a provider
// without terminals).
func (r *remote) terminalProvider(session string) (string, error) {
	name, err := r.providerName(session)
	if err == nil && name != "" && !r.remotes[name].Capabilities().PTY {
		err = fmt.Errorf("%w: %s has no terminals", thread.ErrUnsupported, name)
	}
	return name, err
}
