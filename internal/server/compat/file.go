package compat

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/permission"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

const (
	// maxFile bounds a file that is read, in bytes: the reply is made in memory.
	maxFile = 10 << 20
	// maxEntries bounds the list of a directory.
	maxEntries = 10_000
)

// done is the reply of calls that have nothing to tell but the path.
func done(path string) wire.CompatFile {
	return wire.CompatFile{Success: true, Timestamp: now(), Path: path}
}

// filePath is a path of a request, with the name of its field.
type filePath struct {
	field string
	path  *string
}

// checkPaths refuses paths that are empty or have NUL characters. Errors: 400.
func checkPaths(paths []filePath) error {
	for _, p := range paths {
		if *p.path == "" || strings.ContainsRune(*p.path, 0) {
			return httpapi.BadRequest("%q: a path without NUL characters is needed", p.field).WithField(p.field)
		}
	}
	return nil
}

// filesFor makes the one or two paths of a request absolute, asks the permissions whether tool may act on them, and
// returns the files that they name. Relative paths are relative to the session's directory. There is no border around
// it: a shell could read and write the same.
func (s *Service) filesFor(ctx context.Context, ref wire.CompatRef, session, tool string, args permission.FileArgs,
	paths ...filePath) (files, error) {
	if err := checkPaths(paths); err != nil {
		return nil, err
	}
	thread, err := s.sessionOf(ctx, ref.Session, session)
	if err != nil {
		return nil, err
	}
	setPaths := func() permission.FileArgs {
		if args.Path = *paths[0].path; len(paths) > 1 {
			args.NewPath = *paths[1].path
		}
		return args
	}
	dir, provider, _ := s.Shells.Begins(thread, "")
	if dir == "" { // at a provider, of which only a shell knows it; a denied action starts none
		if s.Threads.Denies(thread, permission.Action{Tool: tool, Arguments: setPaths()}) {
			return nil, s.Check(ctx, thread, tool, args)
		}
		sh, err := s.Shells.Default(thread)
		if err != nil {
			return nil, err
		}
		dir = sh.Stats().Cwd
	}
	for _, p := range paths {
		if !filepath.IsAbs(*p.path) {
			*p.path = filepath.Join(dir, *p.path)
		}
	}
	if err := s.Check(ctx, thread, tool, setPaths()); err != nil {
		return nil, err
	}
	if provider == "" && permission.LevelOf(tool) == permission.LevelRead {
		return localFiles{}, nil // reading here needs no shell
	}
	sh, err := s.Shells.Default(thread)
	if err != nil {
		return nil, err
	}
	return s.filesOf(sh), nil
}

// FileErrors says how the system's refusals leave the server; the first that matches wins.
var FileErrors = []struct {
	Err    error
	Status int
	Code   string
}{
	{fs.ErrNotExist, http.StatusNotFound, "FILE_NOT_FOUND"},
	{fs.ErrPermission, http.StatusForbidden, "PERMISSION_DENIED"},
	{syscall.ENOTEMPTY, http.StatusConflict, "NOT_EMPTY"},
	{fs.ErrExist, http.StatusConflict, "FILE_EXISTS"},
	{syscall.EISDIR, http.StatusConflict, "IS_DIRECTORY"},
	{syscall.ENOTDIR, http.StatusConflict, "NOT_DIRECTORY"},
	{errNotFile, http.StatusConflict, "NOT_FILE"},
	{syscall.ENXIO, http.StatusConflict, "NOT_FILE"}, // a FIFO that nobody reads
	{syscall.ENOSPC, http.StatusInsufficientStorage, "NO_SPACE"},
	{syscall.EDQUOT, http.StatusInsufficientStorage, "NO_SPACE"},
	{syscall.EROFS, http.StatusForbidden, "PERMISSION_DENIED"},
	{syscall.ENAMETOOLONG, http.StatusBadRequest, "VALIDATION"},
	{syscall.ELOOP, http.StatusBadRequest, "VALIDATION"},
	{syscall.EXDEV, http.StatusConflict, "NOT_POSSIBLE"},  // a rename to another file system
	{syscall.EINVAL, http.StatusConflict, "NOT_POSSIBLE"}, // a directory into itself
}

// errNotFile is a device, socket or FIFO where a file is needed.
var errNotFile = errors.New("it is not a regular file")

// fileError gives the system's refusal a status; it is nil for nil.
func fileError(err error) error {
	if err == nil {
		return nil
	}
	for _, row := range FileErrors {
		if errors.Is(err, row.Err) {
			return httpapi.NewError(row.Status, row.Code, "%s", httpapi.Clip(err.Error())).Because(err)
		}
	}
	return err
}

// openFile opens a regular file. It neither waits for the other side of a FIFO nor truncates. Errors: errProcess.
func openFile(path string, flags int, mode fs.FileMode) (*os.File, error) {
	f, err := openOutside(path, flags|syscall.O_NONBLOCK, mode)
	if err != nil {
		return nil, cmp.Or(checkOutside(path), err)
	}
	i, err := f.Stat()
	if err == nil && i.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	} else if err == nil && !i.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotFile}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// onFile does something with the file that a request names, and replies its path.
func (s *Service) onFile(ctx context.Context, ref wire.CompatRef, session, tool string, args permission.FileArgs,
	path *string, do func(files) error) (wire.CompatFile, error) {
	at, err := s.filesFor(ctx, ref, session, tool, args, filePath{"path", path})
	if err != nil {
		return wire.CompatFile{}, err
	}
	return done(*path), fileError(do(at))
}

func (s *Service) readFile(ctx context.Context, r wire.CompatRead) (reply wire.CompatContent, err error) {
	reply.CompatFile, err = s.onFile(ctx, r.CompatRef, r.SessionID, permission.ToolRead, permission.FileArgs{}, &r.Path,
		func(at files) error {
			p, err := at.read(ctx, r.Path)
			if errors.Is(err, syscall.EFBIG) {
				return httpapi.ErrorTooLarge(maxFile, "the file is too large: at most %d bytes are read at once",
					maxFile)
			}
			if err == nil {
				reply.Size = len(p)
				reply.Content, reply.Encoding, err = contentOf(p, r.Encoding)
			}
			return err
		})
	return reply, err
}

// contentOf is what a file has in the wanted encoding: utf-8 or base64, by itself the first that fits.
func contentOf(p []byte, encoding string) (content, used string, err error) {
	switch encoding {
	case "utf-8", "utf8", "":
		if utf8.Valid(p) {
			return string(p), "utf-8", nil
		}
		if encoding != "" {
			return "", "", httpapi.NewError(http.StatusConflict, "NOT_TEXT",
				"the file is not UTF-8; read it with the encoding base64")
		}
		return base64.StdEncoding.EncodeToString(p), "base64", nil
	case "base64":
		return base64.StdEncoding.EncodeToString(p), "base64", nil
	}
	return "", "", errorEncoding(encoding)
}

func errorEncoding(encoding string) *httpapi.Error {
	return httpapi.BadRequest("encoding %q: utf-8 or base64 are allowed", httpapi.Clip(encoding)).WithField("encoding")
}

// bytesOf is the content in its encoding.
func bytesOf(r *wire.CompatWrite) ([]byte, error) {
	if r.Content == nil {
		return nil, httpapi.BadRequest(`"content" is needed`).WithField("content")
	}
	switch r.Encoding {
	case "", "utf-8", "utf8":
		return []byte(*r.Content), nil
	case "base64":
		p, err := base64.StdEncoding.DecodeString(*r.Content)
		if err != nil {
			return nil, httpapi.BadRequest("the content is not base64: %s", err).WithField("content")
		}
		return p, nil
	}
	return nil, errorEncoding(r.Encoding)
}

func (s *Service) writeFile(ctx context.Context, r wire.CompatWrite) (wire.CompatFile, error) {
	if err := checkPaths([]filePath{{"path", &r.Path}}); err != nil {
		return wire.CompatFile{}, err
	}
	p, err := bytesOf(&r)
	if err != nil {
		return wire.CompatFile{}, err
	}
	var args permission.FileArgs
	args.Content, args.ContentB64 = permission.Text(p)
	return s.onFile(ctx, r.CompatRef, r.SessionID, permission.ToolWrite, args, &r.Path,
		func(at files) error { return at.write(ctx, r.Path, p) })
}

// writeFile replaces what a file has; a new one is the umask's.
func writeFile(path string, p []byte) error {
	f, err := openFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.Write(p)
	}
	return errors.Join(err, f.Close())
}

func (s *Service) makeDir(ctx context.Context, r wire.CompatMkdir) (wire.CompatFile, error) {
	return s.onFile(ctx, r.CompatRef, r.SessionID, permission.ToolMkdir, permission.FileArgs{Recursive: r.Recursive},
		&r.Path, func(at files) error { return at.mkdir(ctx, r.Path, r.Recursive) })
}

// removeFile removes a file or an empty directory: what removes more is a command.
func (s *Service) removeFile(ctx context.Context, r wire.CompatPath) (wire.CompatFile, error) {
	return s.onFile(ctx, r.CompatRef, r.SessionID, permission.ToolRemove, permission.FileArgs{}, &r.Path,
		func(at files) error { return at.remove(ctx, r.Path) })
}

func (s *Service) renameFile(ctx context.Context, r wire.CompatRename) (wire.CompatRenamed, error) {
	return s.rename(ctx, r.CompatRef, r.SessionID, filePath{"oldPath", &r.OldPath}, filePath{"newPath", &r.NewPath})
}

func (s *Service) moveFile(ctx context.Context, r wire.CompatMove) (wire.CompatRenamed, error) {
	return s.rename(ctx, r.CompatRef, r.SessionID, filePath{"sourcePath", &r.SourcePath},
		filePath{"destinationPath", &r.DestinationPath})
}

func (s *Service) rename(ctx context.Context, ref wire.CompatRef, session string, from, to filePath) (
	wire.CompatRenamed, error) {
	at, err := s.filesFor(ctx, ref, session, permission.ToolRename, permission.FileArgs{}, from, to)
	if err != nil {
		return wire.CompatRenamed{}, err
	}
	reply := wire.CompatRenamed{CompatFile: done(*from.path), NewPath: *to.path}
	return reply, fileError(at.rename(ctx, *from.path, *to.path))
}

func (s *Service) fileExists(ctx context.Context, r wire.CompatPath) (reply wire.CompatExists, err error) {
	reply.CompatFile, err = s.onFile(ctx, r.CompatRef, r.SessionID, permission.ToolRead, permission.FileArgs{}, &r.Path,
		func(at files) (err error) {
			reply.Exists, err = at.exists(ctx, r.Path)
			return err
		})
	return reply, err
}

func (s *Service) listFiles(ctx context.Context, r wire.CompatList) (reply wire.CompatFiles, err error) {
	if r.Options == nil {
		r.Options = &wire.CompatListOptions{}
	}
	recursive := r.Recursive || r.Options.Recursive
	reply.Files = []wire.CompatEntry{}
	reply.CompatFile, err = s.onFile(ctx, r.CompatRef, r.SessionID, permission.ToolList,
		permission.FileArgs{Recursive: recursive}, &r.Path, func(at files) error {
			reply.Path = r.Path
			return at.list(ctx, &reply, recursive, r.Options.IncludeHidden)
		})
	reply.Count = len(reply.Files)
	return reply, err
}

// walk lists the directory in the order of names; what cannot be read below it is left out.
func walk(l *wire.CompatFiles, recursive, hidden bool) error {
	return filepath.WalkDir(l.Path, func(path string, d fs.DirEntry, err error) error {
		switch {
		case path == l.Path && err != nil:
			return err
		case path == l.Path && !d.IsDir():
			return &fs.PathError{Op: "list", Path: path, Err: syscall.ENOTDIR}
		case path == l.Path || err != nil:
			return nil //nolint:nilerr // what cannot be read is left out; of the directory itself err is nil here
		case d.IsDir() && checkOutside(path) != nil:
			return fs.SkipDir
		case !hidden && strings.HasPrefix(d.Name(), "."):
			return skipped(d)
		case len(l.Files) == maxEntries:
			l.Truncated = true
			return fs.SkipAll
		}
		if i, err := d.Info(); err == nil { // else it went meanwhile
			relative, _ := filepath.Rel(l.Path, path) // both are absolute
			l.Files = append(l.Files, wire.CompatEntry{Name: d.Name(), AbsolutePath: path, RelativePath: relative,
				Type: fileType(d.Type()), Size: i.Size(), ModifiedAt: i.ModTime().UTC(),
				Mode: fmt.Sprintf("%04o", i.Mode().Perm())})
		}
		if !recursive {
			return skipped(d)
		}
		return nil
	})
}

func skipped(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func fileType(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m.IsRegular():
		return "file"
	case m&fs.ModeSymlink != 0:
		return "symlink"
	}
	return "other"
}
