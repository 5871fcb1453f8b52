package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/evertty/evertty/client"
)

// executing has the flags of exec.
type executing struct {
	session, shell, text, sandbox string
	stdin, noStdin, quiet, asJSON bool
	asIs                          bool // -c was given, also an empty text
	request                       client.ExecRequest
}

func newExec(a *app) *cobra.Command {
	var o executing
	c := &cobra.Command{
		Use:   "exec [flags] [--] CMD... | -c TEXT",
		Short: "Run a command in a session's shell",
		Long: `Runs a command in the shell of a session and behaves like the command itself:
what it prints comes to standard output and standard error as it comes, and exec
ends with its exit code. The shell stays: directory, variables and functions are
there for the next command. CMD keeps its arguments as they are; with -c the TEXT
is shell text.
Standard input is passed on when it is not a terminal, as ssh does. In a loop over
lines of standard input give -n, or the first command takes them all.
Ctrl-C (SIGINT, SIGTERM, SIGHUP, SIGQUIT) cancels the command, a second one leaves
at once. When the server is restarted meanwhile, nothing is lost.
Exit codes: the command's own, 124 when --timeout is over, 128 and the number after
a signal.`,
		Example: `  evertty exec -- make test
  evertty exec -s work -c 'cd /srv/app && export PORT=8080'
  tar c . | evertty exec -c 'tar x -C /tmp/copy'
  evertty exec --timeout 30s --json -- ./check "two words"`,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			o.asIs = c.Flags().Changed("command")
			if a.guest != nil && !o.asIs && len(args) > 0 { // a shell reads what comes by SSH
				o.asIs, o.text, args = true, a.guest.tail(len(args)), nil
			}
			if err := planExec(a, &o, args); err != nil {
				return usage(fmt.Errorf("exec: %w", err))
			}
			return a.inSandbox(c.Context(), &o, func() error {
				if o.request.Background {
					return execBehind(c.Context(), a, o)
				}
				return a.exec(c.Context(), o)
			})
		},
	}
	execFlags(a, c, &o)
	return a.talks(c)
}

func execFlags(a *app, c *cobra.Command, o *executing) {
	f, r := c.Flags(), &o.request
	f.SetInterspersed(false) // what follows CMD is CMD's
	o.session = defaultSession
	addFlags(c,
		flag{"session", "s", &o.session, "`session` whose shell runs it"},
		flag{"shell", "", &o.shell, "`id` of another shell of the session than its default one"},
		flag{"sandbox", "", newEnum(&o.sandbox, sandboxes...),
			"run it in a shell in this `sandbox`, which begins here: none, workspace or read-only; one that --shell " +
				"names stays"},
		flag{"command", "c", &o.text, "shell `text` to run instead of CMD"},
		flag{"timeout", "", newDuration(&r.Timeout, 0), "cancel it after this `time`; 0 never does"},
		flag{"queue-timeout", "", newDuration(&r.QueueTimeout, 0),
			"do not run it when it has not got its turn after this `time`; 0 waits as long as it takes"},
		flag{"cwd", "", &r.Cwd, "`directory` of this command alone"},
		flag{"env", "", &o.request.Env, "set `K=V` for this command alone; may be repeated"},
		flag{"stdin", "", &o.stdin, "pass standard input on also when it is a terminal"},
		flag{"no-stdin", "n", &o.noStdin, "do not read standard input"},
		flag{"background", "", &r.Background, "do not wait; print the command's id"},
		flag{"tty", "", &r.TTY, "run it on a terminal of its own; nothing is typed into it"},
		flag{"isolated", "", &r.Isolated, "run CMD as one process beside the shell"},
		flag{"quiet", "q", &o.quiet, "say nothing about the shell"},
		flag{"json", "", &o.asJSON, "print JSON"},
	)
	_ = c.RegisterFlagCompletionFunc("session", a.complete(sessionNames))
	_ = c.RegisterFlagCompletionFunc("shell", a.complete(shellIDs(&o.session)))
}

// rule is a combination of arguments that is wrong usage.
type rule struct {
	broken bool
	say    string
}

// refuse returns the first rule that is broken.
func refuse(rules ...rule) error {
	for _, r := range rules {
		if r.broken {
			return errors.New(r.say)
		}
	}
	return nil
}

// planExec makes the request of what was said.
func planExec(a *app, o *executing, args []string) error {
	r := &o.request
	if err := refuse(
		rule{o.asIs == (len(args) > 0), "either CMD or -c TEXT is needed"},
		rule{o.stdin && o.noStdin, "--stdin and --no-stdin exclude each other"},
		rule{o.stdin && r.Background, "--stdin and --background exclude each other"},
		rule{o.sandbox != "" && o.shell == "" && r.Background, "--sandbox with --background needs --shell"},
		rule{o.stdin && r.TTY, "--stdin and --tty exclude each other"},
	); err != nil {
		return err
	}
	switch {
	case r.Isolated && o.asIs:
		r.Argv = []string{"bash", "-c", o.text}
	case r.Isolated:
		r.Argv = args
	case o.asIs:
		r.Command = o.text
	default:
		r.Command = shellWords(args)
	}
	if !utf8.ValidString(r.Command + strings.Join(r.Argv, "")) {
		return errors.New("the command is not UTF-8, which the server does not take; it may read such bytes from " +
			"standard input")
	}
	r.StdinOpen = passesInput(a, o)
	return nil
}

// passesInput reports whether the command is to read this program's standard input.
// /dev/null is the same as none, which costs no request.
func passesInput(a *app, o *executing) bool {
	if o.noStdin || o.request.Background || o.request.TTY {
		return false
	}
	return o.stdin || !isNull(a.stdin) && !term.IsTerminal(int(a.stdin.Fd()))
}

// execBehind starts the command and does not wait for its end.
func execBehind(ctx context.Context, a *app, o executing) error {
	server, err := a.reach()
	if err != nil {
		return err
	}
	reply, err := server.Exec(ctx, o.session, o.shell, o.request)
	if err != nil {
		return err
	}
	return printReply(a.stdout, o.asJSON, reply, line(func(r client.ExecResult) string { return r.CommandID }))
}

// exec runs the command and ends as it does.
func (a *app) exec(ctx context.Context, o executing) error {
	e := newExecution(a.reconnecting(), o.session)
	e.stdout, e.stderr = sievedBoth(a.stdout, a.stderr)
	if !o.quiet {
		e.tell = a.tell
	}
	if o.request.StdinOpen {
		e.stdin = a.stdin
	}
	var kept [2]keptOutput
	if o.asJSON {
		e.stdout, e.stderr = &kept[0], &kept[1]
	}
	reply, err := e.run(ctx, func(ctx context.Context, server *client.Client) (*client.ExecStream, error) {
		return server.ExecStream(ctx, o.session, o.shell, o.request)
	})
	if err != nil {
		return err
	}
	if o.asJSON {
		if err := printExec(a, reply, &kept); err != nil {
			return err
		}
	} else if !o.quiet {
		tellShell(a, reply)
	}
	return ended(e.code(reply))
}

// endings are the reasons for which sessions end, in words.
var endings = map[string]string{
	"idle_timeout":   "nothing had happened in its session for as long as the thread's policy allows (idle_seconds)",
	"max_duration":   "its session had lasted as long as the thread's policy allows (max_seconds)",
	"budget":         "its session had used up its budget",
	"destroyed":      "the thread's compute was destroyed",
	"thread_deleted": "the thread was deleted",
}

// tellShell says what the user could not know of the shell, or of the output.
func tellShell(a *app, r *client.ExecResult) {
	if r.Recreated {
		a.tell("the shell had ended and was started again before this command; lost: " +
			cmp.Or(strings.Join(r.Lost, ", "), "nothing"))
	}
	if r.CwdFallback != "" {
		a.tell(fmt.Sprintf("the directory %s is gone; the shell is in %s", r.CwdFallback, r.Cwd))
	}
	if r.Reason != "" {
		a.tell("the server ended the command: " + cmp.Or(endings[r.Reason], r.Reason))
	}
	if r.Truncated {
		a.tell("there was more output than the server keeps; the end of it is missing")
	}
}

// tell says something about a command that is not the command's own word.
func (a *app) tell(what string) { fmt.Fprintln(a.stderr, "evertty: "+printable(what)) }

// keptMost bounds what --json keeps of stdout and of stderr, in bytes: as the
// server's own reply does.
const keptMost = 10 << 20

// keptOutput takes all and keeps the first keptMost bytes.
type keptOutput struct {
	bytes []byte
	cut   bool
}

func (k *keptOutput) Write(p []byte) (int, error) {
	room := min(len(p), keptMost-len(k.bytes))
	k.bytes = append(k.bytes, p[:room]...)
	k.cut = k.cut || room < len(p)
	return len(p), nil
}

// printExec writes the reply as the API gives it to who does not look meanwhile.
func printExec(a *app, r *client.ExecResult, kept *[2]keptOutput) error {
	all := map[string]any{}
	d := json.NewDecoder(strings.NewReader(string(r.Raw)))
	d.UseNumber()
	if err := d.Decode(&all); err != nil {
		return err
	}
	for i, name := range []string{"stdout", "stderr"} {
		all[name] = strings.ToValidUTF8(string(kept[i].bytes), "\ufffd")
		if !utf8.Valid(kept[i].bytes) {
			all[name+"_b64"] = kept[i].bytes
		}
	}
	all["truncated"] = r.Truncated || kept[0].cut || kept[1].cut
	return printJSON(a.stdout, all)
}
