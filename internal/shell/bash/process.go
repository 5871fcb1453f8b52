// Package bash is the process of an exec shell: a bash that reads control lines from a FIFO, and
// its launcher.
//
// It is `bash -i` without a terminal: interactive, because an interactive bash returns to its top
// level where another one ends: at a signal, under set -u, at ${x:?}. Its parent is a launcher
// (launcher.sh), a child of the keeper: it removes the files of a killed predecessor, makes the
// FIFO or fails, has the traps that remove FIFOs on EXIT, HUP, INT and TERM, and waits for the
// process of bash alone. So traps, jobs and wait in bash are the user's.
package bash

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
)

// launcherScript is the script of bash's parent.
//
//go:embed launcher.sh
var launcherScript string

// Errors of a process.
var (
	ErrEnded   = errors.New("the shell has ended and is not back")
	ErrClosing = errors.New("the server is shutting down")
)

const (
	// startLimit bounds the start of a bash: profile files may do a lot.
	startLimit = 30 * time.Second
	// endGrace is how long a launcher may take to report the end of its bash before it is killed
	// too: it may be stopped.
	endGrace = time.Second
	// sendLimit is how long a control line may wait for room. There is always room unless bash has
	// not read for a long time.
	sendLimit = 5 * time.Second
	// killedCode is of a process whose end was not reported, as after SIGKILL.
	killedCode = 137
)

// Config is shared by all processes of a shell.
type Config struct {
	ID      string // of the shell; the keeper knows its processes as Prefix+ID+"."+number
	Dir     string // of the shell
	Keeper  *keeper.Client
	Log     *slog.Logger
	Markers *shelldir.Watch
	// Ctx ends with ErrClosing when this server shuts down and the shell continues, and with
	// another reason when the shell is deleted.
	Ctx context.Context
	// Script returns the state of the bash, for its control lines.
	Script func() script.Bash
	// OnReady is called when a new bash is ready for commands, OnExit after the end of a bash, both
	// under no lock; code is -1 when it is unknown.
	OnReady func(bash proc.Process)
	OnExit  func(bash proc.Process, code int)
}

// Prefix begins the ids of all programs and files that the keeper holds for shells.
const Prefix = "shell."

// Process is one process of a shell: a bash without a terminal and without prompts, which reads
// control lines from a FIFO, and the launcher that is its parent. A shell has one after the other.
// All methods may be called at the same time from several goroutines.
type Process struct {
	Config
	Number   int           // from 1
	Code     int           // how bash ended, valid when Ended is closed
	Ended    chan struct{} // closed when bash and the launcher have ended
	launcher *pty.Child
	barriers atomic.Int64
	inStep   atomic.Bool // bash has read every line of this server and of earlier ones, up to the last barrier

	mu      sync.Mutex   // guards what follows, which is set once
	bash    proc.Process // zero until it is known
	control *os.File     // nil until it is open, and after the end
	unread  string       // the control lines that bash had not read when it ended
}

func (p *Process) holdID() string { return Prefix + p.ID + "." + strconv.Itoa(p.Number) }

// Launcher is the process id of the launcher.
func (p *Process) Launcher() int { return p.launcher.PID() }

// End ends the launcher, bash and their descendants, with SIGHUP first.
func (p *Process) End(ctx context.Context) error { return p.launcher.Kill(ctx, nil) }

// Proc is the process of bash, the zero value while it is unknown.
func (p *Process) Proc() proc.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bash
}

// Cwd is the directory of bash. Errors: ErrEnded of a nil Process, the kernel's when bash has
// ended.
func (p *Process) Cwd() (string, error) {
	if p == nil {
		return "", ErrEnded
	}
	return p.Proc().Cwd()
}

// connected notes the process of bash and its control FIFO. Errors: ErrEnded.
func (p *Process) connected(bash proc.Process, control *os.File) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bash = bash
	select {
	case <-p.Ended:
		_ = control.Close()
		return ErrEnded
	default:
		p.control = control
		return nil
	}
}

// collect closes the control FIFO of a bash that has ended, and keeps what it has not read:
// commands in there have certainly not run.
func (p *Process) collect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control == nil {
		return
	}
	var rest strings.Builder
	if conn, err := p.control.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) {
			for b := make([]byte, 4096); ; {
				n, err := unix.Read(int(fd), b)
				if err == unix.EINTR {
					continue
				}
				if n <= 0 || err != nil {
					return
				}
				rest.Write(b[:n])
			}
		})
	}
	_ = p.control.Close()
	p.control, p.unread = nil, rest.String()
}

// Unread is the control lines that bash had not read when it ended.
func (p *Process) Unread() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unread
}

// Close closes the control FIFO.
func (p *Process) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.control != nil {
		_ = p.control.Close()
	}
}

// Start starts a process of a shell, whose number no other of it has, by a plan for bash without
// the script of the launcher, and waits until bash reads its control FIFO. With restore it gets the
// state of its predecessor. Nothing is left of one that fails. Errors: ErrEnded,
// shelldir.ErrNoFiles, shelldir.ErrNoSpace, ctx.Err().
func Start(ctx context.Context, c Config, number int, plan proc.Plan, restore bool) (*Process, error) {
	p := newProcess(c, number)
	if err := p.execute(plan); err != nil {
		return nil, fmt.Errorf("shell: start: %w", err)
	}
	go p.watch()
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, errors.New("it takes too long"))
	defer cancel()
	err := p.connect(ctx)
	if err == nil {
		err = p.setUp(ctx, restore)
	}
	if err == nil {
		return p, nil
	}
	p.Kill()
	<-p.Ended
	if errors.Is(err, ErrEnded) && p.Proc().PID == 0 { // the launcher ends without a shell for nothing else
		err = fmt.Errorf("%w: %w", shelldir.ErrNoFiles, err)
	}
	return nil, fmt.Errorf("shell: start: %w%s", err, p.launcherWords())
}

// Arguments are the arguments of the plan for [Start].
func Arguments(dir string, number int) []string {
	return []string{"bash", "-p", filepath.Join(dir, shelldir.LauncherFile), dir, strconv.Itoa(number)}
}

// WriteLauncher writes the script of the launcher into the directory of a shell.
func WriteLauncher(dir string) error {
	return os.WriteFile(filepath.Join(dir, shelldir.LauncherFile), []byte(launcherScript), 0o600)
}

func newProcess(c Config, number int) *Process {
	return &Process{Config: c, Number: number, Ended: make(chan struct{})}
}

// execute has the keeper start the launcher.
func (p *Process) execute(plan proc.Plan) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	log := filepath.Join(p.Dir, shelldir.LauncherLog)
	words, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return shelldir.FileError(err)
	}
	defer words.Close()
	clearMarkers(p.Dir)
	program, err := p.Keeper.Run(p.holdID(), plan, [3]*os.File{null, null, words})
	if err != nil {
		return err
	}
	p.launcher = program.Child
	return nil
}

// Recover takes over a process that the keeper has held; nil when it has held none: then it kills a
// launcher and a bash that are left, and also a bash that was not ready yet. frozen says that the
// processes of the shell are stopped from outside.
func Recover(c Config, number int, held *keeper.Program, frozen bool) *Process {
	p := newProcess(c, number)
	markers := filepath.Join(p.Dir, shelldir.MarkersDir)
	pid, known := shelldir.FindNumber(markers, p.pidPrefix())
	bash, there := proc.Find(pid)
	if held == nil || held.Child == nil {
		// A launcher is ended before its bash: at that one's end it would remove the FIFOs of
		// commands, which may be those of the next process by then.
		p.killUnheld(shelldir.SessionName + strconv.Itoa(number) + ".")
		p.killUnheld(p.pidPrefix())
		shelldir.RemoveAllFIFOs(p.Dir) // what runs of its commands has them open
		return nil
	}
	p.launcher = held.Child
	_, ready := shelldir.FindNumber(markers, p.upPrefix())
	// One whose launcher was killed has another parent by now. It is ended as soon as the
	// launcher's end is noticed.
	if there && !bash.Ended && (bash.Parent == p.launcher.PID() || proctree.Tagged(p.Dir, pid)) {
		p.bash = bash
		control, err := p.openControl()
		if p.control = control; err != nil {
			p.Log.Warn("the way to a shell is gone, it is ended", "shell", p.ID, "error", err)
			ready = false
		}
	}
	switch {
	case p.bash.PID == 0 && known: // bash has ended, and the launcher is about to tell how
		if !frozen { // else it is stopped, and tells after the pause
			time.AfterFunc(endGrace, p.KillLauncher)
		}
	case p.bash.PID == 0 || !ready:
		p.Kill()
	}
	go p.watch() // until the end of the connection to the keeper
	return p
}

// killUnheld kills the process that a marker names, if it is the shell's, and waits for its end.
func (p *Process) killUnheld(marker string) {
	pid, known := shelldir.FindNumber(filepath.Join(p.Dir, shelldir.MarkersDir), marker)
	found, there := proc.Find(pid)
	if !known || !there || !proctree.Tagged(p.Dir, pid) {
		return
	}
	_ = found.Signal(unix.SIGKILL)
	ctx, cancel := context.WithTimeout(p.Ctx, endGrace)
	defer cancel()
	_ = found.Wait(ctx)
}

// clearMarkers removes the markers of earlier processes, except for sessions in which something
// still runs.
func clearMarkers(shell string) {
	dir := filepath.Join(shell, shelldir.MarkersDir)
	list, _ := os.ReadDir(dir)
	all, err := proc.List()
	for _, f := range list {
		session, ok := proctree.SessionOf(f.Name())
		runs := func(p proc.Process) bool { return p.Session == session && !p.Ended }
		if !ok || err == nil && !slices.ContainsFunc(all, runs) {
			_ = os.Remove(filepath.Join(dir, f.Name()))
		}
	}
}

// connect gets the process id of bash from the launcher and opens the control FIFO.
func (p *Process) connect(ctx context.Context) error {
	pid, err := p.expect(ctx, p.pidPrefix())
	if err != nil {
		return err
	}
	process, ok := proc.Find(pid)
	if !ok {
		return ErrEnded
	}
	control, err := p.openControl()
	if err != nil {
		return err
	}
	return p.connected(process, control)
}

// openControl opens the control FIFO, for reading too: what bash does not read is there after its
// end.
func (p *Process) openControl() (*os.File, error) {
	return shelldir.OpenFIFO(filepath.Join(p.Dir, shelldir.ControlFIFO), unix.O_RDWR)
}

// expect waits for a marker and returns its number. Errors: ErrEnded, ctx.Err().
func (p *Process) expect(ctx context.Context, prefix string) (int, error) {
	dir := filepath.Join(p.Dir, shelldir.MarkersDir)
	for {
		ended := shelldir.Closed(p.Ended)
		if n, ok := shelldir.FindNumber(dir, prefix); ok {
			return n, nil
		}
		if ended {
			return 0, fmt.Errorf("%w with code %d", ErrEnded, p.Code)
		}
		select {
		case <-p.Markers.Changed:
		case <-p.Ended:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// setUp makes bash ready for commands: without prompts and history, with the state of its
// predecessor.
func (p *Process) setUp(ctx context.Context, restore bool) error {
	bash := p.Script()
	path := filepath.Join(p.Dir, shelldir.SetupFile)
	if err := errors.Join(os.WriteFile(path, []byte(bash.Setup(restore)), 0o600),
		os.WriteFile(filepath.Join(p.Dir, shelldir.JobsFile), nil, 0o600)); err != nil {
		return shelldir.SpaceError(err)
	}
	up := filepath.Join(p.Dir, shelldir.MarkersDir, p.upPrefix())
	if err := p.Send(bash.SetupLine(path, up)); err != nil {
		return err
	}
	_, err := p.expect(ctx, p.upPrefix())
	shelldir.MakePrivate(filepath.Join(p.Dir, shelldir.MarkersDir))
	if err == nil {
		p.OnReady(p.Proc())
	}
	return err
}

// pidPrefix begins the name of the marker with bash's process id, upPrefix the one that bash is
// ready. They stay, for a later server.
func (p *Process) pidPrefix() string { return shelldir.PidName + strconv.Itoa(p.Number) + "." }
func (p *Process) upPrefix() string  { return shelldir.UpName + strconv.Itoa(p.Number) + "." }

// Barrier sends lines and waits until bash has read all lines up to them. One goroutine at a time
// calls it. Errors: ErrEnded, ctx.Err().
func (p *Process) Barrier(ctx context.Context, lines string) error {
	prefix, line := p.BarrierLine()
	// The same marker can serve again only while no other line that makes it can be on its way.
	if p.inStep.Swap(false) && shelldir.MarkUnused(p.againMarker()) == nil {
		prefix, line = shelldir.AgainName, p.again()
	}
	if err := p.Send(lines + line); err != nil {
		return err
	}
	err := p.AwaitBarrier(ctx, prefix)
	p.inStep.Store(err == nil)
	return err
}

// againMarker is the marker that barriers of this bash make again and again.
func (p *Process) againMarker() string {
	return filepath.Join(p.Dir, shelldir.MarkersDir, shelldir.AgainName+strconv.Itoa(p.Proc().PID))
}

func (p *Process) again() string {
	bash := p.Script()
	return bash.Barrier(shelldir.AgainName)
}

// errSubshellReads is of a subshell that reads control lines: SIGINT before it has handlers of its
// own might have it return to the top level that it has inherited, while the shell waits for it. A
// precaution: it was never seen.
var errSubshellReads = errors.New("a subshell reads the shell's control lines")

// AwaitBarrier waits until bash itself has passed a barrier. Errors: as Barrier, errSubshellReads.
func (p *Process) AwaitBarrier(ctx context.Context, prefix string) error {
	pid, err := p.expect(ctx, prefix)
	if err != nil {
		return err
	}
	number := strconv.Itoa(pid)
	if pid == 0 {
		number = "" // the user has unset BASHPID
	} else if pid != p.Proc().PID {
		err = errSubshellReads
	}
	if mark := filepath.Join(p.Dir, shelldir.MarkersDir, prefix+number); mark != p.againMarker() {
		_ = os.Remove(mark)
	}
	return err
}

// BarrierLine is a control line that makes a marker, and the prefix of its name, which is unique
// over restarts of the server.
func (p *Process) BarrierLine() (prefix, line string) {
	prefix = shelldir.BarrierName + strconv.FormatInt(time.Now().UnixNano(), 36) + "-" +
		strconv.FormatInt(p.barriers.Add(1), 10) + "."
	bash := p.Script()
	return prefix, bash.Barrier(prefix)
}

// watch is the goroutine of a process: it waits for the end and removes its files.
func (p *Process) watch() {
	exit := p.launcher.Wait()
	p.Code = ExitCode(exit)
	if errors.Is(context.Cause(p.Ctx), ErrClosing) { // the next server is to hear of it
		close(p.Ended)
		return
	}
	p.Keeper.Release(p.holdID())
	// A launcher that was killed has not ended bash, nor cleared up.
	if bash := p.Proc(); bash.PID > 0 && bash.Alive() {
		_ = bash.Signal(unix.SIGKILL)
		_ = bash.Wait(p.Ctx)
	}
	if p.Ctx.Err() == nil { // else bash may be there, and the next server's
		p.collect()
		_ = os.Remove(filepath.Join(p.Dir, shelldir.ControlFIFO)) // which a launcher that was killed has left
	}
	close(p.Ended)
	if p.Ctx.Err() == nil {
		shelldir.RemoveFIFOs(p.Dir) // that no further command takes
	}
	p.Close()
	if bash := p.Proc(); bash.PID > 0 {
		code := p.Code
		if exit.Signal != "" || exit.Code < 0 {
			code = -1 // the launcher could not tell
		}
		p.OnExit(bash, code)
	}
}

// Kill kills bash, so that no further command of a script runs; the launcher ends with it. It kills
// the launcher while bash is unknown.
func (p *Process) Kill() {
	if bash := p.Proc(); bash.PID > 0 {
		_ = bash.Signal(unix.SIGKILL)
	} else {
		p.KillLauncher()
	}
}

// AwaitEnd waits for the end of a process whose bash has ended or is about to. It kills a launcher
// that does not report that. It is false when the shell is detached.
func (p *Process) AwaitEnd() bool {
	late := time.After(endGrace)
	for {
		select {
		case <-p.Ended:
			return true
		case <-late:
			p.KillLauncher()
		case <-p.Ctx.Done():
			return false
		}
	}
}

// KillLauncher kills a launcher that does not react. The exit code of bash is unknown then.
func (p *Process) KillLauncher() {
	if launcher, ok := proc.Find(p.launcher.PID()); ok && !Exited(p.launcher) {
		_ = launcher.Signal(unix.SIGKILL)
	}
}

// Send writes control lines, all at once: a server that is killed has written all of them or none.
func (p *Process) Send(lines string) error {
	p.mu.Lock()
	control := p.control
	p.mu.Unlock()
	if control == nil {
		return ErrEnded
	}
	_ = control.SetWriteDeadline(time.Now().Add(sendLimit))
	if _, err := control.Write([]byte(lines)); errors.Is(err, os.ErrClosed) {
		return ErrEnded
	} else if err != nil {
		return fmt.Errorf("tell the shell: %w", err)
	}
	return nil
}

// launcherWords is the output of the launcher, for an error.
func (p *Process) launcherWords() string {
	text, err := os.ReadFile(filepath.Join(p.Dir, shelldir.LauncherLog))
	if err != nil || len(text) == 0 {
		return ""
	}
	return fmt.Sprintf(": %.500q", strings.TrimSpace(string(text)))
}
