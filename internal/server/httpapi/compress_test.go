package httpapi

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestCompressors: a compressor that is used again starts anew, also after a client that went away.
func TestCompressors(t *testing.T) {
	readers := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) }}
	for coding, open := range readers {
		for _, text := range []string{strings.Repeat("first ", 1000), "", strings.Repeat("second ", 100_000)} {
			if err := compress(brokenWriter{}, coding, []byte(text)); !errors.Is(err, io.ErrClosedPipe) && text != "" {
				t.Errorf("%s to a client that is gone: %v", coding, err)
			}
			var b bytes.Buffer
			if err := compress(&b, coding, []byte(text)); err != nil {
				t.Fatal(err)
			}
			r, err := open(&b)
			if err != nil && text != "" { // zstd writes nothing for nothing
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != text {
				t.Errorf("%s: %d bytes came back of %d: %v", coding, len(got), len(text), err)
			}
		}
	}
}
