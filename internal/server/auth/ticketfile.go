package auth

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/evertty/evertty/internal/datadir"
)

// Tickets for terminals outlive the server in DIR/tickets, which has one line of JSON for each issue
// and each use. A line is appended before the reply, so no ticket gets another use by a kill. The
// file has digests of secrets only. It is rewritten at a start and when it is full.

const (
	// ticketFile is its name in the data directory.
	ticketFile = "tickets"
	// newTicketFile is its name until it is whole.
	newTicketFile = ".tickets-new"
	// ticketFormat is the version in its first line; a file of another one is not read.
	ticketFormat = 1
	// maxTicketFile is the size at which the file is rewritten, in bytes; all live tickets take 1 MiB.
	maxTicketFile = 4 << 20
	// maxTicketLine bounds a line, in bytes: a ticket with a long id has 300.
	maxTicketLine = 4 << 10
)

// ticketHead is the first line. Of is a digest of the token and the epoch of logins: with another one the
// tickets end.
type ticketHead struct {
	Format int    `json:"format"`
	Of     string `json:"of"`
}

// ticketLine is an issue, or with Used a use.
type ticketLine struct {
	Digest  string    `json:"digest"`
	PTY     string    `json:"pty,omitempty"`
	User    string    `json:"user,omitempty"` // who made it
	Role    Role      `json:"role,omitempty"`
	Expires time.Time `json:"expires,omitzero"`
	Uses    int       `json:"uses,omitempty"` // left
	Used    bool      `json:"used,omitempty"`
}

// ticketJournal is the file, open for appending. The lock of tickets guards it. A nil one stores nothing.
type ticketJournal struct {
	dir   string
	token string
	of    string
	file  *os.File // nil when it could not be written: then there is no file
	size  int64
}

// newTicketJournal returns the journal of a directory for tickets of the given token and epoch.
// rewrite creates its file.
func newTicketJournal(dir, token, epoch string) *ticketJournal {
	j := &ticketJournal{dir: dir, token: token}
	j.bind(epoch)
	return j
}

// bind makes the next rewrite one for tickets of this epoch.
func (j *ticketJournal) bind(epoch string) {
	of := DigestOf("tickets of " + j.token + epoch)
	j.of = hex.EncodeToString(of[:])
}

// load reads the live tickets. It stops at an invalid line: the server was killed during its write,
// before the reply.
func (j *ticketJournal) load(now time.Time) (live map[digest]*ticket, err error) {
	live = map[digest]*ticket{}
	err = withDir(j.dir, func(d *os.Root) error {
		f, _, err := datadir.OpenFile(d, ticketFile, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		live = readTickets(io.LimitReader(f, 2*maxTicketFile), j.of, now)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return live, err
}

// readTickets reads a file of tickets.
func readTickets(r io.Reader, of string, now time.Time) map[digest]*ticket {
	live := map[digest]*ticket{}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, maxTicketLine), maxTicketLine)
	var head ticketHead
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.Format != ticketFormat || head.Of != of {
		return live
	}
	for lines.Scan() { // all of it: what follows may be uses
		var l ticketLine
		if json.Unmarshal(lines.Bytes(), &l) != nil || !l.apply(live, now) {
			break
		}
	}
	return live
}

// apply updates live by a line and reports whether the line is valid.
func (l ticketLine) apply(live map[digest]*ticket, now time.Time) bool {
	var key digest
	if n, err := hex.Decode(key[:], []byte(l.Digest)); err != nil || n != len(key) ||
		len(l.Digest) != hex.EncodedLen(len(key)) {
		return false
	}
	if l.Used {
		if found := live[key]; found != nil {
			if found.uses--; found.uses <= 0 {
				delete(live, key)
			}
		}
		return true
	}
	if l.PTY == "" || l.Role != Read && l.Role != Write || l.Uses < 1 || l.Uses > maxTicketUses {
		return false
	}
	if now.Before(l.Expires) && !l.Expires.After(now.Add(maxTicketTTL)) { // none lasts longer, whatever the clock was
		live[key] = &ticket{grant: Grant{Role: l.Role, PTY: l.PTY, User: l.User}, expires: l.Expires, uses: l.Uses}
	}
	return true
}

// rewrite replaces the file by one with live, atomically. After a failure there is no file, and
// tickets end with this server.
func (j *ticketJournal) rewrite(live map[digest]*ticket) error {
	j.close()
	err := withDir(j.dir, func(d *os.Root) (err error) {
		if j.file, err = datadir.CreateFile(d, newTicketFile); err != nil {
			return err
		}
		if err = j.write(live); err == nil {
			err = d.Rename(newTicketFile, ticketFile)
		}
		if err != nil {
			return errors.Join(err, d.RemoveAll(newTicketFile))
		}
		return datadir.SyncDir(d) // tickets that have ended must not come back
	})
	if err != nil {
		return j.fail(err)
	}
	return nil
}

// write writes the head and live to the new file, and syncs it.
func (j *ticketJournal) write(live map[digest]*ticket) error {
	w := bufio.NewWriter(j.file)
	lines := json.NewEncoder(w)
	err := lines.Encode(ticketHead{ticketFormat, j.of})
	for key, t := range live {
		if t.grant.PTY != "" && err == nil {
			err = lines.Encode(issueOf(key, t))
		}
	}
	if err = errors.Join(err, w.Flush(), j.file.Sync()); err != nil {
		return err
	}
	j.size, err = j.file.Seek(0, io.SeekEnd)
	return err
}

// fail closes and removes the file: tickets on disk must not have more uses than they have left.
func (j *ticketJournal) fail(err error) error {
	j.close()
	gone := withDir(j.dir, func(d *os.Root) error { return d.Remove(ticketFile) })
	if !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return fmt.Errorf("server: tickets end with this server: %w", err)
}

func (j *ticketJournal) close() {
	if j.file != nil {
		_ = j.file.Close()
		j.file = nil
	}
}

// add appends a line. live has the tickets after it; last says that the line uses a ticket up.
func (j *ticketJournal) add(l ticketLine, last bool, live map[digest]*ticket) error {
	if j.file == nil || j.size > maxTicketFile {
		return j.rewrite(live)
	}
	b, err := json.Marshal(l)
	if err != nil {
		return err // never: it has texts and numbers only
	}
	n, err := j.file.Write(append(b, '\n'))
	j.size += int64(n)
	if err == nil && last {
		err = j.file.Sync() // a ticket that is used up must not come back after a power cut either
	}
	if err != nil {
		return j.fail(err)
	}
	return nil
}

// issueOf returns the line of a new ticket.
func issueOf(key digest, t *ticket) ticketLine {
	return ticketLine{Digest: hex.EncodeToString(key[:]), PTY: t.grant.PTY, User: t.grant.User, Role: t.grant.Role,
		Expires: t.expires.UTC(), Uses: t.uses}
}
