package httpapi

import (
	"context"
	"net/http"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/memory"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
)

// Sets of sentinels that routes refuse with, for Route.Refusing. An *Error stands for what a handler makes itself.
var (
	Absent    = []error{terminal.ErrNotFound}                        // no such terminal, shell or command
	Named     = []error{terminal.ErrNotFound, terminal.ErrAmbiguous} // as a path or body names a terminal
	Approved  = []error{permission.ErrNeedsApproval}
	Ended     = []error{terminal.ErrExited}
	TimedOut  = []error{terminal.ErrTimeout}
	NotKept   = []error{terminal.ErrJournal, journal.ErrNotKept}
	NotRead   = []error{terminal.ErrJournal, &Error{Status: http.StatusGone, Code: "NOT_KEPT"}} // from a position on
	NotShown  = []error{terminal.ErrCycle, terminal.ErrNested}
	NoUpgrade = []error{ErrNoUpgrade}
	NoFile    = []error{&Error{Status: http.StatusNotFound, Code: "NOT_FOUND"}} // of the page
	// FileTooLarge is of a file that is read.
	FileTooLarge = []error{&Error{Status: http.StatusRequestEntityTooLarge, Code: "TOO_LARGE"}}
	NoSpace      = []error{datadir.ErrNoSpace}
	Typing       = []error{terminal.ErrExited, pty.ErrLineTooLong, pty.ErrBlocked}

	Shutdown    = []error{terminal.ErrClosing, context.Canceled, context.DeadlineExceeded}
	Untyped     = append([]error{descriptors.ErrExhausted}, Shutdown...)
	Unavailable = append([]error{memory.ErrFull}, Untyped...)
	Starting    = append([]error{pty.ErrNoCommand, pty.ErrNoDir, pty.ErrLineTooLong}, NotStarted...)
	NotStarted  = append([]error{keeper.ErrNoKeeper, shell.ErrNoFiles, pty.ErrNoPTY, unix.ENOMEM}, Unavailable...)
	Locked      = []error{stream.ErrLooks, stream.ErrLocked}
	Controls    = []error{stream.ErrNotLocked, stream.ErrNoRequest, stream.ErrManyRequests, stream.ErrNoViewer,
		stream.ErrEnded}
	NoViewer  = []error{stream.ErrNoViewer}
	NotIdle   = []error{terminal.ErrExited, terminal.ErrInUse}
	NameTaken = []error{terminal.ErrNameTaken, thread.ErrDeleting}
	StillRuns = []error{terminal.ErrRunning, thread.ErrDeleting}

	ShellExists      = []error{registry.ErrExists, thread.ErrDeleting}
	ShellGone        = []error{shell.ErrDeleted, shell.ErrEnded}
	DirectoryChanged = []error{shell.ErrMoved}
	CommandRuns      = []error{shell.ErrUnended}
	CommandFinished  = []error{shell.ErrFinished, shell.ErrDeleted}
	NoStdin          = []error{shell.ErrNoStdin}

	NoThread     = []error{thread.ErrNotFound}
	Lifecycle    = []error{thread.ErrTransition, thread.ErrInUse, thread.ErrExpired, thread.ErrConflict}
	Incapable    = []error{provider.ErrUnsupported}
	NoCompute    = append([]error{thread.ErrProvider, service.ErrNoStore}, Shutdown...)
	NoRecord     = []error{conversation.ErrNotFound}
	RecordExists = []error{conversation.ErrConflict}
	Decided      = []error{conversation.ErrDecided, conversation.ErrUnseen}
)
