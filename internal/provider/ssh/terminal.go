package ssh

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/bash"
)

// terminal is a terminal on a host.
type terminal struct {
	ch      *channel
	command command // what has to be ended
	once    sync.Once

	ended chan struct{} // closed when exit is valid
	exit  exitStatus
}

// OpenPTY starts a program on a terminal of the host, a login shell when none is given.
func (s *Provider) OpenPTY(ctx context.Context, id string, r provider.PTYRequest) (provider.PTY, error) {
	i, err := s.at(id)
	if err != nil {
		return nil, err
	}
	tag := i.name + "." + rand.Text()
	line, err := i.terminalLine(r, tag)
	if err != nil {
		return nil, err
	}
	ch, err := i.session(ctx, channelRequest{name: "exec", text: line, prepare: func(ch ssh.Channel) error {
		return ask(ch, "pty-req", struct {
			Term                      string
			Cols, Rows, Width, Height uint32
			Modes                     string
		}{"xterm-256color", uint32(r.Cols), uint32(r.Rows), 0, 0, string([]byte{0})})
	}})
	if err != nil {
		return nil, fmt.Errorf("ssh: terminal: %w", err)
	}
	t := &terminal{ch: ch, command: command{host: i.host, tag: tag},
		ended: make(chan struct{})}
	go func() { // ends with the channel
		t.exit = waitExit(ch.requests)
		close(t.ended)
	}()
	return t, nil
}

// terminalLine is the command line of a terminal. Its input is the user's, so the script has to be
// in the line, in a coding that no login shell changes.
func (i instance) terminalLine(r provider.PTYRequest, tag string) (string, error) {
	if r.Cols < 1 || r.Rows < 1 {
		return "", fmt.Errorf("ssh: terminal: %w: a size of %d x %d", provider.ErrProvider, r.Cols, r.Rows)
	}
	words := `"${SHELL:-/bin/bash}" -l`
	if len(r.Argv) > 0 {
		words = bash.QuoteWords(r.Argv)
	}
	env := map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}
	maps.Copy(env, r.Env)
	text, err := bash.Script(provider.ExecRequest{Cwd: r.Cwd, Env: env, Command: "exec " + words})
	if err != nil {
		return "", err
	}
	if len(text) > maxTerminalLine {
		return "", fmt.Errorf("ssh: terminal: %w: more than %d bytes of command and variables", provider.ErrTooLarge,
			maxTerminalLine)
	}
	text = fmt.Sprintf("\\cd -- %[1]s || exit 1\n. %[1]s.env\n%[2]s", i.dir, text)
	return "exec env " + bash.TagVariable + "=" + tag + ` bash -c 'eval "$(printf %s ` +
		base64.StdEncoding.EncodeToString([]byte(text)) + ` | base64 -d)"'`, nil
}

// Read ends when the exit is known: OpenSSH tells it before it ends the channel.
func (t *terminal) Read(p []byte) (int, error) {
	n, err := t.ch.Read(p)
	if err != nil {
		<-t.ended
		if errors.Is(err, io.EOF) && !t.exit.known {
			select {
			case <-t.ch.conn.dead:
				err = fmt.Errorf("ssh: %w: the connection was lost", provider.ErrUnreachable)
			default:
			}
		}
	}
	return n, err
}

func (t *terminal) Write(p []byte) (int, error) {
	n, err := t.ch.Write(p)
	if err != nil {
		return n, fmt.Errorf("ssh: %w: %w", provider.ErrUnreachable, err)
	}
	return n, nil
}

func (t *terminal) Resize(_ context.Context, cols, rows int) error {
	_, err := t.ch.SendRequest("window-change", false,
		ssh.Marshal(struct{ Cols, Rows, Width, Height uint32 }{uint32(cols), uint32(rows), 0, 0}))
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("ssh: %w: %w", provider.ErrUnreachable, err)
	}
	return nil
}

func (t *terminal) Exit() (code int, known bool) {
	select {
	case <-t.ended:
		return t.exit.code, t.exit.known
	default:
		return 0, false
	}
}

// Close ends the channel, by which the terminal hangs up, and what the program started and left.
func (t *terminal) Close() error {
	t.once.Do(func() {
		_ = t.ch.Close()
		t.command.end(t.ch.conn)
		t.ch.release()
	})
	return nil
}
