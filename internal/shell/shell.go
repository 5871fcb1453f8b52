// Package shell runs commands in one persistent bash: queue, history, output, cancel, state, recovery.
package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/clock"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
	"github.com/evertty/evertty/pty/keeper"
)

// Config is shared by all shells of a server.
type Config struct {
	Keeper *keeper.Client
	Log    *slog.Logger
	// SpliceErr is why output cannot go from a FIFO to the log by splice, without passing through the memory of this
	// process; nil: splice works.
	SpliceErr error
	// OnChanged, when not nil, is called after a change of a command's status, under no lock.
	OnChanged func(Info)
	// OnProcess, when not nil, is called after the start or end of a shell's process, or a capture of its state,
	// under no lock. It must return soon.
	OnProcess func(ProcessEvent)
	// Logs is the quota of all logs of the server; nil is no bound.
	Logs *output.Quota
	// MakeRoom, when not nil, frees space on a full disk for the files of one command, and reports whether it did.
	MakeRoom func() bool
	// Remote is needed for shells with a Spec.Provider.
	Remote *Remote
	// Identity is the server in the environment of programs, see [pty.Identity].
	Identity map[string]string
	// Frozen is the state of the shell for Recover: see Shell.SetFrozen.
	Frozen bool
}

// ProcessEvent is a change of a shell's process.
type ProcessEvent struct {
	Shell    string // Spec.ID
	Kind     EventKind
	Process  proc.Process // bash
	ExitCode int          // of ProcessEnded; -1 when nobody saw it
}

// EventKind is the kind of a ProcessEvent.
type EventKind int

// The kinds of events.
const (
	ProcessStarted EventKind = iota + 1
	ProcessEnded
	StateCaptured // the state may be another one
)

func (s *Shell) notify(kind EventKind, p proc.Process, code int) {
	if s.config.OnProcess != nil {
		s.config.OnProcess(ProcessEvent{Shell: s.spec.ID, Kind: kind, Process: p, ExitCode: code})
	}
}

// Prefix begins the ids of all programs and files that the keeper holds for shells.
const Prefix = bash.Prefix

// Stats is a shell in lists.
type Stats struct {
	PID          int // of bash; 0 while none runs
	Cwd          string
	State        string // running, ended (it comes back with the next command), deleted
	Busy         bool
	Queued       int
	CreatedAt    time.Time
	LastActivity time.Time
}

// Shell is one persistent bash, with the commands that wait, run and have ended. All methods may be called at the same
// time from several goroutines.
//
// What makes it robust is in its rooms: the process and its launcher in package bash, its control lines in package
// script, how a command is cancelled in package interrupt, what survives its end in package state. The server reads the
// FIFOs of a command, and the keeper holds them too: output is in the FIFO or in the log, never in this process alone.
// Every step can be the last one of this server; see Recover.
//
// One goroutine serves the queue, one command after the other. Nothing blocks under a lock.
type Shell struct {
	config   Config
	spec     Spec
	created  time.Time
	history  *history.Store
	firstEnv []string // environment of the first start, set before the goroutine starts
	watch    *shelldir.Watch
	ctx      context.Context // ends with ErrClosing or ErrDeleted
	cancel   context.CancelCauseFunc
	work     sync.WaitGroup // goroutines that look after commands and the queue
	queue    queue

	submitting sync.Mutex // held over the disk, taken before mu: ids have the order of the queue

	printed atomic.Int64 // bytes, see Printed

	pruning sync.Mutex  // held over the disk, taken before mu
	pausing sync.Mutex  // held over the disk, taken before mu
	clock   clock.Clock // stands still while the shell is frozen

	mu       sync.Mutex // guards what follows; nothing blocks under it
	all      []*Exec
	byID     map[string]*Exec
	proc     *bash.Process   // nil or ended while none runs
	number   int             // of the newest process
	snapshot *state.Snapshot // what the last capture found; nil before the first
	// mayAlias reports that aliases may have been defined since the last capture.
	mayAlias bool
	// uncaptured names the changes that the next bash lacks, because they could not be captured.
	uncaptured []string
	// listOn reports that the user has the option history on; it is off while control lines are read.
	listOn         bool
	pendingRestart restartNotice // of a shell that was started again, for the next command
	// damage names the files that could not be read when this server took the shell over; it never changes.
	damage []string
	// captured is closed after the capture of the newest command in the foreground, or of the start.
	captured chan struct{}
	pruned   int // how many of all were left at the last look for those beyond the history's bounds
	cwd      string
	last     script.Last // how the newest command of the queue ended, for $? in the next one
	// remoteEnv is the state of a remote shell.
	remoteEnv state.Environment
	active    time.Time
	deleted   bool // Delete was called
}

// Start makes a shell in s.Dir, which must be empty, and waits until it runs. Errors: ErrInvalid, ErrBadEnv,
// ErrNoSpace, pty.ErrNoDir, errors of keeper.Client.Run. A failed Start leaves no process; what is in s.Dir is the
// caller's to remove.
func Start(c Config, s Spec) (*Shell, error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("shell: start: %w", err)
	}
	sh, err := prepare(c, s)
	if err != nil {
		return nil, err
	}
	sh.created = time.Now()
	if err := sh.initDir(); err != nil {
		sh.shutDown(ErrEnded)
		return nil, fmt.Errorf("shell: start: %w", shelldir.FileError(err))
	}
	proc, err := sh.launch(sh.ctx, 1, sh.home(), nil, false)
	switch {
	case err != nil:
	case sh.remote():
		sh.proc, sh.active = proc, sh.created
		err = sh.initRemote()
	default:
		sh.proc, sh.active = proc, sh.created
		sh.cwd = sh.spec.Cwd
		sh.cwd = sh.cwdOf(proc)
	}
	if err != nil {
		if proc != nil {
			proc.Kill()
			<-proc.Ended
		}
		sh.shutDown(ErrEnded)
		return nil, err
	}
	captured := make(chan struct{})
	sh.captured = captured
	sh.work.Go(func() {
		sh.capture(proc, nil) // what the profile files did survives an end in the first command
		close(captured)
		sh.serve()
	})
	return sh, nil
}

// prepare makes a Shell without a process.
func prepare(c Config, s Spec) (*Shell, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if s.MaxOutput == 0 {
		s.MaxOutput = history.DefaultMaxOutput
	}
	sh := &Shell{config: c, spec: s, queue: queue{wake: make(chan struct{}, 1)}, byID: map[string]*Exec{}}
	if err := shelldir.Watcher.Acquire(); err != nil {
		return nil, fmt.Errorf("shell: %w", err)
	}
	err := os.MkdirAll(filepath.Join(s.Dir, shelldir.MarkersDir), 0o700)
	if err == nil {
		sh.watch, err = shelldir.Watcher.Add(filepath.Join(s.Dir, shelldir.MarkersDir))
	}
	if err != nil {
		shelldir.Watcher.Release()
		return nil, fmt.Errorf("shell: %w", shelldir.FileError(err))
	}
	sh.ctx, sh.cancel = context.WithCancelCause(context.Background())
	return sh, nil
}

// initDir writes the files of a new shell.
func (s *Shell) initDir() (err error) {
	if err = errors.Join(proctree.NewTag(s.spec.Dir), bash.WriteLauncher(s.spec.Dir)); err != nil {
		return err
	}
	if err = state.WriteScript(s.spec.Dir); err != nil {
		return err
	}
	s.history, _, err = history.Open(s.spec.Dir)
	return err
}

// saveShell writes the record that a later server reads.
func (s *Shell) saveShell() error {
	s.mu.Lock()
	r := &history.Shell{Spec: s.spec, CreatedAt: s.created, Process: s.number, FirstEnv: s.firstEnv}
	s.mu.Unlock()
	return history.SaveShell(s.spec.Dir, r)
}

// shutDown ends the goroutines of the shell in this process.
func (s *Shell) shutDown(cause error) {
	s.mu.Lock() // nobody starts a goroutine under the lock after this
	s.cancel(cause)
	s.mu.Unlock()
	s.work.Wait()
	shelldir.Watcher.Remove(s.watch)
	shelldir.Watcher.Release()
}

// Spec is the shell's specification.
func (s *Shell) Spec() Spec {
	spec := s.spec
	spec.Env = maps.Clone(spec.Env)
	return spec
}

// detached reports whether Detach or Delete was called.
func (s *Shell) detached() bool { return s.ctx.Err() != nil }

// Stats is the shell as it is now.
func (s *Shell) Stats() Stats {
	waiting, _, busy := s.queue.counts()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := Stats{Cwd: s.cwd, State: "running", Busy: busy, Queued: waiting, CreatedAt: s.created,
		LastActivity: s.active}
	if s.proc != nil && !shelldir.Closed(s.proc.Ended) {
		f.PID = s.proc.Proc().PID
	} else {
		f.State = "ended"
	}
	if s.deleted {
		f.State = "deleted"
	}
	return f
}

// Printed is how many bytes the commands have printed in the time of this process: of running commands too, and
// dropped ones.
func (s *Shell) Printed() int64 { return s.printed.Load() }

// State is the state after the last command.
func (s *Shell) State() state.Environment {
	if s.remote() {
		return s.remoteState()
	}
	s.mu.Lock()
	found, cwd, first := s.snapshot, s.cwd, s.firstEnv
	s.mu.Unlock()
	return found.Environment(cwd, first)
}

// Commands returns the newest limit commands (0 is all) before the one with the id before ("" is none), in the order
// of submission.
func (s *Shell) Commands(limit int, before string) []Info {
	s.mu.Lock()
	list := slices.Clone(s.all)
	s.mu.Unlock()
	if at := slices.IndexFunc(list, func(e *Exec) bool { return e.id == before }); at >= 0 {
		list = list[:at]
	}
	if limit > 0 && len(list) > limit {
		list = list[len(list)-limit:]
	}
	infos := make([]Info, len(list))
	for i, e := range list {
		infos[i] = e.Info()
	}
	return infos
}

// Execs returns all commands of the history, in the order of submission.
func (s *Shell) Execs() []*Exec {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// Command finds a command. Errors: ErrNotFound.
func (s *Shell) Command(id string) (*Exec, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byID[id]; e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("shell: command %.80q: %w", id, ErrNotFound)
}

// Detach closes the files of the shell in this process. The shell continues. After it, only methods that read may be
// called.
func (s *Shell) Detach() {
	s.shutDown(ErrClosing)
	s.mu.Lock()
	proc := s.proc
	s.mu.Unlock()
	if proc != nil {
		proc.Close()
	}
}
