package bench

import (
	"bytes"
	"context"
	"time"
)

// peer is a server that is measured. Its terminals have 80 columns, 24 rows and 5000 lines of history, and run the
// script of its directory.
type peer interface {
	// start starts the server, which works in dir.
	start(ctx context.Context, dir string) error
	// pids are the processes whose processor time and memory count.
	pids() []int
	// create starts a terminal; its name is for attach. ttyd starts it at attach only.
	create() (name string, err error)
	attach(name string) (viewer, error)
}

// lister is a peer whose terminals can be listed and ended.
type lister interface {
	list() error
	remove(name string) error
}

// viewer is a connection that looks and types. read has one caller; close may be called beside it and ends it.
type viewer interface {
	read() ([]byte, error)
	send(keys []byte) error
	close()
}

// ownName is evertty's name among the servers.
const ownName = "evertty"

// peer is a new server of that name.
func (t *table) peer(name string) peer {
	switch name {
	case "ttyd":
		return &ttyd{program: t.TTYD}
	case "tmux":
		return &tmux{program: t.Tmux}
	}
	return &evertty{program: t.Self}
}

// columns and rows are the size of a terminal, history the lines above it.
const (
	columns = 80
	rows    = 24
	history = 5000
)

// until reads until a word was shown.
func until(v viewer, word string) error {
	var tail []byte
	for {
		p, err := v.read()
		if err != nil {
			return err
		}
		tail = append(tail, p...)
		if bytes.Contains(tail, []byte(word)) {
			return nil
		}
		tail = tail[max(0, len(tail)-len(word)):]
	}
}

// drain reads all that comes.
func drain(v viewer) {
	for {
		if _, err := v.read(); err != nil {
			return
		}
	}
}

// slow is a viewer that reads at most slowRate.
type slow struct {
	viewer
	began time.Time
	got   int
}

// slowRate is of a viewer on a slow line, in bytes a second.
const slowRate = 1 << 20

func (s *slow) read() ([]byte, error) {
	p, err := s.viewer.read()
	s.got += len(p)
	due := s.began.Add(time.Duration(s.got) * time.Second / slowRate)
	time.Sleep(time.Until(due))
	return p, err
}
