package client

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/evertty/evertty/wire"
)

// What errors.Is can ask of the errors of this package.
var (
	ErrNoServer     = errors.New("no server")              // nothing answers, or nothing says where
	ErrNotFound     = errors.New("not found")              // 404: no such terminal
	ErrExited       = errors.New("the program has exited") // 409 EXITED
	ErrTimeout      = errors.New("timeout")                // 408: a wait that found nothing
	ErrUnauthorized = errors.New("not authorized")         // 401, 403: no, wrong or too weak credentials
	ErrNested       = errors.New("inside a terminal")      // 409 NESTED: Inside.Nested is needed
	ErrCycle        = errors.New("inside itself")          // 409 CYCLE: the viewer runs in what it would show
	ErrAmbiguous    = errors.New("ambiguous")              // 409 AMBIGUOUS: several terminals are meant
	ErrClosed       = errors.New("connection closed")      // a stream that ended before its exit event
	ErrKicked       = errors.New("removed by somebody")    // another viewer has ended this one
	ErrLocked       = errors.New("locked")                 // 423 LOCKED: another viewer holds the keyboard
)

// Codes of refusals that mean something here.
const (
	codeExited = "EXITED" // input to a terminal whose program has ended
	codeNested = "NESTED"
	codeCycle  = "CYCLE"
	codeKicked = "KICKED" // of ours: the server has none for a viewer it has ended
	codeLocked = "LOCKED"
	// codeAmbiguous: Details has "choices".
	codeAmbiguous = "AMBIGUOUS"
	// codeBlocked: the program did not read its input; Details has "bytes", what it got, and "seq".
	codeBlocked = "INPUT_BLOCKED"
)

// Error is a refusal of the server. It matches ErrNotFound, ErrExited, ErrTimeout,
// ErrUnauthorized, ErrNested, ErrCycle, ErrKicked, ErrLocked and ErrAmbiguous through errors.Is.
type Error struct {
	Status  int             // HTTP status; 0 when it came on a WebSocket
	Code    string          // SNAKE_UPPER; "" when the reply was not evertty's
	Message string          // one sentence for a person
	Details json.RawMessage // an object, or nil
}

// Error is the server's sentence.
func (e *Error) Error() string { return e.Message }

// Is makes errors.Is match the sentinels of this package.
func (e *Error) Is(target error) bool {
	switch target {
	case ErrNotFound:
		return e.Status == http.StatusNotFound
	case ErrExited:
		return e.Code == codeExited
	case ErrNested:
		return e.Code == codeNested
	case ErrAmbiguous:
		return e.Code == codeAmbiguous
	case ErrCycle:
		return e.Code == codeCycle
	case ErrKicked:
		return e.Code == codeKicked
	case ErrLocked:
		return e.Code == codeLocked
	case ErrTimeout:
		return e.Status == http.StatusRequestTimeout
	case ErrUnauthorized:
		return e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden
	}
	return false
}

// errExpired is the end of a viewer whose ticket or login has ended. To connect again does not help.
func errExpired() error {
	return &Error{Status: http.StatusUnauthorized, Code: "UNAUTHORIZED",
		Message: "the ticket or the login has ended; ask for a new one"}
}

// errKicked is the end of a viewer that somebody has removed. Do not connect again by yourself.
func errKicked() error {
	return &Error{Code: codeKicked, Message: "somebody has removed you from this terminal"}
}

// problemBody is the body of every error reply. Its details stay JSON: a newer server may have more.
type problemBody struct {
	wire.Error
	Details json.RawMessage `json:"details"`
}

// refusal is the error in a body or in an event of a stream.
func (b problemBody) refusal() *Error {
	return &Error{Code: b.Code, Message: b.Error.Error, Details: b.Details}
}

// problem reads an error reply. It does not close the body.
func problem(resp *http.Response) error {
	var b problemBody
	if json.NewDecoder(io.LimitReader(resp.Body, maxProblem)).Decode(&b) != nil {
		b = problemBody{}
	}
	e := b.refusal()
	e.Status = resp.StatusCode
	if e.Message == "" {
		e.Message = fmt.Sprintf("%s answered %s", resp.Request.URL.Redacted(), resp.Status)
	}
	return e
}

// reachable removes net/http's prefix "Get \"http://…\": " from errors that are clear without it.
func reachable(err error) error {
	var u *url.Error
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	if errors.As(err, &u) && (errors.Is(err, ErrNoServer) || u.Timeout() || untrusted) {
		return u.Err
	}
	return fmt.Errorf("client: %w", err)
}
