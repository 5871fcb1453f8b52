package service

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"path"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// Bounds of a file that goes through the calls of a service.
const (
	transferTimeout = 10 * time.Minute
	maxUpload       = 256 << 20 // bytes of a file that is written
)

// Download is a call that reads a file of at most so many bytes.
func Download(most int64) Call {
	return Call{Method: http.MethodGet, Idempotent: true, MaxReply: most, Timeout: transferTimeout}
}

// Upload is a call that writes a file, as multipart/form-data in the field "file". Errors:
// ErrTooLarge.
func Upload(name string, data []byte) (Call, error) {
	if len(data) > maxUpload {
		return Call{}, fmt.Errorf("%w: more than %d bytes", provider.ErrTooLarge, maxUpload)
	}
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", path.Base(name))
	if err == nil {
		_, err = part.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return Call{}, err
	}
	return Call{Method: http.MethodPost, Body: body.Bytes(), ContentType: w.FormDataContentType(), Idempotent: true,
		Timeout: transferTimeout}, nil
}

// NoFile makes a 404 about a path ErrNoFile; Explain has checked the instance.
func NoFile(err error) error {
	var st *StatusError
	if errors.As(err, &st) && st.Status == http.StatusNotFound {
		return fmt.Errorf("%w: %s", provider.ErrNoFile, st.Error())
	}
	return err
}

// Scaled is an optional number in another unit.
func Scaled(n *float64, unit float64) *float64 {
	if n == nil {
		return nil
	}
	return new(*n / unit)
}

// Units is a duration in whole units, rounded up.
func Units(d, unit time.Duration) int { return int((d + unit - 1) / unit) }
