package bench

import (
	"context"
	"path/filepath"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// evertty is a server of this program. Viewers are of the Go client: a WebSocket with binary frames over TCP.
type evertty struct {
	program string
	pid     int
	ctx     context.Context
	script  string
	*client.Client
}

// session is where its terminals are.
const session = "bench"

func (e *evertty) start(ctx context.Context, dir string) (err error) {
	data := filepath.Join(dir, "data")
	e.ctx, e.script = ctx, filepath.Join(dir, scriptName)
	e.pid, err = begin(ctx, dir, e.program, "serve", "--listen", "127.0.0.1:0", "--data-dir", data)
	if err != nil {
		return err
	}
	if _, err = printed(ctx, dir, e.pid, "listening on "); err != nil {
		return err
	}
	place, err := client.Find(data)
	if err != nil {
		return err
	}
	token, err := client.ReadToken(filepath.Join(data, place.TokenFile))
	if err != nil {
		return err
	}
	e.Client, err = client.New(place.URL, token)
	return err
}

func (e *evertty) pids() []int { return []int{e.pid} }

func (e *evertty) create() (string, error) {
	t, err := e.Create(e.ctx, session, wire.CreateTerminal{Cmd: []string{"sh", e.script}})
	return t.ID, err
}

func (e *evertty) attach(name string) (viewer, error) {
	a, err := e.Attach(e.ctx, name, client.AttachOptions{Scrollback: client.AllHistory})
	if err != nil {
		return nil, err
	}
	return attachment{a}, nil
}

func (e *evertty) list() error {
	_, err := e.List(e.ctx, "")
	return err
}

func (e *evertty) remove(name string) error { return e.Delete(e.ctx, name, false) }

type attachment struct{ *client.Attachment }

func (a attachment) read() ([]byte, error) {
	event, err := a.Next()
	return event.Data, err
}

func (a attachment) send(keys []byte) error { return a.Input(keys) }

func (a attachment) close() { _ = a.Close() }
