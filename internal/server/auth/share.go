package auth

import (
	"crypto/rand"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/evertty/evertty/internal/server/httpapi"
)

const (
	// shareTTL is how long a share lasts unless asked otherwise.
	shareTTL = time.Hour
	// maxShareTTL is the longest: what somebody has forgotten ends within a month.
	maxShareTTL = 30 * 24 * time.Hour
	// maxShareUses is the highest limit of uses; more is no limit.
	maxShareUses = 1000
	// maxShareName bounds a name, in characters: a line of a list.
	maxShareName = 64
	// maxShares bounds the shares that are kept, about 500 bytes each.
	maxShares = 1000
	// maxSharesOf bounds those of a user who is no administrator, so that nobody takes all.
	maxSharesOf = 100
)

// share is a link. It is never changed but for used and closed.
type share struct {
	id      string
	key     digest // of its secret
	grant   Grant  // PTY or Session is set; Share is id
	name    string // what a person calls it
	by      string // who made it, in the words of the audit log
	created time.Time
	expires time.Time
	limit   int // of uses; 0 is none
	used    int // as far as there is a limit
	closed  bool
}

// spent reports whether its secret opens nothing more before it expires.
func (s *share) spent() bool { return s.closed || s.limit > 0 && s.used >= s.limit }

// shares are the links that are kept: those that may open something, and those whose viewers are still there. They
// outlive the server, see secretJournal. It is safe for concurrent use.
type shares struct {
	now func() time.Time
	log *slog.Logger
	// there reports whether a terminal is there: its shares go with it.
	there func(pty string) bool

	mu      sync.Mutex
	bySec   map[digest]*share
	byID    map[string]*share
	key     []byte         // of cookies
	token   string         // which the key is made of
	journal *secretJournal // nil keeps nothing
	failed  bool           // the last write failed, and the log has it
}

func newShares(now func() time.Time, log *slog.Logger, there func(pty string) bool) *shares {
	s := &shares{now: now, log: log, there: there, bySec: map[digest]*share{}, byID: map[string]*share{}}
	s.key = shareKey("", "")
	return s
}

// keep loads the shares of an earlier server from dir and writes changes there from now on. It drops those of a server
// with another token, and of an earlier epoch of logins; both may be "".
func (s *shares) keep(dir, token, epoch string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.token, s.key = token, shareKey(token, epoch)
	s.journal = newSecretJournal(dir, shareFile, token, epoch)
	if err := s.journal.load(s.apply); err != nil {
		s.log.Warn("the shares of the server before are lost", "error", err)
	}
	s.sweep(nil)
	s.said(s.journal.rewrite(s.lines()))
}

// put adds a share. The lock is held.
func (s *shares) put(one *share) { s.bySec[one.key], s.byID[one.id] = one, one }

// drop takes one off. The lock is held.
func (s *shares) drop(one *share) {
	delete(s.bySec, one.key)
	delete(s.byID, one.id)
}

// said logs the first failure of a series. The lock is held.
func (s *shares) said(err error) {
	if err != nil && !s.failed {
		s.log.Warn("shares cannot be written to the disk", "error", err)
	}
	s.failed = err != nil
}

// rewrite writes all of them. The lock is held.
func (s *shares) rewrite() {
	if s.journal != nil {
		s.said(s.journal.rewrite(s.lines()))
	}
}

// append writes a line about one. The lock is held.
func (s *shares) append(l shareLine, last bool) {
	if s.journal != nil {
		s.said(s.journal.add(l, last, s.lines()))
	}
}

// sweep forgets those that have expired and have no viewers, and those whose terminal is gone. The lock is held.
func (s *shares) sweep(viewers map[string]int) {
	now := s.now().Round(0)
	for id, one := range s.byID {
		pty := one.grant.PTY
		if !now.Before(one.expires) && viewers[id] == 0 || pty != "" && !s.there(pty) {
			s.drop(one)
		}
	}
}

// issue adds a share and returns its secret; its id, key and dates are set here. viewers are how many each share has.
// Errors: 429 LIMIT.
func (s *shares) issue(one share, ttl time.Duration, viewers map[string]int) (secret string, made share, err error) {
	secret = NewSecret()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(viewers)
	most, has := maxShares, len(s.byID)
	if owner := one.grant.Owner(); owner != "" && has < most {
		most, has = maxSharesOf, 0
		for _, other := range s.byID {
			if other.grant.User == owner {
				has++
			}
		}
	}
	if has >= most {
		return "", share{}, httpapi.NewError(http.StatusTooManyRequests, "LIMIT",
			"%d links are kept, which is the most; revoke one that nobody needs", has)
	}
	one.id, one.key, one.created = rand.Text(), DigestOf(secret), s.now().Round(0)
	one.expires, one.grant.Share = one.created.Add(ttl), one.id
	s.put(&one)
	s.append(lineOf(&one), false)
	return secret, one, nil
}

// ofSecret is the share of a secret that opens something now, and false if there is none.
func (s *shares) ofSecret(secret string) (share, bool) { return s.look(secret, false) }

// use is ofSecret, and uses it once. What is on disk has the use when it returns.
func (s *shares) use(secret string) (share, bool) { return s.look(secret, true) }

func (s *shares) look(secret string, use bool) (share, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.bySec[DigestOf(secret)]
	if one == nil || one.spent() || !s.lasts(one) {
		return share{}, false
	}
	if use && one.limit > 0 {
		one.used++
		s.append(shareLine{Digest: lineOf(one).Digest, Use: true}, one.spent())
	}
	return *one, true
}

// lasts reports whether a share has not expired and its terminal is there. The lock is held.
func (s *shares) lasts(one *share) bool {
	return s.now().Round(0).Before(one.expires) && (one.grant.PTY == "" || s.there(one.grant.PTY))
}

// end ends the shares that match, and returns their ids. What is on disk has ended when it returns.
func (s *shares) end(matches func(*share) bool) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, one := range s.byID {
		if matches(one) {
			s.drop(one)
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		s.rewrite()
	}
	return ids
}

// shut has a share open nothing more, for its secret and for its cookies. What it has opened stays.
func (s *shares) shut(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.byID[id]; one != nil && !one.closed {
		one.closed = true
		s.rewrite()
	}
}

// restart ends all shares, and binds the next ones to an epoch of logins.
func (s *shares) restart(epoch string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bySec, s.byID = map[digest]*share{}, map[string]*share{}
	s.key = shareKey(s.token, epoch)
	if s.journal != nil {
		s.journal.bind(epoch)
		s.rewrite()
	}
}

// list is the shares that match, the oldest first. viewers are how many each share has.
func (s *shares) list(viewers map[string]int, matches func(*share) bool) (list []share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(viewers)
	for _, one := range s.byID {
		if matches(one) {
			list = append(list, *one)
		}
	}
	slices.SortFunc(list, func(a, b share) int { return a.created.Compare(b.created) })
	return list
}

// lines are those of all shares. The lock is held.
func (s *shares) lines() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, one := range s.byID {
			if !yield(lineOf(one)) {
				return
			}
		}
	}
}
