package provider

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

func (e *E2B) files(name string) string {
	return "/files?" + url.Values{"path": {e.in(name)}, "username": {e.c.User}}.Encode()
}

// ReadFile reads a whole file.
func (e *E2B) ReadFile(ctx context.Context, id, name string, most int64) ([]byte, error) {
	a, err := e.inside(ctx, id, e.files(name), call{method: http.MethodGet, twice: true, max: most, timeout: e2bTransfer})
	return a.body, noFile(err)
}

// WriteFile makes or replaces a file, and the directories that it needs.
func (e *E2B) WriteFile(ctx context.Context, id, name string, data []byte) error {
	if len(data) > e2bMaxUpload {
		return fmt.Errorf("e2b: %w: more than %d bytes", ErrTooLarge, e2bMaxUpload)
	}
	body, kind, err := form(path.Base(name), data)
	if err != nil {
		return fmt.Errorf("e2b: %w", err)
	}
	_, err = e.inside(ctx, id, e.files(name), call{method: http.MethodPost, body: body, kind: kind, twice: true, timeout: e2bTransfer})
	return noFile(err)
}

// form is a file as multipart/form-data, in the field "file", and its Content-Type.
func form(name string, data []byte) ([]byte, string, error) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = part.Write(data)
	}
	err = errors.Join(err, w.Close())
	return body.Bytes(), w.FormDataContentType(), err
}

// ListDir lists a directory.
func (e *E2B) ListDir(ctx context.Context, id, name string) ([]File, error) {
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
	if err := e.unary(ctx, id, "filesystem.Filesystem/ListDir", true, 0, map[string]any{"path": e.in(name), "depth": 1}, &out); err != nil {
		return nil, noFile(err)
	}
	files := make([]File, 0, len(out.Entries))
	for _, f := range out.Entries {
		files = append(files, File{Name: f.Name, Path: path.Join(e.in(name), f.Name), Dir: f.Type == "FILE_TYPE_DIRECTORY", Size: int64(f.Size), Mode: f.Permissions, MTime: f.Modified})
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
