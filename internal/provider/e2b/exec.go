package e2b

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
	"github.com/evertty/evertty/internal/provider/service"
	"github.com/evertty/evertty/internal/provider/wait"
)

// maxStdin is how many bytes of input go in one call.
const maxStdin = 64 << 10

// Exec runs a command in a login bash, whose output comes as it is printed. A lost connection ends
// the command, because its later output is lost.
func (e *Provider) Exec(ctx context.Context, id string, r provider.ExecRequest, stdout,
	stderr io.Writer) (provider.ExecResult, error) {
	if strings.ContainsRune(r.Command, 0) {
		return provider.ExecResult{},
			fmt.Errorf("%w: e2b: %w: a command has no NUL", provider.ErrNotStarted, provider.ErrProvider)
	}
	a, end := bash.NewAttempt(ctx, r.Timeout, stdout, stderr)
	defer end()
	x := &execution{e: e, id: id, tag: newTag(), stdout: a.Stdout, stderr: a.Stderr}
	code, err := x.run(a, r)
	switch {
	case a.Err() != nil && x.killed.Load():
		return a.Interrupted("e2b")
	case err != nil:
		return provider.ExecResult{}, err
	}
	return provider.ExecResult{ExitCode: code}, nil
}

// execution is one command.
type execution struct {
	e              *Provider
	id, tag        string
	stdout, stderr io.Writer
	killed         atomic.Bool // by us
	input          sync.WaitGroup
	unfed          error // why the input did not arrive; to be read after input.Wait
}

// request is the start of the command, and all of its input.
func (x *execution) request(r provider.ExecRequest) (in startRequest, stdin []byte, err error) {
	if slices.ContainsFunc(slices.Collect(maps.Values(r.Env)), notText) {
		r.Command, err = bash.Script(provider.ExecRequest{Env: r.Env, Command: r.Command})
		if err != nil {
			return in, nil, fmt.Errorf("e2b: %w", err)
		}
		r.Env = nil
	}
	in.Tag = x.tag
	in.Process.Cmd, in.Process.Args = "/bin/bash", []string{"-l", "-c", r.Command}
	in.Process.Envs, in.Process.Cwd = r.Env, cmp.Or(r.Cwd, x.e.c.Cwd)
	if stdin = r.Stdin; len(r.Command) > maxArgument || notText(r.Command) {
		in.Process.Args, stdin = longCommand, append([]byte(r.Command+"\x00"), stdin...)
	}
	in.Stdin = len(stdin) > 0
	return in, stdin, nil
}

func (x *execution) run(ctx context.Context, r provider.ExecRequest) (int, error) {
	in, stdin, err := x.request(r)
	if err != nil {
		return 0, err
	}
	// The stream outlives ctx by as long as it takes to see what the command said before it was
	// ended.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	early := context.AfterFunc(ctx, end) // before there is a process, there is nothing to end in an orderly way
	f, pid, err := x.e.begin(life, x.id, in)
	if !early() {
		<-life.Done()
	}
	if err != nil {
		if ctx.Err() != nil || !errors.Is(err, provider.ErrNotStarted) {
			x.killed.Store(true)
			x.kill(ctx, 0)
		}
		return 0, err
	}
	defer f.close()
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(over)
		x.killed.Store(true)
		x.kill(ctx, pid)
		select { // processes out of reach of kill may go on printing
		case <-time.After(x.e.killWait):
			end()
		case <-life.Done():
		}
	})
	defer func() {
		if !stop() {
			<-over
		}
	}()
	x.input.Go(func() {
		if x.unfed = x.feed(life, pid, stdin); x.unfed != nil {
			end() // before it is killed, so that a code that was heard is the command's own
		}
	})
	code, err := x.follow(life, f)
	end()
	x.input.Wait()
	if err != nil && !x.killed.Load() {
		x.kill(ctx, pid)
		if x.unfed != nil {
			err = x.unfed
		}
	}
	return code, err
}

// maxArgument bounds a command in an argument, in bytes; Linux allows one of 128 KiB. A longer one
// is sent before the input.
const maxArgument = 100 << 10

// notText reports whether JSON would change a string (RFC 8259 section 8.1).
func notText(s string) bool { return !utf8.ValidString(s) }

// longCommand reads the command from the input, up to a NUL, and leaves it the rest; an incomplete
// command does not run. read takes single bytes of a pipe, so it takes nothing of the rest.
var longCommand = []string{"-l", "-c", `IFS= read -r -d '' evertty_command || exit; eval "unset evertty_command
$evertty_command"`}

// follow writes output until the process has ended.
func (x *execution) follow(ctx context.Context, f *frames) (int, error) {
	for {
		var ev event
		if err := f.next(&ev); errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("e2b: %w: no word of how the command ended", provider.ErrProvider)
		} else if err != nil {
			return 0, x.lost(ctx, err)
		}
		x.e.extend(ctx, x.id)
		switch {
		case ev.Event.End != nil:
			return ev.Event.End.code(), nil
		case ev.Event.Data != nil:
			for _, out := range []struct {
				w io.Writer
				p []byte
			}{{x.stdout, ev.Event.Data.Stdout}, {x.stderr, ev.Event.Data.Stderr}} {
				if len(out.p) > 0 {
					_, _ = out.w.Write(out.p) // a failure ends ctx
				}
			}
		}
	}
}

// lost adds the sandbox's state to the error of a stream that has ended, never ErrNotStarted.
func (x *execution) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wait.CleanupTimeout)
	defer cancel()
	return service.Explain(ctx, x.e, x.id, err)
}

// feed sends the input and its end. A process need not read all of it. Lost input is an error, and
// then no end is sent, which the process would take for the end of its input. A piece waits as long
// as the process does not read. Errors: ErrUnreachable and others of unary, never ErrNotStarted.
func (x *execution) feed(ctx context.Context, pid int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	for piece := range slices.Chunk(data, maxStdin) {
		in := map[string]any{"process": processRef{PID: pid}, "input": map[string][]byte{"stdin": piece}}
		err := x.e.unary(ctx, x.id, "process.Process/SendInput", false, service.UntilEnd, in, nil)
		if err != nil && ctx.Err() == nil && !unread(err) {
			return fmt.Errorf("e2b: the input was lost: %w: %s", bash.KindOf(err), err.Error())
		}
		if err != nil {
			break
		}
	}
	err := x.e.unary(ctx, x.id, "process.Process/CloseStdin", true, 0, map[string]any{"process": processRef{PID: pid}},
		nil)
	if errors.Is(err, provider.ErrUnreachable) && ctx.Err() == nil {
		return fmt.Errorf("e2b: the end of the input was lost: %w: %s", bash.KindOf(err), err.Error())
	}
	return nil
}

// unread reports whether the process has ended or has closed its input. The daemon has no code for
// the latter: a failed write is internal.
func unread(err error) bool {
	var st *service.StatusError
	return errors.As(err, &st) && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound,
		http.StatusInternalServerError}, st.Status)
}

// kill kills the command with its descendants. Without a process id it only has the tag.
func (x *execution) kill(ctx context.Context, pid int) {
	ctx, cancel := wait.CleanupContext(ctx)
	defer cancel()
	if pid == 0 {
		x.e.killUnheard(ctx, x.id, x.tag)
		return
	}
	x.e.endTree(ctx, x.id, pid, "KILL")
	_ = x.e.killTagged(ctx, x.id, x.tag)
}
