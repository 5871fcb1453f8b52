package thread

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evertty/evertty/internal/provider"
)

// Sentinels of the package and of its Stores; the api package maps them to status codes.
var (
	ErrNotFound   = errors.New("not found")
	ErrInvalid    = errors.New("invalid value")
	ErrTransition = errors.New("not possible in this state") // an arrow that the tables of states do not have
	ErrConflict   = errors.New("exists already")
	ErrInUse      = errors.New("in use")
	ErrDeleting   = errors.New("the thread is being deleted")
	ErrExpired    = errors.New("the session has expired") // the next Open makes a new one
	ErrBudget     = errors.New("the session's budget is used up")
	ErrNoProvider = errors.New("no such provider")
	ErrProvider   = errors.New("the provider failed")
	// ErrUnsupported is the error of providers too.
	ErrUnsupported = provider.ErrUnsupported
	ErrNoSpace     = errors.New("no space left for the database")
	ErrDamaged     = errors.New("the database is damaged")
	ErrNewer       = errors.New("the database was written by a newer version")
)

// NoProvider is ErrNoProvider with what would have been understood.
type NoProvider struct {
	Given string
	Known []string // the names of those that are set up, sorted
	Setup string   // how to set up the given one; "" where no server can
}

// Error implements error.
func (e *NoProvider) Error() string {
	if e.Setup != "" {
		return fmt.Sprintf("the provider %q is not set up: %s; this server has %s", e.Given, e.Setup,
			strings.Join(e.Known, ", "))
	}
	return fmt.Sprintf("there is no provider %.80q; this server has %s", e.Given, strings.Join(e.Known, ", "))
}

// Unwrap is ErrNoProvider.
func (e *NoProvider) Unwrap() error { return ErrNoProvider }
