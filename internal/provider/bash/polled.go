package bash

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/wait"
)

// Bounds of a polled command.
const (
	// partSize is how many bytes of a command, its input or a file one call carries. Twice in
	// base64 they stay below the 128 KiB that Linux allows one argument.
	partSize = 48 << 10
	// runAttempts is how often a call is made whose reply lacks the mark: some services reply with
	// a text of their own under load.
	runAttempts = 3
	// markPause is the pause before the second of them, then doubled.
	markPause = 100 * time.Millisecond
	// CallSlack is how much longer than its script waits a call may take.
	CallSlack = 20 * time.Second
)

// Polled runs commands where a service only has calls that run a line within a limit of time and
// return text: no bytes, no stream, no input.
//
// The command runs in the background, with its input and output in files. Each call fetches new
// output, in base64. All calls of a command are one script, which starts the command unless a call
// before has (mkdir is the lock). So a call whose reply is lost is repeated: the command still runs
// once, and every byte of output comes once. The instance needs bash, base64 and coreutils.
type Polled struct {
	Provider string // its name, for errors
	// Run has bash on the instance run a script, perhaps more than once, and returns what it
	// printed.
	Run      func(ctx context.Context, id, script string, timeout time.Duration) (string, error)
	Wait     time.Duration // for output, in one call
	Piece    int           // bytes of one stream in one reply
	Prologue string        // a script that runs before every command
	Cwd      string        // of commands that name none
}

// errNoMark is of a reply that the script did not print.
var errNoMark = errors.New("the reply is not from the script")

// run is one command.
type run struct {
	w        Polled
	instance string
	mark     string // also the name of its directory
	out, err int64  // bytes that were written to the caller
	started  bool   // a reply has said so
}

// Exec is Exec of provider.Access.
func (w Polled) Exec(ctx context.Context, id string, r provider.ExecRequest, stdout, stderr io.Writer,
) (provider.ExecResult, error) {
	r.Cwd = cmp.Or(r.Cwd, w.Cwd)
	launch, err := polledScript(r, w.Prologue)
	if err != nil {
		return provider.ExecResult{}, err
	}
	c := &run{w: w, instance: id, mark: "evertty-" + rand.Text()}
	waiting, cancel := wait.WithTimeout(ctx, r.Timeout)
	defer cancel()
	begin, err := c.upload(waiting, map[string][]byte{"run": []byte(launch), "cmd": []byte(r.Command + "\n"),
		"in": r.Stdin})
	if err != nil {
		// No call has started the command yet.
		late, cancel := wait.CleanupContext(ctx)
		defer cancel()
		c.send(late, c.remove())
		return provider.ExecResult{}, fmt.Errorf("%w: %w", provider.ErrNotStarted, err)
	}
	code, err := c.follow(waiting, begin, stdout, stderr)
	if err == nil {
		c.send(ctx, c.remove())
		return provider.ExecResult{ExitCode: code}, nil
	}
	return c.interrupted(ctx, waiting, err, stdout, stderr)
}

// interrupted ends a command that its caller no longer waits for.
func (c *run) interrupted(ctx, waiting context.Context, err error, stdout, stderr io.Writer,
) (provider.ExecResult, error) {
	if errors.Is(err, provider.ErrNotStarted) {
		return provider.ExecResult{}, err
	}
	late, cancel := wait.CleanupContext(ctx)
	defer cancel()
	timedOut, rest := ctx.Err() == nil && waiting.Err() != nil, c.remove()
	if !c.started {
		rest = c.empty()
	}
	if timedOut {
		// The caller gets the output up to now.
		_, err = c.follow(late, c.kill(), stdout, stderr)
	}
	if !timedOut || err != nil {
		c.send(late, c.kill()+rest)
	} else {
		c.send(late, rest)
	}
	switch {
	case timedOut && (err == nil || errors.Is(err, context.DeadlineExceeded)):
		return provider.ExecResult{ExitCode: -1, TimedOut: true}, nil
	case ctx.Err() != nil:
		return provider.ExecResult{}, context.Cause(ctx)
	}
	return provider.ExecResult{}, err
}

// polledScript is what the command's own bash runs. It reports its process id, changes to the
// command's directory, and renames a file with the exit code when that is complete.
func polledScript(r provider.ExecRequest, prologue string) (string, error) {
	env, err := exports(r)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("d=$1\necho $$ >\"$d/pid\"\n" +
		"end() { echo \"$1\" >\"$d/rc.tmp\"; mv \"$d/rc.tmp\" \"$d/rc\"; exit; }\n")
	if r.Cwd != "" {
		fmt.Fprintf(&b, "cd -- %s || end 1\n", Quote(r.Cwd))
	}
	// In a subshell, so that the command's PATH does not change how its exit code is kept.
	fmt.Fprintf(&b, "(\n%s%sexec \"$BASH\" \"$d/cmd\"\n)\nend $?\n", prologue, env)
	return b.String(), nil
}

// upload writes files to where launch finds them, and returns the script that starts the command.
// Small files are part of that script, in one call.
func (c *run) upload(ctx context.Context, files map[string][]byte) (string, error) {
	var inline strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parts := slices.Collect(slices.Chunk(files[name], partSize))
		if len(parts) == 0 {
			parts = [][]byte{nil}
		}
		for n, p := range parts {
			part := part(c.parts(), name, n, p)
			if inline.Len()+len(part) > partSize*4/3+1024 {
				if err := c.w.do(ctx, c.instance, c.mark, inline.String()); err != nil {
					return "", err
				}
				inline.Reset()
			}
			inline.WriteString(part)
		}
	}
	return inline.String() + c.launch(), nil
}

// dir and parts are words for the instance's bash.
func (c *run) dir() string   { return `"${TMPDIR:-/tmp}"/.` + c.mark }
func (c *run) parts() string { return c.dir() + ".parts" }

// part is a script that writes one piece of a file into a directory, whole or not at all. It may be
// repeated, also during a read of the piece.
func part(dir, name string, n int, data []byte) string {
	file := fmt.Sprintf("%s.%06d", name, n)
	const script = "(umask 077; mkdir -p %[1]s; base64 -d >%[1]s/.%[2]s.$$ && mv -f %[1]s/.%[2]s.$$ %[1]s/%[2]s) " +
		"<<'='\n%[3]s\n=\n"
	return fmt.Sprintf(script, dir, file, base64.StdEncoding.EncodeToString(data))
}

// launch is a script that starts the command in a process group of its own, so that it outlives the
// call and can be killed with its descendants. It waits until the group is known.
func (c *run) launch() string {
	return fmt.Sprintf(`d=%s
if (umask 077; mkdir "$d") 2>/dev/null; then
for f in run cmd in; do (umask 077; cat "$d.parts/$f".* >"$d/$f"; : >"$d/out"; : >"$d/err"); done
rm -rf "$d.parts"
set -m
$(command -v setsid) bash "$d/run" "$d" <"$d/in" >"$d/out" 2>"$d/err" &
set +m
n=0; while [ ! -s "$d/pid" ] && [ $n -lt 200 ]; do sleep 0.01; n=$((n+1)); done
fi
`, c.dir())
}

// poll is a script that waits for output or the end, and prints what is new. A command whose
// process has gone without a report, because the instance was stopped, counts as killed; one
// without a process a minute after its launch as lost.
func (c *run) poll(wait time.Duration) string {
	return fmt.Sprintf(`d=%[1]s; n=0
if [ %[2]d -eq 0 ] && [ %[3]d -eq 0 ]; then more() { [ -s "$d/out" ] || [ -s "$d/err" ]; }
else more() { set -- $(stat -c %%s "$d/out" "$d/err" 2>/dev/null)
[ "${1:-0}" -gt %[2]d ] || [ "${2:-0}" -gt %[3]d ]; }; fi
while [ -d "$d" ] && [ ! -e "$d/rc" ] && ! more && [ $n -lt %[4]d ]; do
if [ $n -lt 10 ]; then sleep 0.01; else sleep 0.05; fi; n=$((n+1)); done
p=$(cat "$d/pid" 2>/dev/null)
if [ -n "$p" ] && [ ! -e "$d/rc" ] && ! kill -0 "$p" 2>/dev/null && [ ! -e "$d/rc" ]; then echo 137 >"$d/rc"; fi
if [ -z "$p" ] && [ -n "$(find "$d" -maxdepth 0 -mmin +1 2>/dev/null)" ]; then d=$d.lost; fi
r=; if [ -e "$d/rc" ]; then r=$(cat "$d/rc"); fi
b() { tail -c +"$2" "$1" 2>/dev/null | head -c %[5]d | base64 | tr -d '\n'; }
if [ -d "$d" ]; then echo; echo "%[6]s:$(b "$d/out" %[7]d):$(b "$d/err" %[8]d):$r:"
else echo; echo "%[6]s:gone"; fi
`, c.dir(), c.out, c.err, max(1, int(wait/(50*time.Millisecond))), c.w.Piece, c.mark, c.out+1, c.err+1)
}

// kill is a script that kills the command's group and gives it a status if it has none. It takes
// the lock of a command that was not started, which never starts then, and waits for one that is
// about to.
func (c *run) kill() string {
	return fmt.Sprintf(`d=%s
if (umask 077; mkdir "$d") 2>/dev/null; then echo 137 >"$d/rc"; fi
n=0; while [ -d "$d" ] && [ ! -s "$d/pid" ] && [ ! -e "$d/rc" ] && [ $n -lt 200 ]; do sleep 0.01; n=$((n+1)); done
p=$(cat "$d/pid" 2>/dev/null)
if [ -n "$p" ] && [ ! -e "$d/rc" ]; then kill -KILL -- "-$p" 2>/dev/null; [ -d "$d" ] && echo 137 >"$d/rc"; fi
`, c.dir())
}

func (c *run) remove() string {
	return fmt.Sprintf("rm -rf %s %s\n", c.dir(), c.parts())
}

// empty is remove for a command whose start may still arrive: the lock and a status stay.
func (c *run) empty() string {
	return fmt.Sprintf("rm -rf %[1]s/* %[2]s; echo 137 >%[1]s/rc\n", c.dir(), c.parts())
}

// send makes a call and ignores its reply.
func (c *run) send(ctx context.Context, script string) {
	_ = c.w.do(ctx, c.instance, c.mark, script)
}

// follow fetches output until the command has ended and all of it was read. first runs before the
// first poll.
func (c *run) follow(ctx context.Context, first string, stdout, stderr io.Writer) (int, error) {
	for {
		wait := c.w.Wait
		if end, ok := ctx.Deadline(); ok {
			wait = min(wait, max(0, time.Until(end)))
		}
		line, err := c.w.marked(ctx, c.instance, c.mark, first+c.poll(wait), wait+CallSlack)
		if err != nil {
			return 0, c.lost(err)
		}
		f := strings.Split(line, ":")
		if len(f) < 4 {
			// Somebody has cleaned /tmp: the status is lost.
			return 0, fmt.Errorf("%s: %w: the command's files are gone", c.w.Provider, provider.ErrProvider)
		}
		first, c.started = "", true
		whole, err := c.take(f, stdout, stderr)
		if err != nil {
			return 0, err
		}
		if f[2] != "" && whole {
			code, err := strconv.Atoi(f[2])
			if err != nil {
				return 0, fmt.Errorf("%s: %w: no exit status: %q", c.w.Provider, provider.ErrProvider, f[2])
			}
			return code, nil
		}
	}
}

// lost takes ErrNotStarted from the error of a command that was seen running.
func (c *run) lost(err error) error {
	if c.started && errors.Is(err, provider.ErrNotStarted) {
		return fmt.Errorf("%w: the command was lost: %s", KindOf(err), err.Error())
	}
	return err
}

// KindOf is the sentinel of an error, without ErrNotStarted.
func KindOf(err error) error {
	for _, kind := range []error{provider.ErrNotFound, provider.ErrNotRunning, provider.ErrState, provider.ErrRefused,
		provider.ErrUnreachable} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return provider.ErrProvider
}

// take writes the output of a reply. whole reports that no stream can have more than that.
func (c *run) take(f []string, stdout, stderr io.Writer) (whole bool, err error) {
	whole = true
	for i, to := range []struct {
		w  io.Writer
		at *int64
	}{{stdout, &c.out}, {stderr, &c.err}} {
		p, err := base64.StdEncoding.DecodeString(f[i])
		if err != nil {
			return false, fmt.Errorf("%s: %w: output that is no base64", c.w.Provider, provider.ErrProvider)
		}
		*to.at += int64(len(p))
		whole = whole && len(p) < c.w.Piece
		if len(p) > 0 {
			if _, err := to.w.Write(p); err != nil {
				return false, fmt.Errorf("%s: output: %w", c.w.Provider, err)
			}
		}
	}
	return whole, nil
}

// do runs a script without output.
func (w Polled) do(ctx context.Context, id, mark, script string) error {
	_, err := w.marked(ctx, id, mark, script+"echo; echo "+mark+":\n", CallSlack)
	return err
}

// marked runs a script and returns the rest of the line that begins with mark. The script may run
// more than once.
func (w Polled) marked(ctx context.Context, id, mark, script string, timeout time.Duration) (string, error) {
	for attempt := 1; ; attempt++ {
		text, err := w.Run(ctx, id, script, timeout)
		if err != nil && attempt > 1 && errors.Is(err, provider.ErrNotStarted) {
			return "", fmt.Errorf("%w: %s", KindOf(err), err.Error()) // an attempt before may have started it
		} else if err != nil {
			return "", err
		}
		for line := range strings.Lines(text) {
			if rest, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), mark+":"); ok {
				return rest, nil
			}
		}
		if attempt == runAttempts || !wait.Sleep(ctx, markPause<<attempt) {
			return "", fmt.Errorf("%s: %w: %w: %.120q", w.Provider, provider.ErrProvider, errNoMark, text)
		}
	}
}

// CommandLine is a script as one command line that any shell, and a program that only splits words
// and quotes, passes on unchanged.
func CommandLine(script string) string {
	return "bash -c 'echo " + base64.StdEncoding.EncodeToString([]byte(script)) + " | base64 -d | bash'"
}
