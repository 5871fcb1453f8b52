package client

import (
	"context"
	"net/http"

	"github.com/evertty/evertty/wire"
)

// Commands returns commands of a session's shells, the newest last: the newest limit (0: the
// server's number) before the command with the id before ("": all).
func (s shells) Commands(ctx context.Context, session string, limit int, before string) ([]Command, error) {
	reply, err := s.API().ListCommands(ctx, wire.ListCommands{ShellRef: shellRef(session, ""),
		NewestCommands: wire.NewestCommands{Limit: limit, Before: before}})
	return reply.Commands, err
}

// Command returns one command.
func (s shells) Command(ctx context.Context, session, id string) (Command, error) {
	return s.API().GetCommand(ctx, commandRef(session, id))
}

// CommandLogs returns the output of a command so far. More than one reply may have (256 MiB) is an
// error; FollowCommand returns output of any size.
func (s shells) CommandLogs(ctx context.Context, session, id string) (
	stdout, stderr []byte, truncated bool, err error,
) {
	logs := route{http.MethodGet, false, []string{"/session/:sid/commands/:cid/logs"}}
	r, err := send[wire.CommandLogs](ctx, s.API(), logs, commandRef(session, id))
	return exact(r.Stdout, r.StdoutB64), exact(r.Stderr, r.StderrB64), r.Truncated, err
}

// CommandInput writes to the standard input of a command with StdinOpen. With eof it then closes
// the input. It returns when the command's input has taken all.
func (s shells) CommandInput(ctx context.Context, session, id string, data []byte, eof bool) error {
	for {
		piece := data[:min(len(data), inputPiece)]
		data = data[len(piece):]
		_, err := s.API().CommandInput(ctx, wire.ExecInput{CommandRef: commandRef(session, id),
			DataB64: new(append([]byte{}, piece...)), EOF: eof && len(data) == 0})
		if err != nil || len(data) == 0 {
			return err
		}
	}
}
