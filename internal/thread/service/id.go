package service

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"sync"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/thread"
)

// idForm is what an id from outside may be: safe in a path, a URL and a file name.
var idForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`) })

// What has an owner, whose name may be before the id.
const (
	ofThread = "thread"
	ofLease  = "lease"
)

// checkID refuses an id. Errors: ErrInvalid.
func checkID(what, id string) error {
	if user, plain := owner.Split(id); owner.CheckUser(user) == nil && (what == ofThread || what == ofLease) {
		id = plain
	}
	if !idForm().MatchString(id) || id == "." || id == ".." {
		return fmt.Errorf("%w: %s id %.80q is not 1..64 of A-Z a-z 0-9 . _ -", thread.ErrInvalid, what, id)
	}
	return nil
}

// reserved is the word that stands for the thread whose record was changed last, where a thread is
// named.
const reserved = "latest"

// newStart is how the id of something new begins: one with '-' would be read as an option of a
// command.
var newStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]`) })

// checkStart refuses the id of something that is to be made when it does not begin so. What has
// such an id already keeps it. Errors: ErrInvalid.
func checkStart(what, id string) error {
	_, id = owner.Split(id)
	if id != "" && !newStart().MatchString(id) {
		return fmt.Errorf("%w: %s id %.80q begins with %q: a letter or a digit is allowed there", thread.ErrInvalid,
			what, id, id[:1])
	}
	return nil
}

// checkNew refuses a name for a thread that is to be made. One that was made before the word was
// reserved keeps it. Errors: ErrInvalid.
func checkNew(threadID string) error {
	if err := checkStart("thread", threadID); err != nil {
		return err
	}
	if _, plain := owner.Split(threadID); plain == reserved {
		return fmt.Errorf("%w: a thread cannot be called %s: the name stands for the thread whose record was changed "+
			"last", thread.ErrInvalid, reserved)
	}
	return nil
}

// newID is prefix, "-" and 12 hex digits.
func newID(prefix string) string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	return prefix + "-" + hex.EncodeToString(b[:])
}
