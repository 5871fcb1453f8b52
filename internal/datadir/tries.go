package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// triesFile is the file of all tries, at the top of the data directory. To make a file for each try takes longer than
// most of what is tried.
const triesFile = "tries"

const (
	// trySize is the size of a try in the file, in bytes: a line "N ID WHAT", then zeros.
	trySize = 128
	// maxTries bounds the tries in the file. A server makes as many screens at once as there are processors.
	maxTries = 256
)

// tries are what a server was doing with the files of terminals when it ended, and how often. The zero value is ready;
// safe for concurrent use.
type tries struct {
	mu    sync.Mutex
	root  *os.Root // the data directory
	file  *os.File // nil while it cannot be opened
	slots []try    // as in the file
}

type try struct {
	id, what string // "" for a free place
	n        int
}

// Tries is how many times what was begun with the files of id and not ended, because the server ended
// first. 0 also when that cannot be read.
func (s *Store) Tries(id, what string) int {
	t := &s.tries
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.find(id); i >= 0 && t.slots[i].what == what {
		return t.slots[i].n
	}
	return 0
}

// BeginTry notes that what begins, as the n-th try; what is at most 40 bytes. A kill of the process leaves the note; it
// is not synced, so a crash of the machine may not. On a full disk there is none.
func (s *Store) BeginTry(id, what string, n int) {
	t, e := &s.tries, try{id, what, n}
	t.mu.Lock()
	if t.file == nil {
		t.open()
	}
	i := t.place(id)
	if i >= 0 {
		t.slots[i] = e
	}
	file := t.file
	t.mu.Unlock()
	if i >= 0 {
		e.write(file, i)
	}
}

// EndTry notes that what was begun has ended.
func (s *Store) EndTry(id string) {
	t := &s.tries
	t.mu.Lock()
	i, file := t.find(id), t.file
	t.mu.Unlock()
	if i < 0 {
		return
	}
	try{}.write(file, i)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slots[i].id == id {
		t.slots[i] = try{}
	}
}

// place is where id has its place or gets one, -1 when there is none.
func (t *tries) place(id string) int {
	for _, id := range []string{id, ""} {
		if i := t.find(id); i >= 0 {
			return i
		}
	}
	if len(t.slots) == maxTries {
		return -1
	}
	t.slots = append(t.slots, try{})
	return len(t.slots) - 1
}

// find is the place of id, of "" a free one, -1 when there is none.
func (t *tries) find(id string) int {
	return slices.IndexFunc(t.slots, func(e try) bool { return e.id == id })
}

// write writes e to its place in the file, if there is one. No lock is held: a busy disk takes seconds.
func (e try) write(file *os.File, place int) {
	if file == nil {
		return
	}
	var b [trySize]byte
	if e.id != "" {
		copy(b[:], fmt.Sprintf("%d %s %s\n", e.n, e.id, e.what))
	}
	_, _ = file.WriteAt(b[:], int64(place)*trySize)
}

// begin reads the file in the data directory root, without terminals that have gone. Where there is none, the next try
// makes it.
func (t *tries) begin(root, terminals *os.Root) {
	t.root, _ = root.OpenRoot(".") // nil with an error: nothing is counted
	f, _, err := OpenFile(root, triesFile, os.O_RDWR)
	if err != nil {
		return // most often there is none
	}
	t.file = f
	b := make([]byte, maxTries*trySize)
	n, _ := f.ReadAt(b, 0) // up to its end
	for slot := range slices.Chunk(b[:n], trySize) {
		e := parseTry(slot)
		if _, err := terminals.Lstat(e.id); e.id != "" && errors.Is(err, fs.ErrNotExist) {
			e = try{}
		}
		t.slots = append(t.slots, e)
	}
}

// open opens the file, or makes it in the place of anything but a directory.
func (t *tries) open() {
	if t.root == nil {
		return
	}
	f, _, err := OpenFile(t.root, triesFile, os.O_RDWR)
	if info, is := t.root.Lstat(triesFile); err != nil && (is != nil || !info.IsDir()) {
		f, err = CreateFile(t.root, triesFile)
	}
	if err == nil {
		t.file = f
	}
}

// parseTry is the free place for what is no try.
func parseTry(slot []byte) try {
	line, _, ok := bytes.Cut(slot, []byte("\n"))
	part := strings.SplitN(string(line), " ", 3)
	if !ok || len(part) < 3 || !validID().MatchString(part[1]) {
		return try{}
	}
	n, err := strconv.Atoi(part[0])
	if err != nil {
		return try{}
	}
	return try{part[1], part[2], n}
}

func (t *tries) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var err error
	if t.file != nil {
		err = t.file.Close()
	}
	if t.root != nil {
		err = errors.Join(err, t.root.Close())
	}
	return err
}
