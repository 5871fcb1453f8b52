package main

import (
	"errors"
	"net/http"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/client"
)

// Exit codes besides 0 and the child's own.
const (
	exitFailure    = 1
	exitUsage      = 2
	exitNoServer   = 3
	exitNoTerminal = 4
	exitTimeout    = 124 // as timeout(1)
	exitSignal     = 128 // plus the number of the signal, as in shells (POSIX XCU 2.8.2)
)

// codeError ends the program with that code and says nothing.
type codeError int

func (codeError) Error() string { return "" }

// usageError is a mistake in the command line, the environment or the
// configuration file.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

// usage marks err as a mistake of the caller.
func usage(err error) error { return usageError{err} }

// exitCode is what the program ends with after err.
func exitCode(err error) int {
	var code codeError
	var u usageError
	var refused *client.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &u):
		return exitUsage
	case errors.Is(err, client.ErrNoServer):
		return exitNoServer
	case errors.Is(err, client.ErrNotFound):
		return exitNoTerminal
	case errors.Is(err, client.ErrTimeout):
		return exitTimeout
	case errors.As(err, &refused) && refused.Status == http.StatusBadRequest:
		return exitUsage
	}
	return exitFailure
}

// message is what is said about err: one line, "" for nothing.
func message(err error) string {
	if err == nil {
		return ""
	}
	line := strings.TrimPrefix(strings.TrimSpace(err.Error()), "client: ")
	return printable(strings.ReplaceAll(line, "\n", "; "))
}

// childCode is the exit code for how a program ended: its own, 128 and the
// number for a signal, 1 when nobody knows.
func childCode(e *client.Exit) int {
	switch {
	case e == nil:
		return exitFailure
	case e.Signal != "":
		return exitSignal + signalNumber(e.Signal)
	case e.Code == nil:
		return exitFailure
	}
	return *e.Code
}

// signalNumber is the number of TERM or SIGTERM; 0 when there is no such signal.
func signalNumber(name string) int {
	return int(unix.SignalNum("SIG" + strings.TrimPrefix(name, "SIG")))
}

// signalCode is the exit code of a program that ends because of a signal.
func signalCode(s syscall.Signal) codeError { return codeError(exitSignal + int(s)) }
