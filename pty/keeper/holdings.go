package keeper

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// holdings is everything that the keeper holds for this client. Safe for concurrent use; its lock
// is a leaf, under which only system calls run that cannot wait.
type holdings struct {
	mu       sync.Mutex
	entries  map[string]*entry
	released map[string]bool // ids that a keeper may hold without an owner, to be released there; nil for none

	// Found at Connect and not yet taken.
	terminals []*Held
	programs  []*Program
}

// entry is one thing that the keeper holds. The lock of holdings guards files, exit and pidfd; the
// rest is constant.
type entry struct {
	id, kind string
	child    *pty.Child // nil for KindFiles
	terminal *Held      // for KindTerminal, else nil
	files    []int      // other kinds: duplicates of the files, for another keeper
	exit     *pty.Exit  // nil while it runs, as far as is known
	pidfd    *os.File   // once exit is known: a duplicate for another keeper, because Wait closes the child's own
}

// setExit notes how the child ended, before its owner learns it. The lock of holdings is held.
func (e *entry) setExit(exit *pty.Exit) {
	if exit == nil || e.exit != nil || e.child == nil {
		return
	}
	e.exit = exit
	// Without a duplicate (no descriptor left) another keeper does not get this one: it has ended,
	// so only its last output could get lost.
	_ = e.child.SyscallConn().Control(func(fd uintptr) {
		if dup, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0); err == nil {
			e.pidfd = os.NewFile(uintptr(dup), "pidfd")
		}
	})
}

// close closes the client's own duplicates. The lock of holdings is held.
func (e *entry) close() {
	if e.pidfd != nil {
		_ = e.pidfd.Close()
	}
	protocol.CloseFiles(e.files)
	e.files = nil
}

// has reports whether something is held under id.
func (h *holdings) has(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entries[id] != nil
}

// addFiles notes files that are held from now on, by duplicates. Errors: ErrTaken, EMFILE.
func (h *holdings) addFiles(id string, files []int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.entries[id] != nil {
		return ErrTaken
	}
	own, err := duplicates(files)
	if err == nil {
		h.entries[id] = &entry{id: id, kind: protocol.KindFiles, files: own}
	}
	return err
}

// addStarted notes a program that was started, and its exit when that is known already.
func (h *holdings) addStarted(e *entry, exit *pty.Exit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries[e.id] = e
	e.setExit(exit)
	delete(h.released, e.id)
}

// addFound notes a thing that the keeper held at Connect; program is nil for a terminal.
func (h *holdings) addFound(e *entry, program *Program, exit *pty.Exit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries[e.id] = e
	if program != nil {
		h.programs = append(h.programs, program)
	} else {
		h.terminals = append(h.terminals, e.terminal)
	}
	e.setExit(exit)
}

// exited notes the end of a child, and returns its entry; nil when nothing is held under id.
func (h *holdings) exited(id string, exit *pty.Exit) *entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.entries[id]
	if e != nil {
		e.setExit(exit)
	}
	return e
}

// remove forgets the entry of id.
func (h *holdings) remove(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.entries[id]; e != nil {
		e.close()
		delete(h.entries, id)
	}
}

// addReleased notes that a keeper may hold id without an owner.
func (h *holdings) addReleased(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released == nil {
		h.released = map[string]bool{}
	}
	h.released[id] = true
}

// take empties a field of holdings and returns what was in it: released, terminals or programs.
func take[T any](h *holdings, field *T) (taken T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken, *field = *field, taken
	return taken
}

// all returns copies of the entries.
func (h *holdings) all() (list []entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.entries {
		list = append(list, *e)
	}
	return list
}

// close closes what nobody has taken, and forgets the rest.
func (h *holdings) close() {
	for _, k := range take(h, &h.terminals) {
		_ = errors.Join(k.Process.Close(), k.Pipe.Close())
	}
	for _, p := range take(h, &h.programs) {
		for _, f := range p.Files {
			_ = f.Close()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.entries {
		e.close()
	}
}

// orphan tells all children that nobody reaps them for this process any more.
func (h *holdings) orphan() {
	for _, e := range h.all() {
		if e.child != nil && e.exit == nil {
			e.child.Orphaned()
		}
	}
}

// errGone means that the pidfd of a child is closed, because it was waited for, or that the entry
// was released.
var errGone = errors.New("not held any more")

// withDescriptors calls f with what a keeper holds of an entry, which stays open meanwhile: the
// pidfd, if there is a child, then the files. Errors: pty.ErrClosed, errGone, EMFILE, f's.
func (h *holdings) withDescriptors(e entry, f func(files []int) error) error {
	if e.child == nil {
		return h.withFiles(e, f)
	}
	return h.withFiles(e, func(files []int) error {
		conn := e.child.SyscallConn()
		var err error
		if e.exit != nil {
			conn, err = e.pidfd.SyscallConn() // fails for nil, too
		}
		inner := errGone
		if err == nil {
			_ = conn.Control(func(pidfd uintptr) { inner = f(append([]int{int(pidfd)}, files...)) })
		}
		return inner
	})
}

// withFiles is withDescriptors without the pidfd.
func (h *holdings) withFiles(e entry, f func(files []int) error) error {
	if e.terminal != nil {
		return withTerminal(e.terminal.Process.Master(), e.terminal.Pipe, f)
	}
	h.mu.Lock()
	files, err := []int(nil), errGone
	if now := h.entries[e.id]; now != nil && now.kind == e.kind && now.child == e.child {
		files, err = duplicates(now.files)
	}
	h.mu.Unlock()
	if err != nil {
		return err
	}
	defer protocol.CloseFiles(files)
	return f(files)
}
