package viewer

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/stream"
)

// update is the result of one stream.Subscription.Next.
type update struct {
	batch []*stream.Message
	err   error // of stream.Subscription.Next; the last of its feed
	sub   *stream.Subscription
}

// send writes the events by write and notes that they were sent.
func (h update) send(write func([]*stream.Message) error) error {
	if len(h.batch) == 0 {
		return nil
	}
	err := write(h.batch)
	if err == nil {
		h.sub.Sent()
	}
	return err
}

// ends reports whether the exit is among the events, as their last.
func (h update) ends() bool {
	return len(h.batch) > 0 && h.batch[len(h.batch)-1].Kind == stream.KindExit
}

// feed passes the events of one terminal to the goroutine that writes a connection. It has a goroutine
// of its own, so that the hub of a busy terminal delays nothing else on the connection.
type feed struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when nothing comes any more
}

// follow sends the events of sub to out, until its end or stop.
func follow(ctx context.Context, sub *stream.Subscription, out chan<- update) feed {
	ctx, cancel := context.WithCancel(ctx)
	f := feed{cancel, make(chan struct{})}
	go func() {
		defer close(f.done)
		defer cancel()
		for {
			batch, err := sub.Next(ctx)
			select {
			case out <- update{batch, err, sub}:
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
	<-f.done
}

// commands carries out the commands for one terminal on one connection, in order. It has a goroutine of
// its own, so that a program that does not read delays nothing else on the connection.
type commands struct {
	todo    chan func()
	done    chan struct{} // closed when all are carried out
	waiting atomic.Int64  // bytes of the messages of commands that are not carried out
}

// Bounds of what waits for a program that does not read, per terminal and connection; more is refused.
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

// add queues a command whose message has size bytes. Errors: httpapi.ErrCommandsWait.
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
