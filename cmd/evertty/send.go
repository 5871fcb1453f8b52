package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// enterKey is what the Enter key sends: CR (ECMA-48 8.3.15).
const enterKey = "\r"

// sending has the flags of send.
type sending struct{ keys, paste, enter bool }

func newSend(a *app) *cobra.Command {
	var o sending
	c := &cobra.Command{
		Use:   "send ID TEXT | send ID --keys KEY...",
		Short: "Type into a terminal",
		Long: `TEXT is sent exactly as it is, without a newline; - reads it from standard
input. With --keys the arguments are tmux's names of keys (Enter, Up, C-c, M-x,
F1, text:abc), sent the way the program asked for. A TEXT that begins with a dash
goes behind --. With --json it prints how many bytes the program got and seq, the
position of the output before: wait --since SEQ looks only at what followed.`,
		Example: `  evertty send build 'make test' --enter
  evertty send build --keys C-c Up Enter
  evertty send build --paste - < notes.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			return refuse(
				rule{len(args) < 2 || len(args) > 2 && !o.keys, "send: want ID TEXT, or ID --keys KEY..."},
				rule{o.keys && o.paste, "send: --keys and --paste exclude each other"},
			)
		},
		ValidArgsFunction: a.completeFirst(terminalNames),
	}
	addFlags(c,
		flag{"keys", "", &o.keys, "the arguments are names of keys"},
		flag{"paste", "", &o.paste, "paste: in brackets when the program asked for them"},
		flag{"enter", "", &o.enter, "press Enter at the end"},
	)
	return asking(a, c, func(c *cobra.Command, server *client.Client, args []string) (wire.Sent, error) {
		return a.send(c, server, args[0], args[1:], o)
	}, func(io.Writer, wire.Sent) error { return nil })
}

// send types and tells where the output was before.
func (a *app) send(c *cobra.Command, server *client.Client, id string, args []string, o sending) (wire.Sent, error) {
	if o.keys {
		if o.enter {
			args = append(args, "Enter")
		}
		return server.Keys(c.Context(), id, args...)
	}
	text := []byte(args[0])
	if args[0] == "-" {
		var err error
		if text, err = io.ReadAll(a.stdin); err != nil {
			return wire.Sent{}, fmt.Errorf("send: standard input: %w", err)
		}
	}
	var pasted wire.Sent
	if o.paste {
		var err error
		if pasted, err = server.Paste(c.Context(), id, string(text)); err != nil || !o.enter {
			return pasted, err
		}
		text = nil
	}
	if o.enter {
		text = append(text, enterKey...)
	}
	sent, err := server.Input(c.Context(), id, text)
	if o.paste {
		sent = wire.Sent{Bytes: pasted.Bytes + sent.Bytes, Seq: pasted.Seq}
	}
	return sent, err
}
