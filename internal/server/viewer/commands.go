package viewer

import (
	"sync"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// commands carries out the commands for one terminal on one connection, in order. It has a goroutine of its own while
// some wait, so that a program that does not read delays nothing else on the connection. The zero value has none; one
// goroutine calls the methods.
type commands struct {
	mu      sync.Mutex
	waiting []waitingCommand
	bytes   int  // of the messages of commands that are not carried out
	running bool // run carries them out
	done    sync.WaitGroup
}

// waitingCommand is a command whose message has size bytes.
type waitingCommand struct {
	size int
	do   func()
}

// Bounds of what waits for a program that does not read, per terminal and connection; more is refused.
const (
	maxCommands = 256
	maxWaiting  = 2 * maxFrame // bytes of messages
)

// idle reports whether all commands are carried out.
func (c *commands) idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.running
}

// add queues a command whose message has size bytes. Errors: httpapi.ErrCommandsWait.
func (c *commands) add(size int, do func()) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bytes+size > maxWaiting || len(c.waiting) >= maxCommands {
		return httpapi.ErrCommandsWait
	}
	c.bytes += size
	c.waiting = append(c.waiting, waitingCommand{size, do})
	if !c.running {
		c.running = true
		c.done.Go(c.run)
	}
	return nil
}

func (c *commands) run() {
	for {
		c.mu.Lock()
		if len(c.waiting) == 0 {
			c.waiting, c.running = nil, false
			c.mu.Unlock()
			return
		}
		next := c.waiting[0]
		c.waiting = c.waiting[1:]
		c.mu.Unlock()
		next.do()
		c.mu.Lock()
		c.bytes -= next.size
		c.mu.Unlock()
	}
}

// lateCommands is how long the commands of a viewer that has left may take.
const lateCommands = 10 * time.Second

// end waits until all commands are carried out, or cancelled after lateCommands. No more are added.
func (c *commands) end(cancel func()) {
	if c.idle() {
		return
	}
	late := time.AfterFunc(lateCommands, cancel)
	defer late.Stop()
	c.done.Wait()
}
