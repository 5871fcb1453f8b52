package terminal

import (
	"context"
	"maps"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/terminal/echo"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
)

// program is the process on the terminal and the way of its bytes. Its goroutine run owns the output; process, pipe and
// input are set before the terminal is published.
type program struct {
	t *Terminal

	// The process, the way of its output and the way of its input; nil when the terminal had ended
	// before this server started.
	process  *pty.Process
	pipe     *pty.Pipe
	input    *input
	resizing sync.Mutex    // held over the PTY's and the hub's resize, so that both have one size
	ahead    ahead         // what the journal has and the screen has not
	rested   atomic.Uint64 // where the journal noted the end of a sequence last
	started  func()        // ends what lifetime.Start began
	ended    chan struct{} // closed when the program has ended and all output was applied

	limitsBy     string // see wire.Terminal
	killedBefore int    // by the kernel for want of memory, before the program started or this server did

	// What a wait needs to know to tell a prompt, and echo, from other output.
	typed   echo.Typed
	mark    atomic.Pointer[PromptMark]
	flooded atomic.Int64 // when a read last filled idleBuffer, in ns since 1970

	// An unfinished line is on disk too, so that the next server does not take it for empty.
	typedKeeping sync.Mutex
	typedKept    atomic.Pointer[echo.Unfinished] // what is on disk; nil is the zero value; written under typedKeeping
	typedDue     atomic.Bool                     // a goroutine is about to call keepTyped

	// A program may change its directory after its last output, so it is read again later.
	cwdLate    atomic.Bool // the last call of maintain found activity
	cwdChecked time.Time   // when show last read the directory; owned by who shows

	resting atomic.Bool // run shall end until there is output
	loose   int         // bytes of output since the terminal was added to Registry.loose; owned by who shows
}

// Process is the program; nil when it had ended before this server started.
func (p *program) Process() *pty.Process { return p.process }

// Done is closed when the program has ended and all of its output was applied.
func (p *program) Done() <-chan struct{} { return p.ended }

// start starts the program. The record is there before: a server that is killed in between leaves a terminal that is
// lost, never a program without a record. A crash of the machine ends the program too, so what makes the record
// durable goes on meanwhile; start returns after it.
func (p *program) start(s Spec) error {
	store := p.t.registry.cfg.Store
	replaced := p.t.writeRecordBy(store.ReplaceMeta)
	synced := make(chan error, 1)
	go func() {
		if replaced == nil {
			synced <- store.SyncMeta(p.t.ID)
		}
		close(synced)
	}()
	err := p.startInKeeper(s)
	if failed := <-synced; failed != nil {
		p.t.failed(recordFailure, failed)
	}
	return err
}

func (p *program) startInKeeper(s Spec) error {
	spec, err := p.command(s)
	if err != nil {
		return err
	}
	k, err := p.t.registry.cfg.Keeper.Start(p.KeeperID(), spec)
	if err != nil {
		p.t.registry.hooks.DropProgram(p.t)
		return err
	}
	p.setProcess(k)
	p.t.RefreshCwd()
	return nil
}

// abandon removes the files of a terminal that did not start.
func (p *program) abandon() {
	_ = p.t.journal.Close()
	if p.t.spec.Provider != "" {
		p.t.registry.hooks.Removed(p.t) // Program has made it known before the start
	}
	if err := p.t.removeFiles(); err != nil {
		p.t.registry.NoteCleanup(err)
	}
}

// KeeperID is the keeper's name for the process.
func (p *program) KeeperID() string { return p.t.ID + "." + strconv.Itoa(p.t.generation) }

// setProcess gives the terminal its process, which the keeper holds.
func (p *program) setProcess(k *keeper.Held) {
	p.t.unsynced.Store(true) // the journal's files are new, or have what came from the pipe
	p.process, p.pipe, p.input = k.Process, k.Pipe, p.newInput(k.Process)
	k.Process.Child().Tagged(p.Tag())
	if p.t.registry.cfg.SpliceErr != nil {
		p.pipe.Plain()
	}
}

// command is the process that the keeper starts: the terminal's program, or for one at a
// provider the relay to it.
func (p *program) command(s Spec) (pty.Spec, error) {
	if s.Provider != "" {
		return p.t.registry.hooks.Program(p.t, s)
	}
	env := map[string]string{}
	maps.Copy(env, s.Env)
	maps.Copy(env, Identity(p.t.registry.cfg.Address, p.t.registry.cfg.Socket, s.Session, p.t.ID))
	c, err := p.confined(s)
	return pty.Spec{Argv: s.Cmd, Dir: s.Cwd, Env: env, Cols: *s.Cols, Rows: *s.Rows, Tag: p.Tag(), Confine: c}, err
}

// Identity is pty.Identity with the name of the session that its owner knows.
func Identity(address, socket, session, terminal string) map[string]string {
	_, plain := owner.Split(session)
	return pty.Identity(address, socket, plain, terminal)
}

// HangUp ends all processes of any generation: SIGHUP, then SIGKILL after proc.KillGrace or
// when ctx ends.
func (p *program) HangUp(ctx context.Context) {
	p.t.mu.Lock()
	p.t.killed = true
	p.t.mu.Unlock()
	if p.t.Spec().Restore != nil {
		p.t.saveRecord() // a crash now must not start it again
	}
	if err := p.process.KillTagged(ctx, p.Tag()); err != nil {
		p.t.registry.cfg.Log.Warn("terminal's processes remain", "id", p.t.ID, "error", err)
	}
}

// EndLeftovers is HangUp for a terminal whose own program has ended: it ends the processes
// that any generation has left.
func (p *program) EndLeftovers(ctx context.Context) {
	if err := proc.HangUpTagged(ctx, p.Tag(), p.t.registry.cfg.Keeper.LastPID()); err != nil {
		p.t.registry.cfg.Log.Warn("terminal's processes remain", "id", p.t.ID, "error", err)
	}
}

// Tag marks all processes of the terminal: of every generation, under every server.
func (p *program) Tag() uint64 { return TagOf(p.t.registry.cfg.Identity, p.t.ID) }
