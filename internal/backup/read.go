package backup

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Check reads a whole backup and compares its sums. Errors: ErrDamaged, ErrNewer, context.Cause(ctx).
func Check(ctx context.Context, f io.ReadSeeker) (Summary, error) {
	const anyRoom = 1 << 62 // bytes
	return read(ctx, f, anyRoom, nil)
}

// read reads a backup from its beginning and compares its sums. At most room bytes come out of it. With to, its files
// are written there.
func read(ctx context.Context, f io.ReadSeeker, room int64, to *os.Root) (Summary, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Summary{}, err
	}
	z, err := zstd.NewReader(reader{ctx, f}, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return Summary{}, err
	}
	defer z.Close()
	limited := &io.LimitedReader{R: z, N: room}
	l := &listing{tar: tar.NewReader(limited), room: room, to: to, sums: sha256.New()}
	if err = l.read(); err == nil {
		var rest int64
		if rest, err = io.Copy(io.Discard, limited); err == nil && rest > 0 {
			err = errors.New("there is something behind its end")
		}
	}
	switch {
	case err == nil:
		return l.summary, nil
	case context.Cause(ctx) != nil:
		return l.summary, context.Cause(ctx)
	case limited.N <= 0:
		err = ErrNoRoom
	case errors.Is(err, ErrNewer), errors.Is(err, ErrNoRoom), errors.As(err, new(*writeError)):
	default:
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return l.summary, err
}

// writeError is an error of the file system that is restored to.
type writeError struct{ error }

func (w *writeError) Unwrap() error { return w.error }

// listing is a backup that is being read.
type listing struct {
	tar     *tar.Reader
	room    int64    // bytes
	to      *os.Root // nil: nothing is written
	sums    hash.Hash
	summary Summary
}

// read reads all entries.
func (l *listing) read() error {
	if err := l.head(); err != nil {
		return err
	}
	for {
		h, err := l.tar.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("its end is missing: %w", io.ErrUnexpectedEOF)
		}
		if err != nil {
			return err
		}
		if h.Name == sumsName {
			return l.end()
		}
		if err := l.entry(h); err != nil {
			return fmt.Errorf("%.200q: %w", h.Name, err)
		}
	}
}

// head reads the first entry.
func (l *listing) head() error {
	h, err := l.tar.Next()
	if err != nil {
		return err
	}
	if h.Name != headName || h.Size > maxHead {
		return fmt.Errorf("it begins with %.200q", h.Name)
	}
	if err := json.NewDecoder(l.tar).Decode(&l.summary.Head); err != nil {
		return err
	}
	if l.summary.Format != format {
		return fmt.Errorf("%w: it has format %d, this program reads %d", ErrNewer, l.summary.Format, format)
	}
	return nil
}

// entry reads a file or directory.
func (l *listing) entry(h *tar.Header) error {
	dir := h.Typeflag == tar.TypeDir
	name := strings.TrimSuffix(h.Name, "/")
	switch {
	case !known(name) || !dir && name != h.Name:
		return errors.New("a backup has no such entry")
	case dir:
		l.summary.add(name, 0, true)
		return l.mkdir(name)
	case h.Typeflag != tar.TypeReg:
		return errors.New("it is neither a file nor a directory")
	}
	l.summary.add(name, h.Size, false)
	if l.summary.Bytes > l.room {
		return fmt.Errorf("%w: it needs %d bytes of %d", ErrNoRoom, l.summary.Bytes, l.room)
	}
	sum := sha256.New()
	if err := l.file(name, h, sum); err != nil {
		return err
	}
	fmt.Fprintf(l.sums, "%x  %s\n", sum.Sum(nil), name)
	return nil
}

func (l *listing) mkdir(name string) error {
	if l.to == nil {
		return nil
	}
	if err := l.to.Mkdir(name, 0o700); err != nil {
		return &writeError{err}
	}
	return nil
}

// file reads a file into sum, and to its place.
func (l *listing) file(name string, h *tar.Header, sum io.Writer) error {
	if l.to == nil {
		_, err := io.Copy(sum, l.tar)
		return err
	}
	mode := os.FileMode(h.Mode)&0o700 | 0o600
	f, err := l.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return &writeError{err}
	}
	out := &fileWriter{f: f}
	_, err = io.Copy(io.MultiWriter(out, sum), l.tar)
	if failed := errors.Join(out.failed, f.Close(), l.to.Chtimes(name, h.ModTime, h.ModTime)); failed != nil {
		return &writeError{failed}
	}
	return err
}

// fileWriter tells errors of writing from those of reading.
type fileWriter struct {
	f      *os.File
	failed error
}

func (w *fileWriter) Write(p []byte) (n int, err error) {
	n, w.failed = w.f.Write(p)
	return n, w.failed
}

// end reads the sums and the end of the archive.
func (l *listing) end() error {
	got := sha256.New()
	if _, err := io.Copy(got, l.tar); err != nil {
		return err
	}
	if want := l.sums.Sum(nil); hex.EncodeToString(got.Sum(nil)) != hex.EncodeToString(want) {
		return errors.New("its files are not the ones of " + sumsName)
	}
	if h, err := l.tar.Next(); err == nil {
		return fmt.Errorf("%.200q is behind its end", h.Name)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
