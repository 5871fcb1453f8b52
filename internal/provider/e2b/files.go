package e2b

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/service"
)

func (e *Provider) path(name string) string { return provider.AbsPath(e.c.Cwd, name) }

func (e *Provider) files(name string) string {
	return "/files?" + url.Values{"path": {e.path(name)}, "username": {e.c.User}}.Encode()
}

// ReadFile reads a whole file.
func (e *Provider) ReadFile(ctx context.Context, id, name string, most int64) ([]byte, error) {
	r, err := e.call(ctx, id, e.files(name), service.Download(most))
	return r.Body, service.NoFile(err)
}

// WriteFile makes or replaces a file, and makes the directories above it.
func (e *Provider) WriteFile(ctx context.Context, id, name string, data []byte) error {
	upload, err := service.Upload(name, data)
	if err != nil {
		return fmt.Errorf("e2b: %w", err)
	}
	_, err = e.call(ctx, id, e.files(name), upload)
	return service.NoFile(err)
}

// ListDir lists a directory.
func (e *Provider) ListDir(ctx context.Context, id, name string) ([]provider.File, error) {
	var out struct {
		Entries []struct {
			Name        string
			Type        string
			Path        string
			Size        protoInt
			Permissions string
			Modified    time.Time `json:"modifiedTime"`
		}
	}
	if err := e.unary(ctx, id, "filesystem.Filesystem/ListDir", true, 0,
		map[string]any{"path": e.path(name), "depth": 1}, &out); err != nil {
		return nil, service.NoFile(err)
	}
	files := make([]provider.File, 0, len(out.Entries))
	for _, f := range out.Entries {
		files = append(files, provider.File{Name: f.Name, Path: path.Join(e.path(name), f.Name),
			Dir: f.Type == "FILE_TYPE_DIRECTORY", Size: int64(f.Size), Mode: f.Permissions, MTime: f.Modified})
	}
	return files, nil
}

// protoInt is an int64 of protobuf's JSON, which is a text there; other writers make it a number.
type protoInt int64

// UnmarshalJSON takes both.
func (n *protoInt) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = protoInt(v)
	return err
}
