package viewer

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// Sockets are the open WebSockets of a server. One goroutine pings them all, and says good-bye to them at the end; it
// lives while there is one. So a viewer of a silent terminal costs one goroutine, which reads, and no timer. It is safe
// for concurrent use.
type Sockets struct {
	closing  <-chan struct{}
	panicked func(any)

	mu      sync.Mutex
	all     map[*socket]struct{}
	running bool
}

// NewSockets makes the set of a server. When closing is closed all end politely. panicked is told of a panic in the
// goroutine of a socket, which ends that socket alone.
func NewSockets(closing <-chan struct{}, panicked func(any)) *Sockets {
	return &Sockets{closing: closing, panicked: panicked, all: map[*socket]struct{}{}}
}

func (l *Sockets) add(s *socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all[s] = struct{}{}
	if !l.running {
		l.running = true
		go l.run()
	}
}

func (l *Sockets) remove(s *socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.all, s)
}

// run ends at the first beat without a socket, and when the server ends.
func (l *Sockets) run() {
	beat := time.NewTicker(httpapi.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case now := <-beat.C:
			list := l.list(false)
			if len(list) == 0 {
				return
			}
			for _, s := range list {
				s.beat(now)
			}
		case <-l.closing:
			for _, s := range l.list(true) {
				s.endSoon(websocket.CloseGoingAway, "the server is shutting down", hurriedClose)
			}
			return
		}
	}
}

// list is all sockets. With last, or without any, run is about to return.
func (l *Sockets) list(last bool) []*socket {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = !last && len(l.all) > 0
	return slices.Collect(maps.Keys(l.all))
}

// guard is deferred by the goroutines of a socket.
func (l *Sockets) guard(s *socket) {
	if p := recover(); p != nil {
		s.cancel()
		l.panicked(p)
	}
}
