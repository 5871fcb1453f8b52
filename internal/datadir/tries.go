package datadir

import (
	"fmt"
	"strings"
)

// triesFile names what a server was doing with the files of a terminal when it ended, and how often.
const triesFile = "tries"

// maxTriesFile bounds the file, in bytes.
const maxTriesFile = 1 << 10

// Tries is how many times what was begun with the files of id and not ended, because the server ended
// first. 0 also when that cannot be read.
func (s *Store) Tries(id, what string) (n int) {
	d, err := s.Open(id)
	if err != nil {
		return 0
	}
	defer d.Close()
	b, _ := ReadFile(d, triesFile, maxTriesFile)
	if count, of, ok := strings.Cut(strings.TrimSuffix(string(b), "\n"), " "); ok && of == what {
		_, _ = fmt.Sscan(count, &n)
	}
	return n
}

// BeginTry notes that what begins, as the n-th try. A kill of the process leaves the note; it is not
// synced, so a crash of the machine may not. On a full disk there is none.
func (s *Store) BeginTry(id, what string, n int) {
	if d, err := s.Open(id); err == nil {
		defer d.Close()
		if f, err := CreateFile(d, triesFile); err == nil {
			_, _ = fmt.Fprintf(f, "%d %s\n", n, what)
			_ = f.Close()
		}
	}
}

// EndTry notes that what was begun has ended.
func (s *Store) EndTry(id string) {
	if d, err := s.Open(id); err == nil {
		defer d.Close()
		_ = d.Remove(triesFile)
	}
}
