package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReportFD is the descriptor of a report, see Plan.Reports.
const ReportFD = 3

// maxReport bounds a report, in bytes: a sentence with a few paths.
const maxReport = 16 << 10

// report is why a program could not execute another one, on its way through a pipe.
type report struct {
	Text        string        `json:"text"`
	Errno       syscall.Errno `json:"errno,omitempty"`
	Exec        bool          `json:"exec,omitempty"` // execve(2) failed with Errno
	Unsupported bool          `json:"unsupported,omitempty"`
}

// Report writes on ReportFD why a program with Plan.Reports cannot execute the other one; exec says that execve(2)
// itself has failed.
func Report(err error, exec bool) {
	r := report{Text: err.Error(), Exec: exec, Unsupported: errors.Is(err, ErrUnsupported)}
	r.Errno, _ = errors.AsType[syscall.Errno](err)
	text, _ := json.Marshal(r) // cannot fail: strings, numbers
	_, _ = unix.Write(ReportFD, text)
}

// parseReport is the error that was reported.
func parseReport(text []byte) error {
	var r report
	switch err := json.Unmarshal(text, &r); {
	case err != nil:
		return fmt.Errorf("the report of a start: %w", err)
	case r.Exec:
		return execReason(r.Errno)
	case r.Unsupported:
		return &unsupported{r.Text}
	case r.Errno != 0:
		return fmt.Errorf("%s (%w)", r.Text, r.Errno)
	}
	return errors.New(r.Text)
}

// unsupported is ErrUnsupported with a text that says so already.
type unsupported struct{ text string }

func (e *unsupported) Error() string { return e.text }

// Unwrap returns ErrUnsupported.
func (e *unsupported) Unwrap() error { return ErrUnsupported }

// forkReporting is fork for a plan with Reports: it returns when the other program runs.
func (p Plan) forkReporting(files []uintptr, ctty bool) (pid, pidfd int, err error) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return 0, -1, err
	}
	defer unix.Close(pipe[0])
	pid, pidfd, err = p.fork(append(files, uintptr(pipe[1])), ctty)
	_ = unix.Close(pipe[1])
	if err != nil {
		return 0, -1, err
	}
	if text := readReport(pipe[0]); len(text) > 0 {
		KillChild(pid)
		_ = unix.Close(pidfd)
		return 0, -1, parseReport(text)
	}
	return pid, pidfd, nil
}

// readReport reads up to the end of file.
func readReport(fd int) []byte {
	text := make([]byte, maxReport)
	for have := 0; ; {
		n, err := unix.Read(fd, text[have:])
		if err == unix.EINTR {
			continue
		}
		if n <= 0 {
			return text[:have]
		}
		have += n
	}
}
