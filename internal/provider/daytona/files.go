package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/service"
)

// ReadFile reads a whole file.
func (d *Provider) ReadFile(ctx context.Context, id, name string, most int64) ([]byte, error) {
	r, err := d.inside(ctx, id, "/files/download?"+d.query(name), service.Download(most))
	return r.Body, service.NoFile(err)
}

// WriteFile makes or replaces a file, and makes the directories above it.
func (d *Provider) WriteFile(ctx context.Context, id, name string, data []byte) error {
	upload, err := service.Upload(name, data)
	if err != nil {
		return fmt.Errorf("daytona: %w", err)
	}
	_, err = d.inside(ctx, id, "/files/folder?"+d.query(path.Dir(d.path(name)))+"&mode=0755",
		service.Call{Method: http.MethodPost, Idempotent: true})
	var st *service.StatusError
	if errors.As(err, &st) && (st.Status == http.StatusConflict || st.Status == http.StatusBadRequest) {
		err = nil // it is there already, or the upload will say what is wrong
	}
	if err != nil {
		return err
	}
	_, err = d.inside(ctx, id, "/files/upload?"+d.query(name), upload)
	return service.NoFile(err)
}

// ListDir lists a directory.
func (d *Provider) ListDir(ctx context.Context, id, name string) ([]provider.File, error) {
	var list []struct {
		Name     string `json:"name"`
		Dir      bool   `json:"isDir"`
		Size     int64  `json:"size"`
		Mode     string `json:"mode"`
		Modified string `json:"modifiedAt"`
		ModTime  string `json:"modTime"`
	}
	c := service.Call{Method: http.MethodGet, Idempotent: true}
	if err := d.Client.JSON(c, nil, &list, func(c service.Call) (service.Reply, error) {
		return d.inside(ctx, id, "/files?"+d.query(name), c)
	}); err != nil {
		return nil, service.NoFile(err)
	}
	files := make([]provider.File, 0, len(list))
	for _, f := range list {
		files = append(files, provider.File{Name: f.Name, Path: path.Join(d.path(name), f.Name), Dir: f.Dir,
			Size: f.Size, Mode: f.Mode, MTime: moment(f.Modified, f.ModTime)})
	}
	return files, nil
}

// moment is the first of some texts that is a time: the service has had several ways to write one.
func moment(texts ...string) time.Time {
	for _, text := range texts {
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999 -0700 MST"} {
			if t, err := time.Parse(layout, text); err == nil {
				return t
			}
		}
	}
	return time.Time{}
}

func (d *Provider) path(name string) string { return provider.AbsPath(d.c.Cwd, name) }

func (d *Provider) query(name string) string { return url.Values{"path": {d.path(name)}}.Encode() }
