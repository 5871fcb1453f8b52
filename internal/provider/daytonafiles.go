package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"time"
)

// ReadFile reads a whole file.
func (d *Daytona) ReadFile(ctx context.Context, id, name string, most int64) ([]byte, error) {
	a, err := d.inside(ctx, id, "/files/download?"+d.query(name), call{method: http.MethodGet, twice: true, max: most, timeout: daytonaTransfer})
	return a.body, noFile(err)
}

// WriteFile makes or replaces a file.
func (d *Daytona) WriteFile(ctx context.Context, id, name string, data []byte) error {
	if len(data) > daytonaMaxUpload {
		return fmt.Errorf("daytona: %w: more than %d bytes", ErrTooLarge, daytonaMaxUpload)
	}
	if err := d.folder(ctx, id, path.Dir(d.in(name))); err != nil {
		return err
	}
	body, kind, err := form(path.Base(name), data)
	if err != nil {
		return fmt.Errorf("daytona: %w", err)
	}
	_, err = d.inside(ctx, id, "/files/upload?"+d.query(name),
		call{method: http.MethodPost, body: body, kind: kind, twice: true, timeout: daytonaTransfer})
	return noFile(err)
}

// folder makes the directory that a file goes to.
func (d *Daytona) folder(ctx context.Context, id, dir string) error {
	_, err := d.inside(ctx, id, "/files/folder?"+d.query(dir)+"&mode=0755", call{method: http.MethodPost, twice: true})
	var st *statusError
	if errors.As(err, &st) && (st.status == http.StatusConflict || st.status == http.StatusBadRequest) {
		return nil // it is there already, or the upload will say what is wrong
	}
	return err
}

// ListDir lists a directory.
func (d *Daytona) ListDir(ctx context.Context, id, name string) ([]File, error) {
	a, err := d.inside(ctx, id, "/files?"+d.query(name), call{method: http.MethodGet, twice: true})
	if err != nil {
		return nil, noFile(err)
	}
	var list []struct {
		Name     string `json:"name"`
		Dir      bool   `json:"isDir"`
		Size     int64  `json:"size"`
		Mode     string `json:"mode"`
		Modified string `json:"modifiedAt"`
		ModTime  string `json:"modTime"`
	}
	if err := json.Unmarshal(a.body, &list); err != nil {
		return nil, fmt.Errorf("daytona: %w: the list is not what was agreed", ErrProvider)
	}
	files := make([]File, 0, len(list))
	for _, f := range list {
		files = append(files, File{Name: f.Name, Path: path.Join(d.in(name), f.Name), Dir: f.Dir, Size: f.Size, Mode: f.Mode, MTime: moment(f.Modified, f.ModTime)})
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

func (d *Daytona) query(name string) string { return url.Values{"path": {d.in(name)}}.Encode() }

// noFile says of a 404 about a path that the file is absent, not the instance; explain has looked at that already.
func noFile(err error) error {
	var st *statusError
	if errors.As(err, &st) && st.status == http.StatusNotFound {
		return fmt.Errorf("%w: %s", ErrNoFile, st.Error())
	}
	return err
}
