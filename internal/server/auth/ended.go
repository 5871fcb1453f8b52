package auth

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

const (
	// endedFile is the name in the data directory of the file of logins that have ended.
	endedFile = "logins"
	// endedFormat is its version.
	endedFormat = 1
	// maxEnded bounds the logins in it; one more ends them all.
	maxEnded = 4096
	// maxEndedFile bounds the file, in bytes: maxEnded logins take 500 KiB.
	maxEndedFile = 1 << 20
)

// endedLogins is DIR/logins: the logins that were ended before they expired, as digests, and the epoch,
// which a logout of all changes. Logins of another epoch are invalid.
type endedLogins struct {
	Format int                  `json:"format"`
	Epoch  string               `json:"epoch"` // "" before the first logout of all
	Ended  map[string]time.Time `json:"ended"` // when the login would have expired
	// Epochs are those of users, which a logout of all that a user has changes.
	Epochs map[string]string `json:"epochs,omitempty"`

	dir string
}

// loadEnded reads the file of a directory. No file is no logout; one that is damaged ends all logins,
// because it may have named any.
func loadEnded(dir string, log *slog.Logger) *endedLogins {
	e := &endedLogins{dir: dir}
	b, err := e.read()
	if errors.Is(err, fs.ErrNotExist) {
		return e
	}
	if err == nil {
		err = json.Unmarshal(b, e)
	}
	if err == nil && e.Format == endedFormat {
		return e
	}
	log.Warn("every browser has to log in again, because the file of ended logins is damaged", "error", err)
	e = e.next()
	if err := e.write(); err != nil {
		log.Warn("the logout of all ends with this server", "error", err)
	}
	return e
}

func (e *endedLogins) read() (b []byte, err error) {
	return b, withDir(e.dir, func(d *os.Root) error {
		b, err = datadir.ReadFile(d, endedFile, maxEndedFile)
		return err
	})
}

// withDir opens the data directory for fn, and closes it.
func withDir(dir string, fn func(*os.Root) error) error {
	d, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return fn(d)
}

// next is a new epoch.
func (e *endedLogins) next() *endedLogins { return &endedLogins{Epoch: rand.Text(), dir: e.dir} }

// with is e and one more ended login, nil when there are too many. Expired logins are removed only
// when the file is full: the clock may have been wrong.
func (e *endedLogins) with(id loginID, now time.Time) *endedLogins {
	n := &endedLogins{Epoch: e.Epoch, dir: e.dir, Ended: map[string]time.Time{}, Epochs: e.Epochs}
	maps.Copy(n.Ended, e.Ended)
	n.Ended[endedKey(id)] = now.Add(sessionLife).UTC()
	if len(n.Ended) > maxEnded {
		maps.DeleteFunc(n.Ended, func(_ string, until time.Time) bool { return !now.Before(until) })
	}
	if len(n.Ended) > maxEnded {
		return nil
	}
	return n
}

func (e *endedLogins) has(id loginID) bool {
	_, ok := e.Ended[endedKey(id)]
	return ok
}

func endedKey(id loginID) string {
	d := DigestOf(string(id[:]))
	return hex.EncodeToString(d[:])
}

// write replaces the file, so that a kill at any instant leaves the old one or this.
func (e *endedLogins) write() error {
	e.Format = endedFormat
	err := withDir(e.dir, func(d *os.Root) error {
		return datadir.WriteFileBy(d, endedFile, func(w io.Writer) error { return json.NewEncoder(w).Encode(e) })
	})
	if err != nil {
		return fmt.Errorf("server: the logout ends with this server, because it cannot be written: %w", err)
	}
	return nil
}

// errManyEnded: a login cannot end alone, because the file is full; all have to end.
var errManyEnded = errors.New("too many logins have ended")

// end ends a login at once, and then for the next servers too. Errors: errManyEnded, and the errors
// of datadir.WriteFileBy.
func (s *sessions) end(id loginID, now time.Time) error {
	s.ending.Lock()
	defer s.ending.Unlock()
	next := s.ended.with(id, now)
	if next == nil {
		return errManyEnded
	}
	return s.become(next)
}

// endAll ends every login as end does, and returns the new epoch.
func (s *sessions) endAll() (epoch string, err error) {
	s.ending.Lock()
	defer s.ending.Unlock()
	next := s.ended.next()
	return next.Epoch, s.become(next)
}

// endAllOf ends every login of a user as end does.
func (s *sessions) endAllOf(user string) error {
	s.ending.Lock()
	defer s.ending.Unlock()
	next := *s.ended
	next.Epochs = map[string]string{}
	maps.Copy(next.Epochs, s.ended.Epochs)
	next.Epochs[user] = rand.Text()
	return s.become(&next)
}

// become applies a state and writes it. The caller holds s.ending.
func (s *sessions) become(next *endedLogins) error {
	keys, err := keysOf(s.token, next.Epoch)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.keys, s.ended = keys, next
	s.mu.Unlock()
	return next.write()
}
