package auth

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/evertty/evertty/internal/datadir"
)

// Tickets for terminals and shares outlive the server in DIR/tickets and DIR/shares, which have one line of JSON for
// each issue and each use. A line is appended before the reply, so no secret gets another use by a kill. The files
// have digests of secrets only. They are rewritten at a start, when one ends, and when they are full.

const (
	// secretFormat is the version in the first line; a file of another one is not read.
	secretFormat = 1
	// maxSecretFile is the size at which a file is rewritten, in bytes; all live tickets take 1 MiB.
	maxSecretFile = 4 << 20
	// maxSecretLine bounds a line, in bytes: a share with long names has 700.
	maxSecretLine = 4 << 10
)

// secretHead is the first line. Of is a digest of the token and the epoch of logins: with another one the
// secrets end.
type secretHead struct {
	Format int    `json:"format"`
	Of     string `json:"of"`
}

// secretJournal is such a file, open for appending. The lock of the secrets guards it.
type secretJournal struct {
	dir, name string
	token     string
	of        string
	file      *os.File // nil when it could not be written: then there is no file
	size      int64
}

// newSecretJournal returns the journal of that name in a directory for secrets of the given token and epoch.
// rewrite creates its file.
func newSecretJournal(dir, name, token, epoch string) *secretJournal {
	j := &secretJournal{dir: dir, name: name, token: token}
	j.bind(epoch)
	return j
}

// bind makes the next rewrite one for secrets of this epoch.
func (j *secretJournal) bind(epoch string) {
	of := DigestOf(j.name + " of " + j.token + epoch)
	j.of = hex.EncodeToString(of[:])
}

// load gives apply each line of the file, until one is invalid: the server was killed during its write, before the
// reply.
func (j *secretJournal) load(apply func(line []byte) bool) error {
	err := withDir(j.dir, func(d *os.Root) error {
		f, _, err := datadir.OpenFile(d, j.name, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		readSecrets(io.LimitReader(f, 2*maxSecretFile), j.of, apply)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// readSecrets gives apply the lines of a file behind its head, if that is ours.
func readSecrets(r io.Reader, of string, apply func(line []byte) bool) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, maxSecretLine), maxSecretLine)
	var head secretHead
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.Format != secretFormat || head.Of != of {
		return
	}
	for lines.Scan() && apply(lines.Bytes()) { // all of it: what follows may be uses
	}
}

// rewrite replaces the file by one with these lines, atomically. After a failure there is no file, and
// the secrets end with this server.
func (j *secretJournal) rewrite(lines iter.Seq[any]) error {
	j.close()
	temporary := "." + j.name + "-new"
	err := withDir(j.dir, func(d *os.Root) (err error) {
		if j.file, err = datadir.CreateFile(d, temporary); err != nil {
			return err
		}
		if err = j.write(lines); err == nil {
			err = d.Rename(temporary, j.name)
		}
		if err != nil {
			return errors.Join(err, d.RemoveAll(temporary))
		}
		return datadir.SyncDir(d) // secrets that have ended must not come back
	})
	if err != nil {
		return j.fail(err)
	}
	return nil
}

// write writes the head and lines to the new file, and syncs it.
func (j *secretJournal) write(lines iter.Seq[any]) error {
	w := bufio.NewWriter(j.file)
	out := json.NewEncoder(w)
	err := out.Encode(secretHead{secretFormat, j.of})
	for line := range lines {
		if err == nil {
			err = out.Encode(line)
		}
	}
	if err = errors.Join(err, w.Flush(), j.file.Sync()); err != nil {
		return err
	}
	j.size, err = j.file.Seek(0, io.SeekEnd)
	return err
}

// fail closes and removes the file: secrets on disk must not have more uses than they have left.
func (j *secretJournal) fail(err error) error {
	j.close()
	gone := withDir(j.dir, func(d *os.Root) error { return d.Remove(j.name) })
	if !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return fmt.Errorf("server: %s end with this server: %w", j.name, err)
}

func (j *secretJournal) close() {
	if j.file != nil {
		_ = j.file.Close()
		j.file = nil
	}
}

// add appends a line. all are the lines of a file that is written anew, after it; last says that the line uses a secret
// up.
func (j *secretJournal) add(line any, last bool, all iter.Seq[any]) error {
	if j.file == nil || j.size > maxSecretFile {
		return j.rewrite(all)
	}
	b, err := json.Marshal(line)
	if err != nil {
		return err // never: it has texts and numbers only
	}
	n, err := j.file.Write(append(b, '\n'))
	j.size += int64(n)
	if err == nil && last {
		err = j.file.Sync() // one that is used up must not come back after a power cut either
	}
	if err != nil {
		return j.fail(err)
	}
	return nil
}

// keyIn is the digest that a line has in hexadecimal, and false for anything else.
func keyIn(hexadecimal string) (key digest, ok bool) {
	if len(hexadecimal) != hex.EncodedLen(len(key)) {
		return key, false
	}
	_, err := hex.Decode(key[:], []byte(hexadecimal))
	return key, err == nil
}
