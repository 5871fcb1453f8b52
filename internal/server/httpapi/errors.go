package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/journal"
	"github.com/evertty/evertty/internal/memory"
	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/shell"
	"github.com/evertty/evertty/internal/shell/registry"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/internal/thread/service"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// Sentinels of this package. Handlers return them wrapped; ErrorTable gives
// each its status and code.
var (
	// ErrReadOnly refuses an effect to a grant that may only look.
	ErrReadOnly = errors.New("this access may only look, not type or change anything")
	// ErrWrongTerminal is a terminal outside the grant. It reads exactly like a
	// terminal that does not exist, so that nobody learns which ids are in use.
	ErrWrongTerminal = errors.New("there is no such terminal")
	// ErrScope refuses what is of the server itself to a user who is no administrator.
	ErrScope = errors.New("this is about the server itself and for its administrators; use the token of one")
	// ErrEnded is why the context of a request ends that was let in by a ticket or a login which has
	// ended meanwhile.
	ErrEnded = errors.New("the ticket or the login that opened this has ended; ask for a new ticket, or run " +
		"`evertty url` on the server and open the printed link")
	// ErrNoUpgrade refuses a request for a WebSocket that is no handshake.
	ErrNoUpgrade = errors.New("this is a WebSocket: connect with an upgrade request")
	// ErrViewerReadOnly is the answer to input of a viewer that may only look.
	ErrViewerReadOnly = errors.New("this viewer may only look: its ticket has the role read")
	// ErrBadMessage wraps what is wrong with a viewer's message.
	ErrBadMessage = errors.New("bad message")
	// ErrCommandsWait refuses a viewer's message while very many of it wait for a program that does
	// not read.
	ErrCommandsWait = errors.New("the program does not read its input, and too much waits for it")
)

// errorRow says how errors that match err (errors.Is) leave the server. The
// message is the error's own text unless message is set.
type errorRow struct {
	Err     error
	Status  int
	Code    string
	message string
}

// ErrorTable is the one place where an error becomes a status. The first row
// that matches wins; an error without a row is 500 INTERNAL. It is only read
// once the server runs.
var ErrorTable = []errorRow{
	{ErrReadOnly, http.StatusForbidden, "READ_ONLY", ""},
	{ErrScope, http.StatusForbidden, "SCOPE", ""},
	{ErrWrongTerminal, http.StatusNotFound, "NOT_FOUND", ErrWrongTerminal.Error()},

	// Before all others: whatever could not be done, this is why.
	{descriptors.ErrExhausted, http.StatusServiceUnavailable, "NO_DESCRIPTORS", ""},
	{memory.ErrFull, http.StatusServiceUnavailable, "NO_MEMORY", ""},
	{unix.EMFILE, http.StatusServiceUnavailable, "NO_DESCRIPTORS",
		"the server, or the keeper of its programs, has no file descriptor left; end something, or start them with a " +
			"higher limit"},
	{unix.ENFILE, http.StatusServiceUnavailable, "NO_DESCRIPTORS", "the system has no file descriptor left"},
	{unix.ENOMEM, http.StatusServiceUnavailable, "NO_MEMORY", "the system has no memory left for this"},

	{terminal.ErrInvalid, http.StatusBadRequest, "VALIDATION", ""},
	{terminal.ErrNotFound, http.StatusNotFound, "NOT_FOUND", ""},
	{terminal.ErrExited, http.StatusConflict, "EXITED", ""},
	{terminal.ErrNameTaken, http.StatusConflict, "NAME_TAKEN", ""},
	{terminal.ErrAmbiguous, http.StatusConflict, "AMBIGUOUS", ""},
	{terminal.ErrTimeout, http.StatusRequestTimeout, "TIMEOUT", ""},
	{terminal.ErrLimit, http.StatusTooManyRequests, "LIMIT", ""},
	{terminal.ErrClosing, http.StatusServiceUnavailable, "CLOSING", ""},
	{terminal.ErrRunning, http.StatusConflict, "RUNNING", ""},
	{terminal.ErrInUse, http.StatusConflict, "IN_USE", ""},
	{terminal.ErrCycle, http.StatusConflict, "CYCLE", ""},
	{terminal.ErrNested, http.StatusConflict, "NESTED", ""},
	{terminal.ErrJournal, http.StatusNotFound, "NO_JOURNAL", ""},

	{registry.ErrNotFound, http.StatusNotFound, "NOT_FOUND", ""},
	{registry.ErrExists, http.StatusConflict, "SESSION_ALREADY_EXISTS", ""},

	{shell.ErrInvalid, http.StatusBadRequest, "VALIDATION", ""},
	{shell.ErrBadEnv, http.StatusBadRequest, "VALIDATION", ""},
	{shell.ErrQueueFull, http.StatusTooManyRequests, "LIMIT", ""},
	{shell.ErrUnended, http.StatusConflict, "RUNNING", ""},
	{shell.ErrMoved, http.StatusConflict, "DIRECTORY_CHANGED", ""},
	{shell.ErrQueueTimeout, http.StatusTooManyRequests, "QUEUE_TIMEOUT", ""},
	{shell.ErrDeleted, http.StatusGone, "SESSION_DESTROYED", ""},
	{shell.ErrNoSpace, http.StatusInsufficientStorage, "NO_SPACE", ""},
	{shell.ErrNoFiles, http.StatusServiceUnavailable, "FIFO_CREATE_FAILED", ""},
	{shell.ErrEnded, http.StatusGone, "SESSION_TERMINATED", ""},
	{shell.ErrNotFound, http.StatusNotFound, "NOT_FOUND", ""},
	{shell.ErrNoStdin, http.StatusConflict, "NO_STDIN", ""},
	{shell.ErrFinished, http.StatusGone, "COMMAND_FINISHED", ""},
	{shell.ErrDamaged, http.StatusInternalServerError, "DAMAGED", ""},
	{shell.ErrClosing, http.StatusServiceUnavailable, "CLOSING", ""},

	{permission.ErrDenied, http.StatusForbidden, "DENIED", ""},
	{permission.ErrNeedsApproval, http.StatusLocked, "NEEDS_APPROVAL", ""},
	{conversation.ErrUnseen, http.StatusConflict, "UNSEEN", ""},
	{conversation.ErrDecided, http.StatusConflict, "DECIDED", ""},

	{service.ErrNoStore, http.StatusServiceUnavailable, "NO_RECORDS", ""},
	{thread.ErrNotFound, http.StatusNotFound, "NOT_FOUND", ""},
	{thread.ErrInvalid, http.StatusBadRequest, "VALIDATION", ""},
	{thread.ErrTransition, http.StatusConflict, "ILLEGAL_TRANSITION", ""},
	{thread.ErrConflict, http.StatusConflict, "ALREADY_EXISTS", ""},
	{thread.ErrInUse, http.StatusConflict, "IN_USE", ""},
	{thread.ErrDeleting, http.StatusConflict, "DELETING", ""},
	{thread.ErrExpired, http.StatusConflict, "SESSION_EXPIRED", ""},
	{thread.ErrBudget, http.StatusTooManyRequests, "BUDGET", ""},
	{thread.ErrNoProvider, http.StatusBadRequest, "VALIDATION", ""},
	{provider.ErrUnsupported, http.StatusNotImplemented, "CAPABILITY", ""}, // before ErrProvider, which wraps it
	{thread.ErrProvider, http.StatusServiceUnavailable, "PROVIDER", ""},
	{thread.ErrNoSpace, http.StatusInsufficientStorage, "NO_SPACE", ""},
	{thread.ErrDamaged, http.StatusInternalServerError, "DAMAGED", ""},

	{conversation.ErrNotFound, http.StatusNotFound, "NOT_FOUND", ""},
	{conversation.ErrInvalid, http.StatusBadRequest, "VALIDATION", ""},
	{conversation.ErrConflict, http.StatusConflict, "ALREADY_EXISTS", ""},
	{conversation.ErrTooLarge, http.StatusRequestEntityTooLarge, "TOO_LARGE", ""},
	{conversation.ErrTooMany, http.StatusTooManyRequests, "LIMIT", ""},

	{provider.ErrNotFound, http.StatusConflict, "ILLEGAL_TRANSITION", ""},
	{provider.ErrNotRunning, http.StatusConflict, "ILLEGAL_TRANSITION", ""},
	{provider.ErrState, http.StatusConflict, "ILLEGAL_TRANSITION", ""},
	{provider.ErrUnreachable, http.StatusServiceUnavailable, "PROVIDER", ""},
	{provider.ErrRefused, http.StatusServiceUnavailable, "PROVIDER", ""},
	{provider.ErrProvider, http.StatusServiceUnavailable, "PROVIDER", ""},

	{keeper.ErrNoKeeper, http.StatusServiceUnavailable, "NO_KEEPER", ""},
	{keeper.ErrClosed, http.StatusServiceUnavailable, "CLOSING", ""},

	{pty.ErrUnsupported, http.StatusNotImplemented, "CAPABILITY", ""},
	{pty.ErrNoCommand, http.StatusBadRequest, "NO_COMMAND", ""},
	{pty.ErrNoDir, http.StatusBadRequest, "NO_DIRECTORY", ""},
	{pty.ErrBadEnv, http.StatusBadRequest, "VALIDATION", ""},
	{pty.ErrBadArg, http.StatusBadRequest, "VALIDATION", ""},
	{pty.ErrBadSize, http.StatusBadRequest, "VALIDATION", ""},
	{pty.ErrBadSignal, http.StatusBadRequest, "VALIDATION", ""},
	{pty.ErrLineTooLong, http.StatusBadRequest, "LINE_TOO_LONG", ""},
	// Not 409: clients repeat such a request by themselves, and what was taken is typed twice.
	{pty.ErrBlocked, http.StatusServiceUnavailable, "INPUT_BLOCKED", ""},
	{pty.ErrNoPTY, http.StatusServiceUnavailable, "NO_PTY", ""},
	{proc.ErrSurvived, http.StatusInternalServerError, "SURVIVED", ""},

	{vt.ErrUnknownKey, http.StatusBadRequest, "VALIDATION", ""},
	{vt.ErrBadMouse, http.StatusBadRequest, "VALIDATION", ""},
	{ErrBadMessage, http.StatusBadRequest, "VALIDATION", ""},
	{ErrEnded, http.StatusUnauthorized, "UNAUTHORIZED", ""},
	{ErrNoUpgrade, http.StatusUpgradeRequired, "UPGRADE_REQUIRED", ""},
	{ErrViewerReadOnly, http.StatusForbidden, "READ_ONLY", ""},
	{stream.ErrLooks, http.StatusForbidden, "READ_ONLY", ""},
	{stream.ErrKicked, http.StatusForbidden, "KICKED", ""},
	{stream.ErrEnded, http.StatusConflict, "EXITED", ""},
	{stream.ErrLocked, http.StatusLocked, "LOCKED", ""},
	{stream.ErrNotLocked, http.StatusConflict, "NOT_LOCKED", ""},
	{stream.ErrNoRequest, http.StatusConflict, "NO_REQUEST", ""},
	{stream.ErrManyRequests, http.StatusTooManyRequests, "LIMIT", ""},
	{stream.ErrNoViewer, http.StatusNotFound, "NOT_FOUND", ""},
	{stream.ErrAction, http.StatusBadRequest, "VALIDATION", ""},
	{ErrCommandsWait, http.StatusServiceUnavailable, "INPUT_BLOCKED", ""},
	{journal.ErrNotKept, http.StatusNotFound, "NOT_KEPT", ""},
	{datadir.ErrNoSpace, http.StatusInsufficientStorage, "NO_SPACE", ""},

	{context.Canceled, http.StatusServiceUnavailable, "CANCELED", "the request was given up before it was done"},
	{context.DeadlineExceeded, http.StatusServiceUnavailable, "DEADLINE",
		"the request took longer than the server allows"},
}

// ClipLength bounds what is repeated of a request in messages and logs, in
// bytes: enough to recognise it, too little to flood a log.
const ClipLength = 200

// minRetryAfter goes with every 429; no limit of ours is worth a retry sooner.
const minRetryAfter = time.Second

// RetryDescriptors is what a client is told to wait when there are no descriptors: somebody has to
// end something.
const RetryDescriptors = 5 * time.Second

// RefusedBodyTimeout is how long the rest of a refused request's body may take.
// net/http reads it before the reply leaves, and a client that never sends it,
// which may be one without credentials, must not keep the connection.
const RefusedBodyTimeout = 2 * time.Second

// Error is a refusal with everything the client is told. The cause, when there
// is one, is for the log alone and is never sent.
type Error struct {
	Status     int               // HTTP status, 400..599
	Code       string            // SNAKE_UPPER, what programs compare
	Message    string            // one sentence for a person
	Details    wire.ErrorDetails // more for programs
	RetryAfter time.Duration     // sent in whole seconds, rounded up, when positive

	cause error
}

// NewError makes an Error whose message is formatted like fmt.Sprintf's.
func NewError(status int, code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Message: fmt.Sprintf(format, args...)}
}

// BadRequest is 400 VALIDATION: the request itself is wrong.
func BadRequest(format string, args ...any) *Error {
	return NewError(http.StatusBadRequest, "VALIDATION", format, args...)
}

// Error is the message and the cause, as a log wants it.
func (e *Error) Error() string {
	if e.cause == nil {
		return e.Message
	}
	return e.Message + ": " + e.cause.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.cause }

// WithField returns e with the name of the field that is wrong. It changes e.
func (e *Error) WithField(name string) *Error {
	e.Details.Field = &name
	return e
}

// Because returns e with the cause err. It changes e.
func (e *Error) Because(err error) *Error {
	e.cause = err
	return e
}

// ErrorFor finds what the client is told about err; c names the request.
func ErrorFor(err error, c echo.Context) *Error {
	e := errorFor(err, c)
	if user := reachOf(c).User; user != "" {
		own := *e
		own.Message, own.Details = owner.Conceal(user, e.Message), Shown(c, e.Details)
		return &own
	}
	return e
}

// packageName begins an error of one of the server's own packages, and says nothing to a client.
var packageName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(vt|pty|shell|datadir|journal|snapshot|keeper): `)
})

func errorFor(err error, c echo.Context) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	for _, row := range ErrorTable {
		if errors.Is(err, row.Err) {
			message := row.message
			if message == "" {
				message = packageName().ReplaceAllString(err.Error(), "")
			}
			e := NewError(row.Status, row.Code, "%s", message).Because(err)
			if none, ok := errors.AsType[*thread.NoProvider](err); ok {
				e.Details.Providers = none.Known
			}
			if ask, ok := errors.AsType[*permission.NeedsApproval](err); ok {
				e.Details.ApprovalID = ask.ID
			}
			if wrong, ok := errors.AsType[*terminal.Invalid](err); ok {
				e.Details.Field = &wrong.Field
			}
			if taken, ok := errors.AsType[*terminal.NameTaken](err); ok {
				e.Details.ID = taken.ID
			}
			if several, ok := errors.AsType[*terminal.Ambiguous](err); ok {
				e.Details.Choices = several.Choices
			}
			if blocked, ok := errors.AsType[*terminal.Blocked](err); ok {
				e.Details.Bytes, e.Details.Seq = &blocked.Bytes, &blocked.Seq
			}
			if long, ok := errors.AsType[*pty.LineTooLong](err); ok {
				e.Details.Bytes, e.Details.Limit = &long.Bytes, pty.MaxLine
			}
			return e
		}
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return errorTooLarge(tooLarge.Limit)
	}
	if routed, ok := errors.AsType[*echo.HTTPError](err); ok && routed.Code < http.StatusInternalServerError {
		return errorOfEcho(routed, c)
	}
	return NewError(http.StatusInternalServerError, "INTERNAL",
		"the server failed at this request; its log says why under the request id").Because(err)
}

// errorTooLarge is 413 for a body over limit bytes.
func errorTooLarge(limit int64) *Error {
	return ErrorTooLarge(limit, "the body is larger than the %d bytes this request may carry", limit)
}

// ErrorTooLarge is 413 with a limit.
func ErrorTooLarge(limit int64, format string, args ...any) *Error {
	e := NewError(http.StatusRequestEntityTooLarge, "TOO_LARGE", format, args...)
	e.Details.Limit = int(limit)
	return e
}

// errorOfEcho gives the framework's own refusals our shape.
func errorOfEcho(routed *echo.HTTPError, c echo.Context) *Error {
	method, path := Clip(c.Request().Method), Clip(c.Request().URL.Path)
	switch routed.Code {
	case http.StatusNotFound:
		return NewError(routed.Code, "NOT_FOUND", "no such route: %s %q; GET / lists them", method, path)
	case http.StatusMethodNotAllowed:
		allow := c.Response().Header().Get(echo.HeaderAllow)
		e := NewError(routed.Code, "METHOD_NOT_ALLOWED", "%q does not take %s; it takes %s", path, method, allow)
		e.Details.Allow = strings.Split(allow, ", ")
		return e
	case http.StatusUnsupportedMediaType:
		return errorMediaType(c.Request().Header.Get(echo.HeaderContentType))
	case http.StatusRequestEntityTooLarge:
		return errorTooLarge(MaxBody)
	case http.StatusBadRequest:
		return BadRequest("%v", routed.Message)
	}
	code := strings.ToUpper(strings.ReplaceAll(http.StatusText(routed.Code), " ", "_"))
	return NewError(routed.Code, code, "%v", routed.Message)
}

// noFailures are refusals by the server that nobody has to look into: it leaves, was asked for
// what it never had, or a program does not read.
var noFailures = []string{"CLOSING", "NO_DESCRIPTORS", "NO_MEMORY", "CAPABILITY", "INPUT_BLOCKED"}

// HandleError is the server's echo.HTTPErrorHandler: it logs the cause of a
// failure of ours once, with the request id, and sends the rest. A response that already began is
// left alone, and a HEAD gets no body.
func HandleError(err error, c echo.Context) {
	e := ErrorFor(err, c)
	id := c.Response().Header().Get(echo.HeaderXRequestID)
	gone := c.Request().Context().Err() != nil
	if e.Status >= http.StatusInternalServerError && !slices.Contains(noFailures, e.Code) && !gone {
		slog.Error("request failed", "request_id", id, "status", e.Status, "method", Clip(c.Request().Method),
			"url", RedactURL(c.Request().URL), "error", err)
	}
	if c.Response().Committed {
		return
	}
	if err := writeError(c, e, id); err != nil && !gone {
		slog.Warn("error response not sent", "request_id", id, "error", err)
	}
}

// writeError sends e as JSON, or as a page to a browser that has to log in.
func writeError(c echo.Context, e *Error, id string) error {
	if c.Request().ContentLength != 0 {
		deadline := time.Now().Add(RefusedBodyTimeout)
		_ = http.NewResponseController(c.Response()).SetReadDeadline(deadline) // not every writer has deadlines
	}
	header := c.Response().Header()
	wait := e.RetryAfter
	if e.Code == "NO_DESCRIPTORS" || e.Code == "NO_MEMORY" {
		wait = max(wait, RetryDescriptors)
	}
	if e.Status == http.StatusTooManyRequests {
		wait = max(wait, minRetryAfter)
	}
	if wait > 0 {
		header.Set(echo.HeaderRetryAfter, strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	header.Set(echo.HeaderCacheControl, "no-store")
	if e.Code == "NO_DESCRIPTORS" { // an idle connection would keep one from what runs
		header.Set(echo.HeaderConnection, "close")
	}
	switch {
	case IsHead(c):
		header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
		if e.Status == http.StatusUnauthorized && WantsHTML(c.Request()) {
			header.Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
		}
		return c.NoContent(e.Status)
	case e.Status == http.StatusUnauthorized && WantsHTML(c.Request()):
		return c.HTML(e.Status, loginPage(c.Request().URL.Path))
	}
	body := BodyOf(e)
	if e.Status == http.StatusInternalServerError {
		body.Details.RequestID = id
	}
	return c.JSON(e.Status, body)
}

// Clip returns at most ClipLength bytes of s, with … for the rest.
func Clip(s string) string { return ClipTo(s, ClipLength) }

// ClipTo is Clip to another length, in bytes.
func ClipTo(s string, length int) string {
	if len(s) <= length {
		return s
	}
	return strings.ToValidUTF8(s[:length], "") + "…"
}

// BodyOf is the body of a refusal; it may stand inside a reply that has begun.
func BodyOf(e *Error) wire.Error {
	return wire.Error{Error: e.Message, Code: e.Code, ApprovalID: e.Details.ApprovalID, Details: e.Details}
}

// RowOf is the row of the table for exactly this sentinel, or what an *Error says of itself.
func RowOf(sentinel error) (row errorRow, ok bool) {
	if own, ok := sentinel.(*Error); ok { //nolint:errorlint // the value itself, not one that would match it
		return errorRow{Err: own, Status: own.Status, Code: own.Code}, true
	}
	for _, row := range ErrorTable {
		if row.Err == sentinel { //nolint:errorlint // likewise
			return row, true
		}
	}
	return row, false
}
