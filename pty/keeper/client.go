package keeper

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// Config says which keeper a server wants.
type Config struct {
	// Dir is the data directory. It must exist and be this user's alone.
	Dir string
	// Command is the argv that starts a keeper; Command[0] is absolute. By default this executable, "keeper",
	// "--data-dir", Dir.
	Command []string
	// Release is the one of this binary. A keeper of another release is asked to become Command; whatever Command then
	// says of itself is accepted.
	Release string
	// Log gets what nobody is told otherwise; by default slog.Default().
	Log *slog.Logger
}

// Kept is one terminal that a keeper holds. Its owner closes Process and Pipe, and calls [Client.Release] before that
// or after it; the terminal ends for its programs only when both sides have closed it.
type Kept struct {
	ID      string
	Process *pty.Process
	Pipe    *pty.Pipe
}

// Client is a server's connection to the keeper of its data directory. It finds or starts another keeper when that one
// dies. All methods may be called at the same time from several goroutines. It runs one goroutine until Close, and one
// for every keeper it started until that one ends.
type Client struct {
	config Config
	log    *slog.Logger
	leave  context.CancelFunc // ends the goroutine
	gone   context.Context    // done once Close was called
	done   chan struct{}      // closed when the goroutine has ended
	starts chan struct{}      // holds a value for each start on its way

	mu       sync.Mutex
	link     *link         // nil while there is no keeper
	last     int           // process id of the keeper of the newest link
	change   chan struct{} // closed and replaced when link changes
	trouble  error         // why link is nil
	held     map[string]*entry
	taken    []*Kept         // found at Connect and not yet given to Take
	programs []*Program      // the same for TakePrograms
	late     bool            // Hold or Release found no keeper: the next one was perhaps told everything before
	drop     map[string]bool // ids that a keeper may hold for nobody: to be released when there is a keeper again

	// These belong to whoever attaches: Connect, then the goroutine.
	born int64 // of the keeper whose children held are
	took bool  // what the keeper held at Connect is in held
}

// entry is one thing that the keeper holds, as the client knows it.
type entry struct {
	id, kind string
	child    *pty.Child // nil of KindFiles
	terminal *Kept      // of KindTerminal, else nil
	files    []int      // of the other kinds: duplicates of what is held, for another keeper
	exit     *pty.Exit  // nil while it runs, as far as is known
	pidfd    *os.File   // a duplicate for another keeper once exit is known, when Wait closes the child's own; else nil
}

// end notes how the child ended, before its owner is told. The client's lock is held.
func (k *entry) end(e *pty.Exit) {
	if e == nil || k.exit != nil {
		return
	}
	k.exit = e
	// Without a duplicate (no descriptor left) another keeper does not get this one: it has ended, only its last words
	// could get lost.
	_ = k.child.SyscallConn().Control(func(fd uintptr) {
		if dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			k.pidfd = os.NewFile(uintptr(dup), "pidfd")
		}
	})
}

// forget closes what the client itself has of it. The client's lock is held.
func (k *entry) forget() {
	if k.pidfd != nil {
		_ = k.pidfd.Close()
	}
	protocol.CloseFiles(k.files)
	k.files = nil
}

// Connect finds the keeper of c.Dir or starts one: in its own session, with /dev/null as input and output and
// DIR/keeper.log (truncated) for errors; in c.Dir, so that it keeps no other file system busy. It receives everything
// the keeper holds (see [Client.Take]) and then replaces a keeper of another release. It waits while the keeper serves
// another server. Without a deadline of ctx it gives up after connectTimeout. Errors: ErrNoKeeper, ErrBusy, ErrForeign,
// ErrVersion, the reason of ctx.
func Connect(ctx context.Context, c Config) (*Client, error) {
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("keeper: connect: %w", err)
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, connectTimeout)
		defer cancel()
	}
	k := &Client{
		config: c, log: c.Log, done: make(chan struct{}), starts: make(chan struct{}, maxStarts),
		change: make(chan struct{}), held: map[string]*entry{}, drop: map[string]bool{},
	}
	k.gone, k.leave = context.WithCancel(context.Background())
	l, err := k.attach(ctx)
	if err != nil {
		k.leave()
		k.orphan()
		k.forgetTaken()
		return nil, fmt.Errorf("keeper: connect: %w", err)
	}
	go k.run(l)
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

// Take returns the terminals that the keeper held at Connect, once: they are the caller's from then on. Wait of one
// whose child ended meanwhile tells the true exit once its output was read to the end. Errors: the reason of ctx.
func (c *Client) Take(ctx context.Context) ([]*Kept, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("keeper: take: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.taken
	c.taken = nil
	return list, nil
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

// LastPID is PID, and while there is no keeper that of the last one, which may live all the same. It is for who looks
// for processes by their tag: a keeper has that of a program for the moment in which it starts it (proc.Plan).
func (c *Client) LastPID() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// Trouble is nil while a keeper is there, else the reason why not. Terminals run on meanwhile, but no new one starts,
// and they end with this process.
func (c *Client) Trouble() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		return nil
	}
	return c.trouble
}

// Close leaves the keeper, which goes on holding. What Take and Start returned stays usable until its owner closes it;
// what nobody took is closed here. Calls that are under way end with ErrClosed. Closing again does nothing. Errors:
// none, so far.
func (c *Client) Close() error {
	c.leave()
	c.mu.Lock()
	if c.link != nil {
		c.link.Close()
	}
	c.mu.Unlock()
	<-c.done
	c.orphan() // nobody will tell their owners any more
	c.forgetTaken()
	return nil
}

// forgetTaken closes what nobody took, and forgets the rest.
func (c *Client) forgetTaken() {
	c.mu.Lock()
	list, programs := c.taken, c.programs
	c.taken, c.programs = nil, nil
	for _, k := range c.held {
		k.forget()
	}
	c.mu.Unlock()
	for _, k := range list {
		_ = errors.Join(k.Process.Close(), k.Pipe.Close())
	}
	for _, p := range programs {
		p.close()
	}
}
