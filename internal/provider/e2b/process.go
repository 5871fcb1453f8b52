package e2b

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/service"
	"github.com/evertty/evertty/internal/provider/wait"
)

// startRequest starts a process; the reply is its output.
type startRequest struct {
	Process struct {
		Cmd  string            `json:"cmd"`
		Args []string          `json:"args"`
		Envs map[string]string `json:"envs,omitempty"`
		Cwd  string            `json:"cwd,omitempty"`
	} `json:"process"`
	PTY   *terminalSize `json:"pty,omitempty"`
	Tag   string        `json:"tag,omitempty"`
	Stdin bool          `json:"stdin"`
}

type terminalSize struct {
	Size struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	} `json:"size"`
}

func sizeOf(cols, rows int) *terminalSize {
	var s terminalSize
	s.Size.Cols, s.Size.Rows = service.TerminalSize(cols), service.TerminalSize(rows)
	return &s
}

// processRef identifies a process: by the daemon's number, or by our tag.
type processRef struct {
	PID int    `json:"pid,omitempty"`
	Tag string `json:"tag,omitempty"`
}

// event is one message about a process; one of its fields is set.
type event struct {
	Event struct {
		Start *struct{ PID int }
		Data  *struct{ Stdout, Stderr, PTY []byte }
		End   *endEvent
	}
}

type endEvent struct {
	ExitCode int
	Exited   bool
	Status   string
	Error    string
}

// code is the exit code as of a shell. The text has the name of a signal that ended the process
// (Go's os.ProcessState).
func (e endEvent) code() int {
	name, signalled := strings.CutPrefix(e.Status, "signal: ")
	if !signalled {
		return e.ExitCode
	}
	name, _, _ = strings.Cut(name, " (")
	return 128 + map[string]int{
		"hangup": 1, "interrupt": 2, "quit": 3, "illegal instruction": 4, "trace/breakpoint trap": 5, "aborted": 6,
		"bus error": 7, "floating point exception": 8, "killed": 9, "user defined signal 1": 10,
		"segmentation fault": 11, "user defined signal 2": 12, "broken pipe": 13, "alarm clock": 14, "terminated": 15,
	}[name]
}

// begin starts a process and waits for its number. An error has ErrNotStarted when the process
// certainly was not started.
func (e *Provider) begin(ctx context.Context, id string, in startRequest) (f *frames, pid int, err error) {
	err = e.inside(ctx, id, func(base string, h http.Header) error {
		e.extend(ctx, id)
		if f, err = openStream(ctx, e.Client, base+"/process.Process/Start", h, in); err != nil {
			return noGateway(err)
		}
		if pid, err = started(f); err != nil {
			f.close()
		}
		return noGateway(err)
	})
	return f, pid, service.InstanceExists(err)
}

// noGateway adds ErrNotStarted to a 502: the service's gateway sends it for a sandbox that does not
// exist.
func noGateway(err error) error {
	var st *service.StatusError
	if errors.As(err, &st) && st.Status == http.StatusBadGateway && !errors.Is(err, provider.ErrNotStarted) {
		return fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
	}
	return err
}

// started reads up to the event of the start.
func started(f *frames) (int, error) {
	for {
		var ev event
		err := f.next(&ev)
		var said *rpcError
		switch {
		case errors.As(err, &said) && said.refusal():
			return 0, fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
		case errors.Is(err, io.EOF):
			return 0, fmt.Errorf("e2b: %w: no process, and no word why", provider.ErrProvider)
		case err != nil:
			return 0, err
		case ev.Event.Start != nil:
			return ev.Event.Start.PID, nil
		}
	}
}

// treeScript kills a process and its descendants: $1 is its id, $2 their first signal. A second
// later it kills the rest. The parent is field 4 of /proc/PID/stat, after the name, which may have
// any character.
const treeScript = `top=$1; first=$2; declare -A below
for f in /proc/[0-9]*/stat; do { read -r s <"$f"; } 2>/dev/null ||
	continue; p=${f#/proc/}; s=${s##*) }; set -- $s; below[$2]+=" ${p%/stat}"; done
all=(); walk() { local c; all+=("$1"); for c in ${below[$1]}; do walk "$c"; done; }; walk "$top"
kill "-$first" "${all[@]}" 2>/dev/null
if [ "$first" != KILL ]; then for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 "${all[@]}" 2>/dev/null ||
	exit 0; sleep 0.1; done; kill -KILL "${all[@]}" 2>/dev/null; fi
exit 0`

// newTag is a tag for a process that must be ended also when its number never arrives.
func newTag() string { return "evertty-" + rand.Text() }

// A process whose start was not heard is looked for by its tag unheardTries times, unheardPause
// apart: the daemon knows it a moment after it has begun.
const (
	unheardTries = 5
	unheardPause = 100 * time.Millisecond
)

// killUnheard kills the process with a tag whose start was not heard, if there is one.
func (e *Provider) killUnheard(ctx context.Context, id, tag string) {
	for range unheardTries {
		answer, refused := errors.AsType[*service.StatusError](e.killTagged(ctx, id, tag))
		if !refused || answer.Status != http.StatusNotFound || !wait.Sleep(ctx, unheardPause) {
			return
		}
	}
}

// killTagged kills the process with a tag. Errors: as unary; there may be no process.
func (e *Provider) killTagged(ctx context.Context, id, tag string) error {
	return e.unary(ctx, id, "process.Process/SendSignal", true, 0,
		map[string]any{"process": processRef{Tag: tag}, "signal": "SIGNAL_SIGKILL"}, nil)
}

// endTree runs treeScript: first is HUP for a terminal's program, which may have to clean up, else
// KILL. The daemon's own signal reaches one process only.
func (e *Provider) endTree(ctx context.Context, id string, pid int, first string) {
	var in startRequest
	in.Process.Cmd, in.Process.Args = "/bin/bash", []string{"-c", treeScript, "evertty", fmt.Sprint(pid), first}
	f, _, err := e.begin(ctx, id, in)
	if err != nil {
		return
	}
	defer f.close()
	for {
		var ev event
		if f.next(&ev) != nil || ev.Event.End != nil {
			return
		}
	}
}
