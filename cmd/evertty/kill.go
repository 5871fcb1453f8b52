package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// sentSignals are those that the server sends (pty.ParseSignal).
var sentSignals = strings.Fields("HUP INT QUIT ABRT KILL USR1 USR2 PIPE ALRM TERM CONT STOP TSTP TTIN TTOU WINCH")

func newKill(a *app) *cobra.Command {
	var signal string
	var purge, all, asJSON bool
	c := &cobra.Command{
		Use:   "kill ID... | --all",
		Short: "End terminals and exec shells, or send a signal",
		Long: `Without --signal the whole process tree is ended and the terminal leaves the
list: SIGHUP, and after three seconds SIGKILL to what is left. Its last screen
stays readable by its id until it is purged.
With --signal only that signal is sent, to the foreground process group.
With --all and no signal the exec shells of all sessions end too, with everything
that was started in them and their history; what permissions ask about is approved,
what they deny stays, is named, and the exit code is 1. Where no server runs, what
its keeper holds is ended; so are, without --data-dir, programs of keepers that
nobody can reach any more because their data directory is gone (evertty doctor
lists them).` + referenceHelp,
		Example: `  evertty kill build
  evertty kill build --signal INT
  evertty kill --all          before the server is stopped for good`,
		ValidArgsFunction: a.complete(terminalNames),
		PreRunE: func(_ *cobra.Command, ids []string) error {
			return refuse(
				rule{signal != "" && purge, "kill: --signal and --purge exclude each other"},
				rule{all == (len(ids) > 0), "kill: terminals or --all are needed, and not both"},
			)
		},
		RunE: func(c *cobra.Command, ids []string) error {
			find := a.reach
			if all { // what no server has is not started for it
				find = a.client
			}
			server, err := find()
			if all && signal == "" && keepersOnly(a) {
				gone, err := killAll(c.Context(), a, server, err, purge)
				if asJSON {
					err = errors.Join(err, printJSON(a.stdout, gone))
				}
				return err
			}
			if err != nil {
				return err
			}
			end := ender{server: server, signal: signal, purge: purge}
			if !all {
				return eachChanged(a, c, server, ids, asJSON, func(id string) (removed, error) {
					return removed{id}, end.terminal(c.Context(), id)
				})
			}
			gone, err := end.all(c.Context())
			if asJSON {
				err = errors.Join(err, printJSON(a.stdout, gone))
			}
			return err
		},
	}
	addFlags(c,
		flag{"signal", "", &signal, "send only this `signal` (INT, TERM, HUP, …)"},
		flag{"purge", "", &purge, "also forget the last screen"},
		flag{"all", "", &all, "every terminal and exec shell of the server"},
		flag{"json", "", &asJSON, "print the ids of what was ended, or got the signal, as JSON"},
	)
	_ = c.RegisterFlagCompletionFunc("signal", cobra.FixedCompletions(sentSignals, cobra.ShellCompDirectiveNoFileComp))
	return a.talks(c)
}

// killAll ends everything of a server, or of the keeper that a server has left, and keepers that are out of
// reach. noServer is why there is no server, nil when there is one. gone are the terminals of the server.
func killAll(ctx context.Context, a *app, server *client.Client, noServer error, purge bool) (gone []removed,
	err error) {
	gone = []removed{}
	if noServer == nil {
		gone, noServer = ender{server: server, purge: purge}.all(ctx)
	}
	absent := errors.Is(noServer, client.ErrNoServer)
	found, err := killKeepers(ctx, a, absent)
	if absent && found {
		noServer = nil
	}
	return gone, errors.Join(noServer, err)
}

// ender ends terminals and shells as the flags of kill say.
type ender struct {
	server *client.Client
	signal string // "": it ends
	purge  bool
}

func (e ender) terminal(ctx context.Context, id string) error {
	if e.signal != "" {
		return e.server.Signal(ctx, id, e.signal)
	}
	return e.server.Delete(ctx, id, e.purge)
}

// all is what --all does: every terminal, and without a signal every exec shell. gone are the terminals, the error
// names the rest.
func (e ender) all(ctx context.Context) (gone []removed, failed error) {
	if e.signal == "" {
		shells, err := e.server.Shells(ctx, "")
		if errors.Is(err, client.ErrNoServer) {
			return nil, err
		}
		sessions := map[string]bool{}
		for _, s := range shells {
			sessions[s.Session] = true
		}
		failed = errors.Join(err, atOnce(slices.Sorted(maps.Keys(sessions)), func(session string) error {
			err := e.insist(ctx, session, func() error {
				_, err := e.server.API().DeleteShells(ctx, wire.SessionRef{Session: session})
				return err
			})
			return named("the exec shells of session "+session, err)
		}))
	}
	list, err := e.server.List(ctx, "")
	done := make([]bool, len(list))
	failed = errors.Join(failed, err, atOnce(indexes(list), func(i int) error {
		t := list[i]
		err := e.insist(ctx, t.Session, func() error { return e.terminal(ctx, t.ID) })
		if done[i] = err == nil; errors.Is(err, client.ErrNotFound) {
			return nil // another process was faster
		}
		return named("terminal "+nameOf(t)+" of session "+t.Session, err)
	}))
	gone = []removed{}
	for i, t := range list {
		if done[i] {
			gone = append(gone, removed{t.ID})
		}
	}
	return gone, failed
}

// actsAtOnce is how many things one command ends, or types into, at a time. What is ended together shares one look at
// the processes of the machine, and the time that programs have to react to SIGHUP.
const actsAtOnce = 64

// atOnce does the same to each of a list, several at a time, and returns all errors in the order of the list.
func atOnce[T any](list []T, do func(T) error) error {
	failed := make([]error, len(list))
	room := make(chan struct{}, actsAtOnce)
	var all sync.WaitGroup
	for i, item := range list {
		room <- struct{}{}
		all.Go(func() {
			failed[i] = do(item)
			<-room
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// insist does what the permissions of a session ask about: who says --all has decided.
// What they deny they deny to everybody.
func (e ender) insist(ctx context.Context, session string, do func() error) error {
	err := do()
	id := approvalOf(err)
	if id == "" {
		return err
	}
	_, err = e.server.API().DecideApproval(ctx, wire.DecideApproval{Decision: approve,
		ApprovalRef: wire.ApprovalRef{ThreadRef: threadRef(session), Approval: id}})
	if err != nil {
		return err
	}
	return do()
}

// approvalOf is the id of the approval that a refused call needs, "" for none.
func approvalOf(err error) string {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok || refused.Code != "NEEDS_APPROVAL" {
		return ""
	}
	var d struct {
		ID string `json:"approval_id"`
	}
	_ = json.Unmarshal(refused.Details, &d) // without it there is none
	return d.ID
}
