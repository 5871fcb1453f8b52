// Package shell runs commands in one persistent bash: queue, history, output, cancel, state, recovery.
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/clock"
	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/proctree"
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
	// DataDir is hidden from the programs of a sandbox; without symbolic links.
	DataDir string
	// Frozen is the state of the shell for Recover: see Shell.SetFrozen.
	Frozen bool
}

// ProcessEvent is a change of a shell's process.
type ProcessEvent struct {
	Shell    string // Spec.ID
	Kind     EventKind
	Process  proc.Process // bash
	ExitCode int          // of ProcessEnded; -1 when it is unknown
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
	commandList
	queue  queue
	procs  processes
	state  bashState
	remote *remote // nil of a shell on this machine

	config  Config
	spec    Spec
	created time.Time
	damage  []string        // files that could not be read when this server took the shell over; it never changes
	ctx     context.Context // ends with ErrClosing or ErrDeleted
	cancel  context.CancelCauseFunc
	work    sync.WaitGroup // goroutines of the queue and of commands
	printed atomic.Int64   // bytes, see Printed
	clock   clock.Clock    // stands still while the shell is frozen

	submitting sync.Mutex // held over the disk, taken before mu: ids have the order of the queue
	pausing    sync.Mutex // held over the disk, taken before mu

	mu     sync.Mutex // guards active and the start of goroutines; nothing blocks under it
	active time.Time
}

// Start makes a shell in s.Dir, which must be empty, and waits until it runs. Errors: ErrInvalid, ErrBadEnv,
// ErrNoSpace, pty.ErrNoDir, errors of keeper.Client.Run. A failed Start leaves no process; the caller removes
// s.Dir.
func Start(c Config, s Spec) (*Shell, error) {
	if err := s.Check(); err != nil {
		return nil, fmt.Errorf("shell: start: %w", err)
	}
	sh, err := prepare(c, s)
	if err != nil {
		return nil, err
	}
	sh.created = time.Now()
	sh.active = sh.created
	b, err := sh.start()
	if err != nil {
		sh.shutDown(ErrEnded)
		return nil, err
	}
	captured := sh.state.beginCapture()
	sh.work.Go(func() {
		sh.procs.capture(b, nil) // what the profile files did survives an end in the first command
		close(captured)
		sh.serve()
	})
	return sh, nil
}

// start writes the files of a new shell and starts its first process.
func (s *Shell) start() (*bash.Process, error) {
	dir := s.spec.Dir
	err := errors.Join(proctree.NewTag(dir), bash.WriteLauncher(dir), state.WriteScript(dir))
	if err == nil {
		s.history, _, err = history.Open(dir)
	}
	if err == nil && s.remote != nil {
		err = s.remote.init()
	}
	if err != nil {
		return nil, fmt.Errorf("shell: start: %w", shelldir.FileError(err))
	}
	b, err := s.procs.launch(s.procs.home(), nil, false)
	if err != nil {
		return nil, err
	}
	s.procs.current.Store(b)
	if s.remote == nil {
		s.state.setDirectory(s.spec.Cwd)
		s.state.setDirectory(s.procs.cwd(b))
	}
	return b, nil
}

// prepare makes a Shell without a process.
func prepare(c Config, spec Spec) (*Shell, error) {
	spec.MaxOutput = cmp.Or(spec.MaxOutput, history.DefaultMaxOutput)
	s := &Shell{config: c, spec: spec, queue: queue{wake: make(chan struct{}, 1)},
		commandList: commandList{byID: map[string]*Exec{}}}
	s.procs.shell = s
	if spec.Provider != "" {
		s.remote = &remote{Remote: c.Remote, shell: s, file: filepath.Join(spec.Dir, shelldir.RemoteFile)}
	}
	if err := shelldir.Watcher.Acquire(); err != nil {
		return nil, fmt.Errorf("shell: %w", err)
	}
	markers := filepath.Join(spec.Dir, shelldir.MarkersDir)
	err := os.MkdirAll(markers, 0o700)
	if err == nil {
		s.procs.watch, err = shelldir.Watcher.Add(markers, unix.IN_MODIFY)
	}
	if err != nil {
		shelldir.Watcher.Release()
		return nil, fmt.Errorf("shell: %w", shelldir.FileError(err))
	}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s, nil
}

// shutDown ends the goroutines of the shell in this process.
func (s *Shell) shutDown(cause error) {
	s.mu.Lock() // nobody starts a goroutine under the lock after this
	s.cancel(cause)
	s.mu.Unlock()
	s.work.Wait()
	shelldir.Watcher.Remove(s.procs.watch)
	shelldir.Watcher.Release()
}

// Spec is the shell's specification. The caller does not change it.
func (s *Shell) Spec() Spec { return s.spec }

// detached reports whether Detach or Delete was called.
func (s *Shell) detached() bool { return s.ctx.Err() != nil }

// isDeleted reports whether Delete was called.
func (s *Shell) isDeleted() bool { return errors.Is(context.Cause(s.ctx), ErrDeleted) }

// touch notes that the shell is in use.
func (s *Shell) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = time.Now()
}

// Stats is the shell as it is now.
func (s *Shell) Stats() Stats {
	f := Stats{Cwd: s.state.directory(), State: "ended", CreatedAt: s.created}
	f.Queued, _, f.Busy = s.queue.counts()
	if b := s.procs.running(); b != nil {
		f.State, f.PID = "running", b.Proc().PID
	}
	if s.isDeleted() {
		f.State = "deleted"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.LastActivity = s.active
	return f
}

// Printed is how many bytes the commands have printed in the time of this process: of running commands too, and
// dropped ones.
func (s *Shell) Printed() int64 { return s.printed.Load() }

// State is the state after the last command.
func (s *Shell) State() state.Environment {
	if s.remote != nil {
		return s.remote.environment()
	}
	now := s.state.now()
	return now.snapshot.Environment(now.cwd, s.procs.firstEnv)
}

// Damage names the files that could not be read when this server took the shell over; nil when all could.
func (s *Shell) Damage() []string { return slices.Clone(s.damage) }

// Detach closes the files of the shell in this process. The shell continues. After it, only methods that read may be
// called.
func (s *Shell) Detach() {
	s.shutDown(ErrClosing)
	if b := s.procs.current.Load(); b != nil {
		b.Close()
	}
}
