package viewer

import (
	"context"

	"github.com/evertty/evertty/stream"
)

// heard is what a subscription had next.
type heard struct {
	batch []*stream.Message
	err   error // of stream.Subscription.Next; the last of its feed
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
	todo chan func()
	done chan struct{} // closed when all are carried out
}

// maxCommands is how many commands of a terminal may wait for the one that is carried out. Then the
// connection is not read.
const maxCommands = 16

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

// end waits until all commands are carried out. No more are added.
func (c *commands) end() {
	close(c.todo)
	<-c.done
}
