package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/evertty/evertty/internal/datadir"
)

// Write writes a backup of the data directory dir, which a server may be using. It needs room for a second copy of the
// database there, and memory of some MiB and about 100 bytes for each file. Nothing is written to w before the database
// was copied. Errors: ErrChanged, w's, the database's, context.Cause(ctx).
func Write(ctx context.Context, w io.Writer, dir, release string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	defer root.Close()
	db, err := copyDatabase(ctx, root)
	if err != nil {
		return fmt.Errorf("backup: database: %w", datadir.NoSpace(err))
	}
	if db != nil {
		defer db.Close()
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	a := &archive{ctx: ctx, root: root, tar: tar.NewWriter(z)}
	if err := a.write(db, Head{format, release, time.Now().UTC().Truncate(time.Second)}); err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return errors.Join(a.tar.Close(), z.Close())
}

// archive is a backup that is being written.
type archive struct {
	ctx  context.Context
	root *os.Root // the data directory
	tar  *tar.Writer
	sums bytes.Buffer // the last entry
}

func (a *archive) write(db *os.File, head Head) error {
	b, err := json.Marshal(head)
	if err == nil {
		err = a.text(headName, b)
	}
	if err != nil {
		return err
	}
	for _, part := range parts {
		if part != databaseName {
			err = a.tree(part)
		} else if db != nil {
			err = a.open(part, db)
		}
		if err != nil {
			return err
		}
	}
	return a.text(sumsName, a.sums.Bytes())
}

// text adds an entry that is no file of the directory.
func (a *archive) text(name string, b []byte) error {
	err := a.tar.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(b))})
	if err == nil {
		_, err = a.tar.Write(b)
	}
	return err
}

// tree adds a file, or a directory with all that is in it. What is gone is left out, and so is what is neither.
func (a *archive) tree(name string) error {
	if err := context.Cause(a.ctx); err != nil {
		return err
	}
	info, err := a.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return a.file(name)
	case !info.IsDir():
		return nil
	}
	d, err := a.root.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.Close()
	entries, err := datadir.ReadDir(d)
	if err != nil {
		return err
	}
	err = a.tar.WriteHeader(&tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o700, ModTime: info.ModTime()})
	if err != nil {
		return err
	}
	return a.entries(name+"/", entries)
}

// entries adds what is in a directory. Output comes last: what the other files say of positions in it is true then.
func (a *archive) entries(parent string, entries []fs.DirEntry) error {
	var segments []uint64
	for _, e := range entries {
		offset, _, data := datadir.SegmentOffset(datadir.DataFile, e.Name())
		_, _, index := datadir.SegmentOffset(datadir.IndexFile, e.Name())
		switch {
		case data && (len(segments) == 0 || segments[len(segments)-1] != offset): // else plain and packed
			segments = append(segments, offset)
		case data || index || datadir.Leftover(e.Name()):
		default:
			if err := a.tree(parent + e.Name()); err != nil {
				return err
			}
		}
	}
	for _, offset := range segments {
		if err := a.segment(parent, offset); err != nil {
			return err
		}
	}
	return nil
}

// segment adds the index and the data of a segment. The size of the index is read first: no record of it is about data
// that are missing. A segment that was dropped is left out.
func (a *archive) segment(parent string, offset uint64) error {
	name := parent + datadir.SegmentFile(datadir.DataFile, offset)
	data, _, err := datadir.OpenFile(a.root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		name += datadir.PackedEnd
		data, _, err = datadir.OpenFile(a.root, name, os.O_RDONLY)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer data.Close()
	if err := a.file(parent + datadir.SegmentFile(datadir.IndexFile, offset)); err != nil {
		return err
	}
	return a.open(name, data)
}

// file adds a regular file, unless it is gone.
func (a *archive) file(name string) error {
	f, _, err := datadir.OpenFile(a.root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return a.open(name, f)
}

// open adds an open file in its size as of now.
func (a *archive) open(name string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	err = a.tar.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: info.Size(), ModTime: info.ModTime(),
		Mode: int64(info.Mode().Perm() & 0o700)})
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(a.tar, sum), io.LimitReader(reader{a.ctx, f}, info.Size()))
	if err == nil && n < info.Size() {
		err = fmt.Errorf("%s: %w", name, ErrChanged)
	}
	fmt.Fprintf(&a.sums, "%x  %s\n", sum.Sum(nil), name)
	return err
}

// reader reads until ctx ends.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}
