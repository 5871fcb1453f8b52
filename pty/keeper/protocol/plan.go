package protocol

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// A plan travels in a memfd, for it may be megabytes long, as strings that each end with a NUL: path, directory, number
// of arguments, arguments, environment. None of them can hold a NUL, and unlike in JSON all other bytes stay what they
// are.

// WritePlan makes the file of a plan.
func WritePlan(p proc.Plan) (*os.File, error) {
	words := append([]string{p.Path, p.Dir, strconv.Itoa(len(p.Argv))}, p.Argv...)
	words = append(words, p.Env...)
	return MemFD("plan", []byte(strings.Join(words, "\x00")+"\x00"))
}

// MemFD makes a close-on-exec file in memory.
func MemFD(name string, data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("memfd: %w", err)
	}
	f := os.NewFile(uintptr(fd), name)
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// ReadMemFD reads such a file from its start.
func ReadMemFD(fd, limit int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Size > int64(limit) {
		return nil, fmt.Errorf("%w: a file of %d bytes, at most %d are possible", ErrNonsense, st.Size, limit)
	}
	data := make([]byte, st.Size)
	n, err := unix.Pread(fd, data, 0)
	if err != nil {
		return nil, err
	}
	if n != len(data) {
		return nil, io.ErrUnexpectedEOF
	}
	return data, nil
}

// ReadPlan reads the file of a plan. Errors: ErrNonsense.
func ReadPlan(fd int) (proc.Plan, error) {
	data, err := ReadMemFD(fd, maxPlan)
	if err != nil {
		return proc.Plan{}, err
	}
	return parsePlan(data)
}

// parsePlan reads a plan. Errors: ErrNonsense.
func parsePlan(data []byte) (proc.Plan, error) {
	if !bytes.HasSuffix(data, []byte{0}) {
		return proc.Plan{}, fmt.Errorf("%w: plan without an end", ErrNonsense)
	}
	words := strings.Split(string(data[:len(data)-1]), "\x00")
	if len(words) < 3 {
		return proc.Plan{}, fmt.Errorf("%w: plan of %d words", ErrNonsense, len(words))
	}
	n, err := strconv.Atoi(words[2])
	if rest := len(words) - 3; err != nil || n < 1 || n > rest {
		return proc.Plan{}, fmt.Errorf("%w: plan with %.20q arguments", ErrNonsense, words[2])
	}
	return proc.Plan{Path: words[0], Dir: words[1], Argv: words[3 : 3+n], Env: words[3+n:]}, nil
}
