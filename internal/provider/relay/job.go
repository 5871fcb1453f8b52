// Package relay is a local process that stands for a remote one: a command of a shell, or the
// program on a terminal. It has the provider run the remote process and moves bytes, so that
// keeper, journal, queue, logs and recovery work for remote processes as for local ones.
//
// The server that starts one leaves it a file, the Job, whose secrets no other user may read; it is
// removed when it is read.
package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/catalog"
)

// Names in the directory of a job; outcomeFile has its Failure.
const (
	jobFile     = "job"
	outcomeFile = "outcome"
)

// maxJob bounds a Job's file, in bytes: the longest command (shell.MaxText) with every character
// quoted by four takes two thirds of it in base64, and its variables a tenth.
const maxJob = 128 << 20

// Job is what a relay has to do.
type Job struct {
	Settings json.RawMessage `json:"settings"` // provider.Settings.Pack; secrets are in it
	Instance string          `json:"instance"`
	Command  *Command        `json:"command,omitempty"`
	Terminal *Terminal       `json:"terminal,omitempty"`
}

// Command is a command of a shell.
type Command struct {
	Text  Bytes            `json:"text"`
	Cwd   Bytes            `json:"cwd,omitempty"` // of this command alone
	Env   map[string]Bytes `json:"env,omitempty"` // of this command alone
	State string           `json:"state"`         // the file of the shell's state
	Keep  bool             `json:"keep"`          // write it, and ask for other compute when the command did not start
}

// Bytes is text that need not be UTF-8, which JSON's strings are.
type Bytes []byte

// Environ is variables whose values need not be UTF-8.
func Environ(env map[string]string) map[string]Bytes {
	list := make(map[string]Bytes, len(env))
	for k, v := range env {
		list[k] = Bytes(v)
	}
	return list
}

func texts(env map[string]Bytes) map[string]string {
	list := make(map[string]string, len(env))
	for k, v := range env {
		list[k] = string(v)
	}
	return list
}

// Terminal is a program on a terminal, which has the size of the relay's own.
type Terminal struct {
	Argv []Bytes          `json:"argv"`
	Cwd  Bytes            `json:"cwd,omitempty"`
	Env  map[string]Bytes `json:"env,omitempty"`
}

// WriteJob writes a job into a directory, readable by this user alone, at once or not at all.
func WriteJob(dir string, j Job) error {
	path := filepath.Join(dir, jobFile)
	b, err := json.Marshal(j)
	if err == nil {
		err = os.WriteFile(path+".part", b, 0o600)
	}
	if err == nil {
		err = os.Rename(path+".part", path)
	}
	if err != nil {
		return fmt.Errorf("relay: %w", err)
	}
	return nil
}

// takeJob reads a job and removes it, whatever is in it. Errors: fs.ErrNotExist.
func takeJob(dir string) (j Job, err error) {
	path := filepath.Join(dir, jobFile)
	f, err := os.Open(path)
	if err != nil {
		return j, fmt.Errorf("relay: %w", err)
	}
	defer f.Close()
	if err := os.Remove(path); err != nil {
		return j, fmt.Errorf("relay: %w", err)
	}
	if i, err := f.Stat(); err == nil && i.Size() > maxJob {
		return j, fmt.Errorf("relay: the job has %d bytes, but at most %d are allowed", i.Size(), maxJob)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return j, fmt.Errorf("relay: %w", err)
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return j, errors.New("relay: the job is damaged") // the text may hold secrets
	}
	return j, nil
}

// noJob is why there is nothing to do: err, or else a job for something else.
func noJob(what string, err error) error {
	if err == nil {
		err = errors.New("relay: the job is for something else")
	}
	return fmt.Errorf("there is no %s: %w", what, err)
}

// open makes the provider of a job.
func (j Job) open() (provider.Provider, error) {
	s, err := catalog.Unpack(j.Settings)
	if err != nil {
		return nil, err
	}
	return s.Open()
}

// Failure is why a relay could not do its job.
type Failure struct {
	Cannot  bool   `json:"cannot"` // the provider is not able to
	Message string `json:"message"`
}

// Outcome reads what a relay has left in the directory of its job; false when nothing went wrong.
func Outcome(dir string) (f Failure, failed bool) {
	b, err := os.ReadFile(filepath.Join(dir, outcomeFile))
	if errors.Is(err, fs.ErrNotExist) {
		return f, false
	}
	if err == nil {
		err = json.Unmarshal(b, &f)
	}
	if err != nil {
		f.Message = "nobody knows why"
	}
	return f, true
}

// writeFailure leaves why there is no result. What cannot be written is said on standard error.
func writeFailure(dir string, cause error) {
	b, err := json.Marshal(Failure{Cannot: errors.Is(cause, provider.ErrUnsupported), Message: cause.Error()})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, outcomeFile), b, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "evertty:", cause)
	}
}
