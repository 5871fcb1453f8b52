package keeper

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/evertty/evertty/internal/notify"
	"github.com/evertty/evertty/pty"
)

// Config says which keeper a server wants.
type Config struct {
	// Dir is the data directory. It must exist and be this user's alone.
	Dir string
	// Command is the argv that starts a keeper; Command[0] is absolute. By default this executable, "keeper",
	// "--data-dir", Dir.
	Command []string
	// Release is this binary's. A keeper of another release is asked to become Command; whatever release Command then
	// reports is accepted.
	Release string
	// Log gets what no error reports; by default slog.Default().
	Log *slog.Logger
}

// Held is one terminal that a keeper holds. Its owner closes Process and Pipe, and calls [Client.Release] before or
// after that; the terminal ends for its programs only when both sides have closed it.
type Held struct {
	ID      string
	Process *pty.Process
	Pipe    *pty.Pipe
}

// Client is a server's connection to the keeper of its data directory. It finds or starts another keeper when that one
// dies. Safe for concurrent use. It runs one goroutine until Close, and one for every keeper it started until that
// keeper ends.
type Client struct {
	// Constant.
	config Config
	log    *slog.Logger
	ctx    context.Context // done once Close was called
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine has ended
	starts chan struct{} // has a value for each start on its way

	held *holdings

	// The connection.
	changes    notify.Notifier // after each change of link
	mu         sync.Mutex      // guards the rest; taken before the lock of held
	link       *link           // nil while there is no keeper
	lastPID    int             // process id of the keeper of the newest link
	lastErr    error           // why link is nil
	losses     uint64          // keepers that went away
	mustRepeat bool            // a Hold or Release found no keeper: the next keeper must get it
}

// Connect finds the keeper of c.Dir or starts one: in its own session, with /dev/null as input and output and
// DIR/keeper.log (truncated) for errors; in c.Dir, so that it keeps no other file system busy. It receives everything
// the keeper holds (see [Client.Take]) and then replaces a keeper of another release. It waits while the keeper serves
// another server, without a deadline of ctx for connectTimeout. Errors: ErrNoKeeper, ErrBusy, ErrForeign, ErrVersion,
// ctx.Err().
func Connect(ctx context.Context, c Config) (*Client, error) {
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("keeper: connect: %w", err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, connectTimeout)
		defer cancel()
	}
	k := &Client{config: c, log: c.Log, done: make(chan struct{}), starts: make(chan struct{}, maxStarts),
		held: &holdings{entries: map[string]*entry{}}}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	s := &session{Client: k}
	l, err := s.attach(ctx)
	if err != nil {
		k.cancel()
		k.held.orphan()
		k.held.close()
		return nil, fmt.Errorf("keeper: connect: %w", err)
	}
	go s.run(l)
	return k, nil
}

// complete fills in what was left out.
func (c *Config) complete() (err error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	if len(c.Command) > 0 {
		return nil
	}
	self, err := os.Executable()
	c.Command = []string{self, "keeper", "--data-dir", c.Dir}
	return err
}

// Take returns the terminals that the keeper held at Connect, once; they are the caller's then. Wait of a terminal
// whose child has ended returns the true exit once its output was read to the end. Errors: ctx.Err().
func (c *Client) Take(ctx context.Context) ([]*Held, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("keeper: take: %w", err)
	}
	return take(c.held, &c.held.terminals), nil
}

// PID is the keeper's process id, 0 while there is none.
func (c *Client) PID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return 0
	}
	return c.link.pid
}

// LastPID is PID, and while there is no keeper the last one's, which may live all the same. It is for callers that look
// for processes by their tag: while a keeper starts a program it has the program's tag (proc.Plan).
func (c *Client) LastPID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lastPID
}

// Err is nil while a keeper is there, else why there is none. Terminals run on meanwhile, but no new one starts, and
// they end with this process.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		return nil
	}
	return c.lastErr
}

// Stats are what the metrics tell of the keeper.
type Stats struct {
	Connected bool
	Losses    uint64 // keepers that went away since Connect
	Held      int    // terminals and programs that the keeper holds for this client
}

// Stats are the state of the connection.
func (c *Client) Stats() Stats {
	held := len(c.held.all())
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{c.link != nil, c.losses, held}
}

// Close disconnects from the keeper, which goes on holding. What Take and Start returned stays usable until its owner
// closes it; what was not taken is closed here. Calls that are under way end with ErrClosed. Closing again does
// nothing. It always returns nil.
func (c *Client) Close() error {
	c.cancel()
	c.mu.Lock()
	if c.link != nil {
		c.link.Close()
	}
	c.mu.Unlock()
	<-c.done
	c.held.orphan() // their exits come from the kernel from now on
	c.held.close()
	return nil
}
