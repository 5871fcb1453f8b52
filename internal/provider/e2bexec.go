package provider

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
)

// e2bInput is how many bytes of input go in one call.
const e2bInput = 64 << 10

// e2bStartRequest begins a process; its output is the reply.
type e2bStartRequest struct {
	Process struct {
		Cmd  string            `json:"cmd"`
		Args []string          `json:"args"`
		Envs map[string]string `json:"envs,omitempty"`
		Cwd  string            `json:"cwd,omitempty"`
	} `json:"process"`
	PTY   *e2bSize `json:"pty,omitempty"`
	Tag   string   `json:"tag,omitempty"`
	Stdin bool     `json:"stdin"`
}

type e2bSize struct {
	Size struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	} `json:"size"`
}

func sizeOf(cols, rows int) *e2bSize {
	var s e2bSize
	s.Size.Cols, s.Size.Rows = size(cols), size(rows)
	return &s
}

// e2bProcess names a process: by the number that the daemon gave, or by the tag that we gave.
type e2bProcess struct {
	PID int    `json:"pid,omitempty"`
	Tag string `json:"tag,omitempty"`
}

// e2bEvent is one message about a process; one of its fields is set.
type e2bEvent struct {
	Event struct {
		Start *struct{ PID int }
		Data  *struct{ Stdout, Stderr, PTY []byte }
		End   *e2bEnd
	}
}

type e2bEnd struct {
	ExitCode int
	Exited   bool
	Status   string
	Error    string
}

// code is the exit code as a shell would tell it. A process that a signal ended has its name in the text (Go's os.ProcessState).
func (e e2bEnd) code() int {
	name, signalled := strings.CutPrefix(e.Status, "signal: ")
	if !signalled {
		return e.ExitCode
	}
	name, _, _ = strings.Cut(name, " (")
	return 128 + map[string]int{
		"hangup": 1, "interrupt": 2, "quit": 3, "illegal instruction": 4, "trace/breakpoint trap": 5, "aborted": 6, "bus error": 7,
		"floating point exception": 8, "killed": 9, "user defined signal 1": 10, "segmentation fault": 11, "user defined signal 2": 12, "broken pipe": 13,
		"alarm clock": 14, "terminated": 15,
	}[name]
}

// begin starts a process and waits for its number. An error has ErrNotStarted when the process certainly was not started.
func (e *E2B) begin(ctx context.Context, id string, in e2bStartRequest) (*frames, int, error) {
	for fresh := false; ; fresh = true {
		base, h, err := e.daemon(ctx, id)
		if err != nil {
			return nil, 0, err
		}
		e.extend(ctx, id)
		f, err := e.service.stream(ctx, base+"/process.Process/Start", h, in)
		var pid int
		if err == nil {
			pid, err = started(f)
		}
		if err == nil {
			return f, pid, nil
		}
		if f != nil {
			f.close()
		}
		if errors.Is(err, ErrRefused) && !fresh {
			e.forget(id)
			continue
		}
		if ctx.Err() != nil {
			return nil, 0, err
		}
		return nil, 0, stillThere(explain(ctx, e, id, noGateway(err)))
	}
}

// noGateway: the service's gateway says 502 of a sandbox that it does not have, so nothing began (upstream facts 3.6.1).
func noGateway(err error) error {
	var st *statusError
	if errors.As(err, &st) && st.status == http.StatusBadGateway && !errors.Is(err, ErrNotStarted) {
		return fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	return err
}

// started reads up to the event that says so.
func started(f *frames) (int, error) {
	for {
		var ev e2bEvent
		err := f.next(&ev)
		var said *rpcError
		switch {
		case errors.As(err, &said) && said.refusal():
			return 0, fmt.Errorf("%w: %w", ErrNotStarted, err)
		case errors.Is(err, io.EOF):
			return 0, fmt.Errorf("e2b: %w: no process, and no word why", ErrProvider)
		case err != nil:
			return 0, err
		case ev.Event.Start != nil:
			return ev.Event.Start.PID, nil
		}
	}
}

// Exec runs a command in a login bash; its output comes as it is printed. A connection that breaks meanwhile ends the command, for what it printed then is lost.
func (e *E2B) Exec(ctx context.Context, id string, r ExecRequest, stdout, stderr io.Writer) (ExecResult, error) {
	if strings.ContainsRune(r.Command, 0) {
		return ExecResult{}, fmt.Errorf("%w: e2b: %w: a command has no NUL", ErrNotStarted, ErrProvider)
	}
	x := &e2bRun{e: e, id: id, tag: "evertty-" + rand.Text(), stdout: stdout, stderr: stderr}
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if r.Timeout > 0 {
		waiting, cancel = context.WithTimeout(ctx, r.Timeout)
	}
	defer cancel()
	code, err := x.run(waiting, r)
	switch {
	case ctx.Err() != nil && (err != nil || x.killed.Load()):
		return ExecResult{}, context.Cause(ctx)
	case waiting.Err() != nil && x.killed.Load():
		return ExecResult{ExitCode: -1, TimedOut: true}, nil
	case err != nil:
		return ExecResult{}, err
	}
	return ExecResult{ExitCode: code}, nil
}

// e2bRun is one command on its way.
type e2bRun struct {
	e              *E2B
	id, tag        string
	stdout, stderr io.Writer
	killed         atomic.Bool // by us
	input          sync.WaitGroup
	unfed          error // why the input did not arrive; to be read after input.Wait
}

func (x *e2bRun) run(ctx context.Context, r ExecRequest) (int, error) {
	if slices.ContainsFunc(slices.Collect(maps.Values(r.Env)), notText) {
		script, err := commandScript(ExecRequest{Env: r.Env, Command: r.Command})
		if err != nil {
			return 0, fmt.Errorf("e2b: %w", err)
		}
		r.Command, r.Env = script, nil
	}
	in := e2bStartRequest{Tag: x.tag, Stdin: len(r.Stdin) > 0}
	in.Process.Cmd, in.Process.Args = "/bin/bash", []string{"-l", "-c", r.Command}
	in.Process.Envs, in.Process.Cwd = r.Env, or(r.Cwd, x.e.c.Cwd)
	if len(r.Command) > maxArgument || notText(r.Command) {
		in.Process.Args, r.Stdin, in.Stdin = longCommand, append([]byte(r.Command+"\x00"), r.Stdin...), true
	}
	// The stream outlives ctx by as long as it takes to see what the command said before it was ended.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	early := context.AfterFunc(ctx, end) // before there is a process, there is nothing to end in an orderly way
	f, pid, err := x.e.begin(life, x.id, in)
	if !early() {
		<-life.Done()
	}
	if err != nil {
		if ctx.Err() != nil || !errors.Is(err, ErrNotStarted) {
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
		select { // what is out of reach of kill may go on printing, and the stream with it
		case <-time.After(drainLimit):
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
		if x.unfed = x.feed(life, pid, r.Stdin); x.unfed != nil {
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

// maxArgument is how long a command may be as an argument, in bytes; Linux allows one of 128 KiB. A longer one comes before the input.
const maxArgument = 100 << 10

// notText tells what would be something else in JSON (RFC 8259 section 8.1).
func notText(s string) bool { return !utf8.ValidString(s) }

// longCommand reads the command from the input, up to a NUL, and leaves the rest to it; a command without its end is not run. read takes single bytes of a pipe, so nothing that follows is lost.
var longCommand = []string{"-l", "-c", `IFS= read -r -d '' evertty_command || exit; eval "unset evertty_command
$evertty_command"`}

// follow writes output until the process has ended.
func (x *e2bRun) follow(ctx context.Context, f *frames) (int, error) {
	for {
		var ev e2bEvent
		if err := f.next(&ev); errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("e2b: %w: no word of how the command ended", ErrProvider)
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
				if len(out.p) == 0 {
					continue
				}
				if _, err := out.w.Write(out.p); err != nil {
					return 0, fmt.Errorf("e2b: output: %w", err)
				}
			}
		}
	}
}

// lost says of a stream that has ended what may be known of the sandbox, but never that the command did not start.
func (x *e2bRun) lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, drainLimit)
	defer cancel()
	return explain(ctx, x.e, x.id, err)
}

// feed sends the input and its end. A process that does not read it to the end is none of our business; input that is lost is an error, and then the process gets no end, which
// it would take for that of the input. A piece waits for as long as the process does not read. Errors: ErrUnreachable and others of unary, never ErrNotStarted.
func (x *e2bRun) feed(ctx context.Context, pid int, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	for piece := range slices.Chunk(data, e2bInput) {
		in := map[string]any{"process": e2bProcess{PID: pid}, "input": map[string][]byte{"stdin": piece}}
		err := x.e.unary(ctx, x.id, "process.Process/SendInput", false, untilEnd, in, nil)
		if err != nil && ctx.Err() == nil && !unread(err) {
			return fmt.Errorf("e2b: the input was lost: %w: %s", kindOf(err), err.Error())
		}
		if err != nil {
			break
		}
	}
	err := x.e.unary(ctx, x.id, "process.Process/CloseStdin", true, 0, map[string]any{"process": e2bProcess{PID: pid}}, nil)
	if errors.Is(err, ErrUnreachable) && ctx.Err() == nil {
		return fmt.Errorf("e2b: the end of the input was lost: %w: %s", kindOf(err), err.Error())
	}
	return nil
}

// unread tells whether the daemon says that the process is over or has closed its input. It has no code of its own for the latter: a write that failed is internal.
func unread(err error) bool {
	var st *statusError
	return errors.As(err, &st) && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusInternalServerError}, st.status)
}

// kill ends the command with all that it started. Without a number there is only the tag.
func (x *e2bRun) kill(ctx context.Context, pid int) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	if pid > 0 {
		x.e.endTree(ctx, x.id, pid, false)
	}
	_ = x.e.unary(ctx, x.id, "process.Process/SendSignal", true, 0, map[string]any{"process": e2bProcess{Tag: x.tag}, "signal": "SIGNAL_SIGKILL"}, nil)
}

// treeScript ends a process and its descendants: $1 is its number, $2 the signal that they get first. What is left a second later is killed. The numbers come from
// field 4 of /proc/PID/stat, the parent, behind the name, which may hold anything.
const treeScript = `top=$1; first=$2; declare -A below
for f in /proc/[0-9]*/stat; do { read -r s <"$f"; } 2>/dev/null || continue; p=${f#/proc/}; s=${s##*) }; set -- $s; below[$2]+=" ${p%/stat}"; done
all=(); walk() { local c; all+=("$1"); for c in ${below[$1]}; do walk "$c"; done; }; walk "$top"
kill "-$first" "${all[@]}" 2>/dev/null
if [ "$first" != KILL ]; then for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 "${all[@]}" 2>/dev/null || exit 0; sleep 0.1; done; kill -KILL "${all[@]}" 2>/dev/null; fi
exit 0`

// endTree runs treeScript: hangup is for a terminal's program, which may want to say goodbye. The daemon's own signal reaches one process only.
func (e *E2B) endTree(ctx context.Context, id string, pid int, hangup bool) {
	var in e2bStartRequest
	in.Process.Cmd, in.Process.Args = "/bin/bash", []string{"-c", treeScript, "evertty", fmt.Sprint(pid), map[bool]string{true: "HUP", false: "KILL"}[hangup]}
	f, _, err := e.begin(ctx, id, in)
	if err != nil {
		return
	}
	defer f.close()
	for {
		var ev e2bEvent
		if f.next(&ev) != nil || ev.Event.End != nil {
			return
		}
	}
}

// unary makes a call of the Connect protocol that has one reply.
func (e *E2B) unary(ctx context.Context, id, method string, twice bool, timeout time.Duration, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("e2b: %w", err)
	}
	a, err := e.inside(ctx, id, "/"+method, call{method: http.MethodPost, body: body, kind: "application/json", twice: twice, timeout: timeout})
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return fmt.Errorf("e2b: %w: the reply is not what was agreed", ErrProvider)
	}
	return nil
}
