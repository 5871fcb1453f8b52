package viewer

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
)

// heard is what a subscription had next.
type heard struct {
	batch []*stream.Message
	err   error // of stream.Subscription.Next; the last of its feed
}

// ends reports whether the exit is among the events, as their last.
func (h heard) ends() bool {
	return len(h.batch) > 0 && h.batch[len(h.batch)-1].Kind == stream.KindExit
}

// feed is the events of one terminal on their way to the goroutine that writes a connection. A
// goroutine of its own waits for them: the hub of a busy terminal may keep it waiting, and nothing
// else of the connection.
type feed struct {
	cancel context.CancelFunc
	over   chan struct{} // closed when nothing comes any more
}

// follow begins to send what sub gets to out, until its end or stop.
func follow(ctx context.Context, sub *stream.Subscription, out chan<- heard) feed {
	ctx, cancel := context.WithCancel(ctx)
	f := feed{cancel, make(chan struct{})}
	go func() {
		defer close(f.over)
		defer cancel()
		for {
			batch, err := sub.Next(ctx)
			select {
			case out <- heard{batch, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return f
}

// stop returns when nothing comes any more; what was not sent is dropped.
func (f feed) stop() {
	f.cancel()
	<-f.over
}

// commands are those for one terminal on one connection, which a goroutine of its own carries out
// in their order: a program that does not read keeps nothing else of the connection waiting.
type commands struct {
	todo    chan func()
	done    chan struct{} // closed when all are carried out
	waiting atomic.Int64  // bytes of the messages of those that are not carried out
}

// What may wait for a program that does not read, of each terminal on a connection; more is refused.
const (
	maxCommands = 256
	maxWaiting  = 2 * maxFrame // bytes of messages
)

func newCommands() *commands {
	c := &commands{todo: make(chan func(), maxCommands), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		for do := range c.todo {
			do()
		}
	}()
	return c
}

// add has a command carried out whose message has size bytes. Errors:
// httpapi.ErrCommandsWait.
func (c *commands) add(size int, do func()) error {
	begun := func() {
		defer c.waiting.Add(-int64(size))
		do()
	}
	if c.waiting.Add(int64(size)) <= maxWaiting {
		select {
		case c.todo <- begun:
			return nil
		default:
		}
	}
	c.waiting.Add(-int64(size))
	return httpapi.ErrCommandsWait
}

// lateCommands is how long the commands of a viewer that has left may take.
const lateCommands = 10 * time.Second

// end waits until all commands are carried out, or cancelled after lateCommands. No more are added.
func (c *commands) end(cancel func()) {
	close(c.todo)
	late := time.AfterFunc(lateCommands, cancel)
	defer late.Stop()
	<-c.done
}
