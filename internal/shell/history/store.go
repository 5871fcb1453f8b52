package history

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

const (
	// MaxCommands is how many commands of a shell are kept: days of work of an agent, and few
	// enough to read all at a start (20 µs each).
	MaxCommands = 1000
	// maxHistoryBytes bounds the logs that are kept of a shell, in bytes.
	maxHistoryBytes = 1 << 30
	// idDigits is the length of the number in a command's id, which continues after pruning.
	idDigits = 8
	// IDRandom is the number of random characters in an id: 60 bits, so that ids of different
	// shells differ.
	IDRandom = 12
)

// Entry is one command on disk: the last good line of DIR/c/ID/record.json.
type Entry struct {
	Version int     `json:"version"`              // of the form; 0 in memory
	Info    Info    `json:",inline"`              // with Result when it has ended
	Spec    Command `json:"spec"`                 // what Info lacks and a later server needs
	Process int     `json:"incarnation,omitzero"` // of the shell that runs it; 0 while queued
	// Deadline is the end of its timeout; zero without one.
	Deadline time.Time `json:"deadline,omitzero"`
	// PauseCounted is the beginning of the pause that Deadline includes already; zero is none.
	PauseCounted time.Time `json:"rested,omitzero"`
	// Processes are those that were there before the command, or the one that it is: see
	// proctree.FormatStarts.
	Processes string `json:"note,omitempty"`
}

// Shell is a shell on disk, in DIR/shell.json.
type Shell struct {
	Version   int       `json:"version"` // of the form; 0 in memory
	Spec      Spec      `json:",inline"` // Dir is not stored: it is where the record was found
	CreatedAt time.Time `json:"created_at"`
	Process   int       `json:"incarnation"` // the newest that was started, from 1
	FirstEnv  []string  `json:"first"`       // the environment of the first start, KEY=value
}

// Store is the commands of a shell on disk. All methods may be called at the same time from several
// goroutines, but one record is saved by one at a time.
type Store struct {
	root string
	last atomic.Uint64 // the highest number in an id
}

// Open reads the records of a shell directory, oldest first. The error names damaged records
// (errors.Is ErrDamaged); the others are returned all the same. An absent or empty directory has
// none. A command's directory without a record is ignored: the server died before it accepted the
// command.
func Open(dir string) (*Store, []*Entry, error) {
	h := &Store{root: filepath.Join(dir, shelldir.CommandsDir)}
	entries, err := os.ReadDir(h.root) // in the order of names, as they were submitted
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var list []*Entry
	problems := []error{err}
	for _, entry := range entries {
		number, ok := numberIn(entry.Name())
		if !ok || !entry.IsDir() {
			continue
		}
		h.last.Store(max(h.last.Load(), number))
		r, err := h.load(entry.Name())
		switch {
		case err == nil:
			list = append(list, r)
		case !errors.Is(err, fs.ErrNotExist):
			problems = append(problems, err)
		}
	}
	return h, list, errors.Join(problems...)
}

// Next makes the directory DIR/c/ID of a new command and returns its id: 8 digits that count the
// shell's commands and 12 random characters [a-z2-7], so that ids are unique in a server and sort
// in the order of submission. Errors: ErrNoSpace.
func (h *Store) Next() (id string, err error) {
	id = fmt.Sprintf("%0*d%s", idDigits, h.last.Add(1), strings.ToLower(rand.Text()[:IDRandom]))
	if err := shelldir.MakeDir(h.root, h.Dir(id)); err != nil {
		return "", fmt.Errorf("shell: directory of a command: %w", err)
	}
	return id, nil
}

// Dir is the directory of a command.
func (h *Store) Dir(id string) string { return filepath.Join(h.root, id) }

// Save appends a record to its file, as a line with a checksum: after a kill the line before it is
// valid, and nothing has to be synced or renamed, which on some file systems takes as long as a
// short command. Errors: ErrNoSpace.
func (h *Store) Save(r *Entry) error {
	dir := h.Dir(r.Info.ID)
	line, text, err := encodeRecord(*r)
	if err == nil && text != "" {
		err = saveText(filepath.Join(dir, shelldir.TextFile), text)
	}
	if err == nil {
		err = appendLine(filepath.Join(dir, shelldir.RecordFile), line)
	}
	return recordError(r, err)
}

// Replace is Save for a record whose earlier lines must be forgotten: its line becomes the whole
// file.
func (h *Store) Replace(r *Entry) error {
	line, _, err := encodeRecord(*r)
	if err == nil {
		err = shelldir.WriteFile(filepath.Join(h.Dir(r.Info.ID), shelldir.RecordFile), append([]byte{'\n'}, line...))
	}
	return recordError(r, err)
}

func recordError(r *Entry, err error) error {
	if err != nil {
		return fmt.Errorf("shell: record of command %s: %w", r.Info.ID, err)
	}
	return nil
}

// appendLine appends a line to a file. The newline before it ends an incomplete line.
func appendLine(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return shelldir.SpaceError(err)
	}
	_, err = file.Write(append([]byte{'\n'}, line...))
	return shelldir.SpaceError(errors.Join(err, file.Close()))
}

// saveText writes the text of a long command, unless the file has it already. Texts never change.
func saveText(path, text string) error {
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(text)) {
		return nil
	}
	return shelldir.WriteFile(path, []byte(text))
}

// load reads a record. Errors: ErrDamaged, fs.ErrNotExist.
func (h *Store) load(id string) (*Entry, error) {
	content, err := os.ReadFile(filepath.Join(h.Dir(id), shelldir.RecordFile))
	if err != nil {
		return nil, err
	}
	r, err := NewestRecord(content)
	if err == nil && r.Info.ID != id {
		err = fmt.Errorf("%w: it is that of %q", shelldir.ErrDamaged, r.Info.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("shell: record of command %s: %w", id, err)
	}
	if !r.Info.InFile {
		return r, nil
	}
	text, err := os.ReadFile(filepath.Join(h.Dir(id), shelldir.TextFile))
	if err != nil {
		return nil, fmt.Errorf("shell: text of command %s: %w: %w", id, shelldir.ErrDamaged, hideAbsence(err))
	}
	r.Info.Command, r.Info.InFile = string(text), false
	return r, nil
}

// hideAbsence removes fs.ErrNotExist from an error: the record says that the file must exist.
func hideAbsence(err error) error { return errors.New(err.Error()) }

// NewestRecord is the last valid line. Errors: ErrDamaged without one.
func NewestRecord(content []byte) (r *Entry, err error) {
	err = fmt.Errorf("%w: empty", shelldir.ErrDamaged)
	for len(content) > 0 {
		at := bytes.LastIndexByte(content, '\n')
		if line := content[at+1:]; len(line) > 0 {
			if r, err = decodeRecord(line); err == nil {
				return r, nil
			}
		}
		content = content[:max(at, 0)]
	}
	return nil, err
}

// Prune removes the oldest ended commands beyond MaxCommands and maxHistoryBytes from disk and
// returns their ids, oldest first. ended are the commands that it may remove, oldest first; total
// is the number of all. It keeps a directory that cannot be removed.
func (h *Store) Prune(ended []Info, total int) []string {
	var size int64
	for _, info := range ended {
		size += info.StdoutBytes + info.StderrBytes
	}
	var gone []string
	for _, info := range ended {
		if total <= MaxCommands && size <= maxHistoryBytes {
			break
		}
		if os.RemoveAll(h.Dir(info.ID)) != nil {
			continue
		}
		total--
		size -= info.StdoutBytes + info.StderrBytes
		gone = append(gone, info.ID)
	}
	return gone
}

// numberIn is the number in an id.
func numberIn(id string) (uint64, bool) {
	if len(id) < idDigits+IDRandom {
		return 0, false
	}
	digits, random := id[:len(id)-IDRandom], id[len(id)-IDRandom:]
	number, err := strconv.ParseUint(digits, 10, 63)
	return number, err == nil && strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
