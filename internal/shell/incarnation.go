package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/history"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
)

// launcherScript is the shell's parent.
//
//go:embed launcher.sh
var launcherScript string

// incarnation is one process of a shell, with the launcher that is its parent.
type incarnation struct {
	shell    *Shell
	number   int
	launcher *pty.Child
	barriers atomic.Int64
	code     int           // how bash ended, valid when ended is closed
	ended    chan struct{} // closed when bash and the launcher have ended

	mu      sync.Mutex // guards what follows, which is set once
	bash    pty.Proc   // zero until it is known
	control *os.File   // nil until it is open, and after the end
	unread  string     // what bash was told and had not read when it ended
}

// process is bash, the zero value while it is not known.
func (i *incarnation) process() pty.Proc {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.bash
}

// cwd is the directory of bash. Errors: ErrEnded of no incarnation, the kernel's when bash has ended.
func (i *incarnation) cwd() (string, error) {
	if i == nil {
		return "", ErrEnded
	}
	return i.process().Cwd()
}

// met notes bash and the way to it. Errors: ErrEnded.
func (i *incarnation) met(bash pty.Proc, control *os.File) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.bash = bash
	select {
	case <-i.ended:
		_ = control.Close()
		return ErrEnded
	default:
		i.control = control
		return nil
	}
}

// collect closes the way to bash, which has ended, and keeps what it has not read: a command that is in there has certainly not run.
func (i *incarnation) collect() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.control == nil {
		return
	}
	var rest strings.Builder
	if conn, err := i.control.SyscallConn(); err == nil {
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
	_ = i.control.Close()
	i.control, i.unread = nil, rest.String()
}

// left is what bash had not read when it ended.
func (i *incarnation) left() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.unread
}

// hangUp closes the way to bash.
func (i *incarnation) hangUp() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.control != nil {
		_ = i.control.Close()
	}
}

// id is the launcher's name at the keeper.
func (s *Shell) incarnationID(number int) string {
	return Prefix + s.spec.ID + "." + strconv.Itoa(number)
}

// launch starts the incarnation number with an environment and in a directory, and waits until bash reads its control FIFO. Nothing is left of one that fails.
func (s *Shell) launch(ctx context.Context, number int, dir string, env []string, restore bool) (*incarnation, error) {
	i := &incarnation{shell: s, number: number, ended: make(chan struct{})}
	if err := s.run(i, dir, env); err != nil {
		return nil, err
	}
	go i.watch()
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, errors.New("it takes too long"))
	defer cancel()
	err := i.meet(ctx)
	if err == nil {
		err = i.setUp(ctx, restore)
	}
	if err != nil {
		i.kill()
		<-i.ended
		if errors.Is(err, ErrEnded) && i.process().PID == 0 { // the launcher ends without a shell for nothing else
			err = fmt.Errorf("%w: %w", shelldir.ErrNoFiles, err)
		}
		return nil, fmt.Errorf("shell: start: %w%s", err, s.launcherWords())
	}
	return i, nil
}

// run has the keeper execute the launcher.
func (s *Shell) run(i *incarnation, dir string, env []string) error {
	plan, err := pty.Spec{Argv: []string{"bash", "-p", filepath.Join(s.spec.Dir, shelldir.LauncherFile), s.spec.Dir, strconv.Itoa(i.number)}, Dir: dir}.Plan()
	if err != nil {
		return fmt.Errorf("shell: start: %w", err)
	}
	switch {
	case !s.spec.Login || s.remote():
		plan.Argv = append(plan.Argv, "--noprofile", "--norc")
	case i.number == 1:
		plan.Argv = append(plan.Argv, "--login")
	default:
		plan.Argv = append(plan.Argv, "--noprofile", "--norc") // what the profile files did is in the state
	}
	if i.number > 1 {
		plan.Env = env
	} else if plan.Env, err = history.FirstEnvironment(plan.Env, s.given()); err != nil {
		return err
	}
	if i.number == 1 {
		s.first = slices.Clone(plan.Env)
	}
	s.tag(&plan)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("shell: start: %w", err)
	}
	defer null.Close()
	words, err := os.OpenFile(filepath.Join(s.spec.Dir, shelldir.LauncherLog), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("shell: start: %w", shelldir.FileError(err))
	}
	defer words.Close()
	s.mu.Lock()
	s.number = i.number
	s.mu.Unlock()
	if err := s.saveShell(); err != nil { // before it runs: a later server must not use the number again
		return err
	}
	s.clearSigns()
	program, err := s.config.Keeper.Run(s.incarnationID(i.number), plan, [3]*os.File{null, null, words})
	if err != nil {
		return fmt.Errorf("shell: start: %w", err)
	}
	i.launcher = program.Child
	return nil
}

// tag makes what a plan starts a process of the shell.
func (s *Shell) tag(p *pty.Plan) {
	proctree.Tag(p, s.spec.Dir)
	p.Env = pty.WithIdentity(p.Env, s.config.Identity)
}

// clearSigns removes what earlier incarnations have told, but for the sessions in which something still runs.
func (s *Shell) clearSigns() {
	dir := filepath.Join(s.spec.Dir, shelldir.SignsDir)
	list, _ := os.ReadDir(dir)
	all, err := pty.Procs()
	for _, f := range list {
		session, ok := proctree.SessionOf(f.Name())
		if ok && (err != nil || slices.ContainsFunc(all, func(p pty.Proc) bool { return p.Session == session && !p.Ended })) {
			continue
		}
		_ = os.Remove(filepath.Join(dir, f.Name()))
	}
}

// meet learns bash's process id from the launcher and opens the control FIFO.
func (i *incarnation) meet(ctx context.Context) error {
	pid, err := i.expect(ctx, i.pidPrefix())
	if err != nil {
		return err
	}
	process, ok := pty.FindProc(pid)
	if !ok {
		return ErrEnded
	}
	control, err := i.openControl()
	if err != nil {
		return err
	}
	return i.met(process, control)
}

// openControl opens the control FIFO, for reading too: what bash does not come to read is there after its end.
func (i *incarnation) openControl() (*os.File, error) {
	return shelldir.OpenFIFO(filepath.Join(i.shell.spec.Dir, shelldir.ControlFIFO), unix.O_RDWR)
}

// expect waits for a sign and returns its number. Errors: ErrEnded, the reason of ctx.
func (i *incarnation) expect(ctx context.Context, prefix string) (int, error) {
	dir := filepath.Join(i.shell.spec.Dir, shelldir.SignsDir)
	for {
		if n, ok := shelldir.FindNumber(dir, prefix); ok {
			return n, nil
		}
		select {
		case <-i.shell.signs.Changed:
		case <-i.ended:
			if n, ok := shelldir.FindNumber(dir, prefix); ok {
				return n, nil
			}
			return 0, fmt.Errorf("%w with code %d", ErrEnded, i.code)
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// setUp makes bash ready for commands: no prompts, no history, and the state of its predecessor.
func (i *incarnation) setUp(ctx context.Context, restore bool) error {
	bash := i.shell.bash()
	path := filepath.Join(i.shell.spec.Dir, shelldir.SetupFile)
	if err := os.WriteFile(path, []byte(bash.Setup(restore)), 0o600); err != nil {
		return shelldir.SpaceError(err)
	}
	if err := os.WriteFile(filepath.Join(i.shell.spec.Dir, shelldir.JobsFile), nil, 0o600); err != nil {
		return shelldir.SpaceError(err)
	}
	up := filepath.Join(i.shell.spec.Dir, shelldir.SignsDir, i.upPrefix())
	if err := i.tell(script.SetupLine(path, up)); err != nil {
		return err
	}
	_, err := i.expect(ctx, i.upPrefix())
	shelldir.Seal(filepath.Join(i.shell.spec.Dir, shelldir.SignsDir))
	if err == nil {
		i.shell.moved(MoveBegan, i.process(), 0)
	}
	return err
}

// pidPrefix begins the name of the sign that tells bash's process id, upPrefix that of the one that it is ready. They stay: a later server looks for them.
func (i *incarnation) pidPrefix() string { return shelldir.PidName + strconv.Itoa(i.number) + "." }
func (i *incarnation) upPrefix() string  { return shelldir.UpName + strconv.Itoa(i.number) + "." }

// barrier tells lines and waits until bash has gone through all that it was told so far. Errors: ErrEnded, the reason of ctx.
func (i *incarnation) barrier(ctx context.Context, lines string) error {
	prefix, line := i.barrierLine()
	if err := i.tell(lines + line); err != nil {
		return err
	}
	return i.cross(ctx, prefix)
}

// errImpostor says that a subshell took the shell's place: one that SIGINT hits before it has handlers of its own could go back to the top level it has inherited
// and read control lines there, while the shell waits for it. A precaution, it was not seen.
var errImpostor = errors.New("a subshell reads the shell's control lines")

// cross waits until a barrier was passed, by bash itself. Errors: those of barrier, errImpostor.
func (i *incarnation) cross(ctx context.Context, prefix string) error {
	pid, err := i.expect(ctx, prefix)
	if err != nil {
		return err
	}
	number := strconv.Itoa(pid)
	if pid == 0 {
		number = "" // the user has unset BASHPID
	} else if pid != i.process().PID {
		err = errImpostor
	}
	_ = os.Remove(filepath.Join(i.shell.spec.Dir, shelldir.SignsDir, prefix+number))
	return err
}

// barrierLine is a control line that makes a sign, and how the name of that begins: like no other's, of an earlier server neither.
func (i *incarnation) barrierLine() (prefix, line string) {
	prefix = shelldir.BarrierName + strconv.FormatInt(time.Now().UnixNano(), 36) + "-" + strconv.FormatInt(i.barriers.Add(1), 10) + "."
	bash := i.shell.bash()
	return prefix, bash.Barrier(prefix)
}

// watch is the goroutine of an incarnation: it waits for the end and clears up after it.
func (i *incarnation) watch() {
	exit := i.launcher.Wait()
	i.code = exitCode(exit)
	if errors.Is(context.Cause(i.shell.life), ErrClosing) { // the next server is to hear of it
		close(i.ended)
		return
	}
	i.shell.config.Keeper.Release(i.shell.incarnationID(i.number))
	// A launcher that was killed has not ended bash, nor cleared up.
	if bash := i.process(); bash.PID > 0 && bash.Alive() {
		_ = bash.Signal(unix.SIGKILL)
		_ = bash.Wait(i.shell.life)
	}
	if i.shell.life.Err() == nil { // else bash may be there, and the next server's
		i.collect()
		_ = os.Remove(filepath.Join(i.shell.spec.Dir, shelldir.ControlFIFO)) // which a launcher that was killed has left
	}
	close(i.ended)
	i.hangUp()
	if bash := i.process(); bash.PID > 0 {
		code := i.code
		if exit.Signal != "" || exit.Code < 0 {
			code = -1 // the launcher could not tell
		}
		i.shell.moved(MoveEnded, bash, code)
	}
}

// kill ends bash first, so that no further command of a script runs, and with it the launcher. Before bash is known the launcher alone is there.
func (i *incarnation) kill() {
	if bash := i.process(); bash.PID > 0 {
		_ = bash.Signal(unix.SIGKILL)
	} else {
		i.killLauncher()
	}
}

// awaitEnd waits for the end of an incarnation whose bash has ended or is about to; a launcher that cannot tell of it is ended. It is false when the shell is left.
func (i *incarnation) awaitEnd() bool {
	timer := time.NewTimer(endGrace)
	defer timer.Stop()
	for {
		select {
		case <-i.ended:
			return true
		case <-timer.C:
			i.killLauncher()
		case <-i.shell.life.Done():
			return false
		}
	}
}

// killLauncher ends a launcher that does not react, which then cannot tell how bash ended.
func (i *incarnation) killLauncher() {
	if launcher, ok := pty.FindProc(i.launcher.PID()); ok && !exited(i.launcher) {
		_ = launcher.Signal(unix.SIGKILL)
	}
}

// tell writes control lines, all at once: a server that is killed has written all of them or none.
func (i *incarnation) tell(lines string) error {
	i.mu.Lock()
	control := i.control
	i.mu.Unlock()
	if control == nil {
		return ErrEnded
	}
	_ = control.SetWriteDeadline(time.Now().Add(tellLimit))
	if _, err := control.Write([]byte(lines)); errors.Is(err, os.ErrClosed) {
		return ErrEnded
	} else if err != nil {
		return fmt.Errorf("tell the shell: %w", err)
	}
	return nil
}

// launcherWords is what the launcher complained of, for an error.
func (s *Shell) launcherWords() string {
	text, err := os.ReadFile(filepath.Join(s.spec.Dir, shelldir.LauncherLog))
	if err != nil || len(text) == 0 {
		return ""
	}
	return fmt.Sprintf(": %.500q", strings.TrimSpace(string(text)))
}
