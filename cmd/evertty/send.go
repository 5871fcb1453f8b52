package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// enterKey is what the Enter key sends: CR (ECMA-48 8.3.15).
const enterKey = "\r"

// sending has the flags of send.
type sending struct {
	keys, paste, enter, asJSON bool
	filter                     []string
}

func newSend(a *app) *cobra.Command {
	var o sending
	c := &cobra.Command{
		Use:   "send ID[,ID...] TEXT | send --filter KEY=VALUE TEXT | send ID --keys KEY...",
		Short: "Type into terminals",
		Long: `TEXT is sent exactly as it is, without a newline; - reads it from standard
input. With --keys the arguments are tmux's names of keys (Enter, Up, C-c, M-x,
F1, text:abc), sent the way the program asked for. A TEXT that begins with a dash
goes behind --. With --json it prints how many bytes the program got and seq, the
position of the output before: wait --since SEQ looks only at what followed.
Several IDs are separated by commas. --filter is label=KEY=VALUE, session=NAME,
name=NAME or state=STATE, may be repeated, and chooses running terminals unless it
names a state. All are found before anything is typed: one that is unknown, and
nothing is typed anywhere. One that fails does not keep the others; the error names
it.` + referenceHelp,
		Example: `  evertty send build 'make test' --enter
  evertty send build --keys C-c Up Enter
  evertty send --filter label=team=web 'git pull' --enter
  evertty send build --paste - < notes.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			want, given := "send: want ID TEXT, or ID --keys KEY...", len(args)
			if len(o.filter) > 0 {
				want, given = "send: want --filter KEY=VALUE TEXT, or --filter KEY=VALUE --keys KEY...", given+1
			}
			return refuse(
				rule{given < 2 || given > 2 && !o.keys, want},
				rule{o.keys && o.paste, "send: --keys and --paste exclude each other"},
			)
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			if len(o.filter) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return a.completeFirst(terminalNames)(c, args, word)
		},
		RunE: a.onServer(func(c *cobra.Command, server *client.Client, args []string) error {
			return a.send(c.Context(), server, args, o)
		}),
	}
	addFlags(c,
		flag{"keys", "", &o.keys, "the arguments are names of keys"},
		flag{"paste", "", &o.paste, "paste: in brackets when the program asked for them"},
		flag{"enter", "", &o.enter, "press Enter at the end"},
		flag{"filter", "", &o.filter, "type into the terminals with `KEY=VALUE`: label=K=V, session=S, name=N, state=S"},
		flag{"json", "", &o.asJSON, "print JSON; of several terminals a list"},
	)
	_ = c.RegisterFlagCompletionFunc("filter", a.complete(filterWords))
	return a.talks(c)
}

// sent is what one of several terminals got.
type sent struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Session string `json:"session"`
	wire.Sent
	Error string `json:"error,omitempty"` // why it did not get all
}

// send types into all terminals that are meant and tells where the output was before.
func (a *app) send(ctx context.Context, server *client.Client, args []string, o sending) error {
	to, several, err := recipients(ctx, server, &args, o)
	if err != nil {
		return err
	}
	if !o.keys && args[0] == "-" {
		text, err := io.ReadAll(a.stdin)
		if err != nil {
			return fmt.Errorf("send: standard input: %w", err)
		}
		args = []string{string(text)}
	}
	if !several {
		one, err := sendTo(ctx, server, to[0].ID, args, o)
		if err != nil || !o.asJSON {
			return err
		}
		return printJSON(a.stdout, one)
	}
	replies := make([]sent, len(to))
	err = atOnce(indexes(to), func(i int) error {
		t := to[i]
		one, err := sendTo(ctx, server, t.ID, args, o)
		replies[i] = sent{ID: t.ID, Name: t.Name, Session: t.Session, Sent: one}
		if err != nil {
			replies[i].Error = message(err)
		}
		return named("terminal "+t.Session+"/"+nameOf(t), err)
	})
	if o.asJSON {
		err = errors.Join(err, printJSON(a.stdout, replies))
	}
	return err
}

// indexes are the indexes of a list.
func indexes[T any](list []T) (all []int) {
	for i := range list {
		all = append(all, i)
	}
	return all
}

// recipients are the terminals to type into, each once, and whether several may be meant. It removes the first of args
// when that names them.
func recipients(ctx context.Context, server *client.Client, args *[]string, o sending) (list []client.Terminal,
	several bool, err error) {
	if len(o.filter) > 0 {
		r, err := parseFilter(o.filter)
		if err != nil {
			return nil, true, usage(err)
		}
		list, err = server.Filter(ctx, r)
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("send: %w: none has %s", client.ErrNotFound, strings.Join(o.filter, " and "))
		}
		return list, true, err
	}
	refs := strings.Split((*args)[0], ",")
	*args = (*args)[1:]
	switch {
	case slices.Contains(refs, ""):
		return nil, true, usage(errors.New("send: an ID is empty"))
	case len(refs) == 1:
		ids, err := idsOf(ctx, server, refs[0])
		if err != nil {
			return nil, false, err
		}
		return []client.Terminal{{Terminal: wire.Terminal{ID: ids[0]}}}, false, nil
	}
	all, err := server.Resolve(ctx, refs...)
	for _, t := range all {
		if !slices.ContainsFunc(list, func(o client.Terminal) bool { return o.ID == t.ID }) {
			list = append(list, t)
		}
	}
	return list, true, err
}

// parseFilter reads --filter.
func parseFilter(filters []string) (r wire.ListAllTerminals, err error) {
	r.State = "running"
	one := map[string]*string{"session": &r.Session, "name": &r.Name, "state": &r.State}
	for _, f := range filters {
		key, value, ok := strings.Cut(f, "=")
		switch p := one[key]; {
		case key == "label" && strings.Contains(value, "="):
			r.Labels = append(r.Labels, value)
		case p != nil && ok && value != "":
			*p = value
		default:
			return r, fmt.Errorf("send: --filter: got %.80q, allowed is label=KEY=VALUE, session=NAME, name=NAME or "+
				"state=STATE", f)
		}
	}
	return r, nil
}

// filterWords are the filters that find some terminal.
func filterWords(ctx context.Context, server *client.Client) (words []string) {
	for _, l := range labelWords(ctx, server) {
		words = append(words, "label="+l)
	}
	for _, s := range sessionNames(ctx, server) {
		words = append(words, "session="+s)
	}
	return words
}

// sendTo types into one terminal and tells where the output was before.
func sendTo(ctx context.Context, server *client.Client, id string, args []string, o sending) (wire.Sent, error) {
	if o.keys {
		if o.enter {
			args = append(slices.Clone(args), "Enter")
		}
		return server.Keys(ctx, id, args...)
	}
	text := args[0]
	var pasted wire.Sent
	if o.paste {
		var err error
		if pasted, err = server.Paste(ctx, id, text); err != nil || !o.enter {
			return pasted, err
		}
		text = ""
	}
	if o.enter {
		text += enterKey
	}
	sent, err := server.Input(ctx, id, []byte(text))
	if o.paste {
		sent = wire.Sent{Bytes: pasted.Bytes + sent.Bytes, Seq: pasted.Seq}
	}
	return sent, err
}
