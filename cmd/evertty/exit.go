package main

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
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

// ended ends the program as another one has ended, with its exit code.
func ended(code int) error {
	if code == 0 {
		return nil
	}
	return codeError(code)
}

// usageError is a mistake in the command line, the environment or the
// configuration file.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

// usage marks err as a mistake of the caller.
func usage(err error) error { return usageError{err} }

// exitCode is the exit code after err.
func exitCode(err error) int {
	var code codeError
	var u usageError
	var refused *client.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &u), errors.Is(err, client.ErrAmbiguous):
		return exitUsage
	case errors.Is(err, client.ErrNoServer), endedEarly(err):
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

// packageNames takes out names of packages, which say nothing to a person.
var packageNames = strings.NewReplacer(": client: ", ": ", ": datadir: ", ": ")

// message is the line printed about err, "" for none.
func message(err error) string {
	if err == nil {
		return ""
	}
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == http.StatusUnauthorized {
		return printable(unauthorized())
	}
	if endedEarly(err) {
		return "no server: it ended before it answered; what was asked for may be done"
	}
	line := strings.TrimPrefix(packageNames.Replace(": "+strings.TrimSpace(err.Error())), ": ")
	return printable(strings.ReplaceAll(line, "\n", "; ") + hint(err))
}

// endedEarly reports whether the server went away between a request and its reply.
func endedEarly(err error) bool {
	_, ok := errors.AsType[*url.Error](err)
	return ok && (errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF))
}

// unauthorized says why the token is refused and where the right one goes. The
// sentence of the server is for those who send requests themselves.
func unauthorized() string {
	what := "the server wants its token"
	if file := os.Getenv(envTokenFile); file != "" {
		what = "the token in " + file + " is not this server's"
	}
	return what + "; set " + envTokenFile +
		" to a copy of the file token in the server's data directory, or --data-dir to that directory"
}

// hint says how to get around an error at the command line, "" for not at all.
func hint(err error) string {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "; the variable SSL_CERT_FILE names a file with certificates to trust"
	}
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return ""
	}
	switch id := approvalOf(err); {
	case id != "":
		return "; to let it through once: evertty thread approve SESSION " + id + ", and call again"
	case refused.Code == "DENIED":
		return "; evertty thread permissions SESSION shows and changes them"
	}
	return ""
}

// childCode is the exit code for how a program ended: its own, 128 and the
// number for a signal, 1 when unknown.
func childCode(e *wire.Exit) int {
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

// linuxSignals are the signals of a server's programs from number 1 on (signal(7)): other systems have other numbers.
var linuxSignals = strings.Fields("HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD " +
	"CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS")

// signalNumber is the number of TERM or SIGTERM; 0 when there is no such signal.
func signalNumber(name string) int {
	return 1 + slices.Index(linuxSignals, strings.TrimPrefix(name, "SIG"))
}

// signalCode is the exit code of a program that ends because of a signal.
func signalCode(s syscall.Signal) codeError { return codeError(exitSignal + int(s)) }
