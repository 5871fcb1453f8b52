// Package interrupt ends a command in the foreground of a bash so that nothing of it runs after
// that.
//
// SIGINT alone does not do it: bash drops its own when the child that it waits for does not die of
// SIGINT, and goes on with the next command; and a child between fork and execve still has bash's
// handler and loses it. So an interrupt goes through these phases:
//
//	stop      bash is stopped, and with it its subshells, which are shells like it
//	collect   the processes of the command are found and stopped, parents first
//	settle    where a shell is between two programs, it goes on until it waits for one, and the phases begin again
//	signal    all of them get SIGINT before the first one can react: in a pipeline one would end by the end of another
//	await     those that a shell waits for end, from the leaves of the tree up, and each shell goes on after its own
//	continue  bash goes on with SIGINT pending and drops everything
//
// bash drops everything only when those it waits for have ended of SIGINT. Has one ended otherwise,
// bash would go on: it must not run again, and the caller kills it.
//
// What ignores SIGINT is a job, or the command is such that only SIGKILL helps. It does not run
// while bash does, so that its end cannot be taken for one of the command's.
package interrupt

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
)

// Target is the command that is to be ended, and the bash that runs it.
type Target struct {
	Bash    proc.Process
	Dir     string          // processes with a standard file in there belong to the command
	Earlier proctree.Starts // children of bash that earlier commands have left behind: they are left alone
	// Marker is a file that is there while bash may be stopped by an interrupt: a later server
	// finishes what this one has begun. Without it a server that is killed would leave a stopped
	// bash. The caller removes it.
	Marker string
	Limit  time.Duration // after which only SIGKILL is left
	Ended  func() bool   // tells whether the command has a status
	// Send gives bash a line that it reads when it is back at its top level; Await waits until it
	// has read the first such line, AwaitAll until it has read all of them.
	Send            func() error
	Await, AwaitAll func(ctx context.Context) error
}

// Errors of an interrupt. Bash is stopped after them, and of no use.
var (
	errIgnored = errors.New("it does not end on SIGINT")
	errGoesOn  = errors.New("it did not end of SIGINT, so that the shell would go on")
	errStopped = errors.New("the shell was stopped by somebody else")
	ErrGone    = errors.New("the shell has ended")
)

// Interrupt sends SIGINT to what a command has started and to bash, until bash is back at its top
// level; ended tells that the command had ended before. A user's INT trap runs as after one press
// of the key, and goes on with the command or not; one that takes longer than trapLimit sees a
// second one. Errors: ctx.Err(), errors of Target, and others after which bash has to be killed;
// what the command started is killed then.
func Interrupt(ctx context.Context, t Target) (ended bool, err error) {
	i, err := prepareInterrupt(ctx, t)
	if err != nil {
		return false, err
	}
	for pause := trapLimit; ; pause *= 2 {
		if err := i.once(); err != nil {
			i.killStopped()
			return false, err
		}
		// SIGINT may hit the very line that reports the status and so take it away. Bash goes
		// through another then.
		if err := t.Send(); err != nil {
			return false, err
		}
		i.continueBash()
		wait, cancel := context.WithTimeout(ctx, min(pause, time.Until(i.deadline)))
		err := t.Await(wait)
		cancel()
		if err == nil {
			err = t.AwaitAll(ctx)
			i.continueIf(func(proc.Process) bool { return true })
			return !i.signalled, err
		}
		if !errors.Is(err, context.DeadlineExceeded) || !time.Now().Before(i.deadline) {
			i.killStopped()
			return false, err
		}
	}
}

// interruption is the state of one Interrupt.
type interruption struct {
	Target
	ctx        context.Context
	deadline   time.Time
	executable string // of bash and its subshells, see executableOf
	takenOver  bool   // an earlier server may have left processes stopped
	signalled  bool   // SIGINT was sent
	ended      bool   // the command has a status
	seen       map[int]observed
	stopped    []proc.Process // the stopped ones beside bash, parents first
}

// observed is the state of a process just before it was stopped.
type observed struct {
	// asleep: it slept, or a server before this one had stopped it there.
	asleep bool
	// async: a fork of bash that ignored SIGINT, as the fork of `builtin &` does for a moment. A
	// shell waits for it only in the builtin wait, which SIGINT ends.
	async bool
	// itself: it had stopped before, and not for an interrupt. It stays stopped until it is sent
	// SIGINT.
	itself bool
	// idle: a shell that waits, and not for a program of the command.
	idle bool
}

// prepareInterrupt looks at bash. Errors: ErrGone, errStopped.
func prepareInterrupt(ctx context.Context, t Target) (*interruption, error) {
	now, ok := proc.Find(t.Bash.PID)
	_, unmarked := os.Lstat(t.Marker)
	switch {
	case !ok || now.Start != t.Bash.Start || now.Ended:
		return nil, ErrGone
	case now.Stopped && unmarked != nil:
		return nil, errStopped
	}
	_ = os.WriteFile(t.Marker, nil, 0o600)
	return &interruption{Target: t, ctx: ctx, deadline: time.Now().Add(t.Limit),
		executable: executableOf(t.Bash.PID), takenOver: unmarked == nil, seen: map[int]observed{}}, nil
}

// once stops bash and ends the processes that it waits for. After it bash is stopped. Errors:
// ErrGone, errIgnored, errGoesOn, ctx.Err().
func (i *interruption) once() error {
	for {
		if !i.stop(i.Bash) {
			return ErrGone
		}
		if i.ended = i.Ended(); i.ended {
			return nil
		}
		list, err := i.collect()
		if err != nil {
			return err
		}
		sh, found := i.unsettled(list)
		if !found {
			return i.signal(list)
		}
		i.continueIf(func(p proc.Process) bool { return !i.seen[p.PID].itself })
		_ = i.Bash.Signal(unix.SIGCONT)
		if err := i.settle(sh); err != nil {
			return err
		}
	}
}

// continueBash lets bash go on, with SIGINT unless the command has ended.
func (i *interruption) continueBash() {
	if !i.ended {
		i.signalled = true
		_ = i.Bash.Signal(unix.SIGINT)
	}
	_ = i.Bash.Signal(unix.SIGCONT)
}

// killStopped ends the stopped processes, for a bash that is about to be killed, unless the server
// leaves it: with the end of bash its process group is an orphan, and the kernel lets the stopped
// processes of such a one go on.
func (i *interruption) killStopped() {
	if i.ctx.Err() != nil {
		return
	}
	_ = i.Bash.Signal(unix.SIGSTOP)
	for _, p := range i.stopped {
		_ = p.Signal(unix.SIGKILL)
	}
}

const (
	// pollInterval is the time between two looks at whether processes have ended.
	pollInterval = 300 * time.Microsecond
	// trapLimit is how long a trap on INT may take before bash is sent SIGINT again; the pauses
	// double then.
	trapLimit = 500 * time.Millisecond
	// shortInterval is pollInterval for a change that is due at once.
	shortInterval = 50 * time.Microsecond
)

// wait waits. Errors: errIgnored when the time is over, ctx.Err().
func (i *interruption) wait(d time.Duration) error {
	if !time.Now().Before(i.deadline) {
		return errIgnored
	}
	select {
	case <-time.After(d):
		return nil
	case <-i.ctx.Done():
		return context.Cause(i.ctx)
	}
}

// late tells that there is no more time to wait for a better moment: SIGINT may be dropped then,
// and is sent again.
func (i *interruption) late() bool { return time.Until(i.deadline) < i.Limit/4 }
