package mux

import "github.com/evertty/evertty/stream"

// Directory is how a page finds this server's terminals.
func (m *Mux) Directory() stream.Directory { return directory{m} }

type directory struct{ m *Mux }

func (d directory) Find(id string) (stream.Terminal, error) {
	t, err := d.m.Find("", id)
	if err != nil {
		return nil, err
	}
	return t.Typist(), nil
}

func (d directory) List() []byte { return d.m.listJSON() }

func (d directory) Watch() (changed <-chan struct{}, stop func()) { return d.m.Changed() }
