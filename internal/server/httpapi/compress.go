package httpapi

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/labstack/echo/v4"
)

// compressFrom is the size from which a reply is worth compressing, in bytes:
// below a network packet it saves nothing.
const compressFrom = 1400

// WriteJSON sends v, compressed in the way the client prefers when it is large.
func WriteJSON(c echo.Context, status int, v any) error {
	b, err := Encode(Shown(c, v))
	if err != nil {
		return err
	}
	return WriteBody(c, status, append(b, '\n'))
}

// Encode is v as JSON, with <, > and & as they are: no reply is put into a page.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("server: encode %T: %w", v, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// WriteBody sends the JSON text p as WriteJSON does.
func WriteBody(c echo.Context, status int, p []byte) error {
	header := c.Response().Header()
	header.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
	coding := AcceptedCoding(c.Request().Header.Get(echo.HeaderAcceptEncoding))
	if coding == "" || len(p) < compressFrom {
		return c.Blob(status, echo.MIMEApplicationJSON, p)
	}
	header.Set(echo.HeaderContentEncoding, coding)
	header.Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	c.Response().WriteHeader(status)
	return compress(c.Response(), coding, p)
}

// compressors are those of finished replies, by coding. To make one takes a megabyte, and longer than most replies.
var compressors = map[string]*sync.Pool{"gzip": {}, "zstd": {}}

func compress(w io.Writer, coding string, p []byte) (err error) {
	z, ok := compressors[coding].Get().(Compressor)
	if ok {
		z.Reset(w)
	} else if z, err = NewCompressor(w, coding); err != nil {
		return err
	}
	if _, err := z.Write(p); err != nil {
		return err // the client is gone
	}
	if err := z.Close(); err != nil {
		return err
	}
	z.Reset(nil) // keep no connection
	compressors[coding].Put(z)
	return nil
}

// Compressor is gzip's or zstd's.
type Compressor interface {
	io.WriteCloser
	Flush() error
	Reset(to io.Writer)
}

// NewCompressor makes one of the codings that AcceptedCoding returns, with further options of zstd. It is fast: replies
// are large, and the server has terminals to serve.
func NewCompressor(w io.Writer, coding string, options ...zstd.EOption) (Compressor, error) {
	if coding == "zstd" {
		options = append(options, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		return zstd.NewWriter(w, options...)
	}
	return gzip.NewWriterLevel(w, gzip.BestSpeed)
}

// AcceptedCoding picks zstd or gzip from an Accept-Encoding header (RFC 9110,
// 12.5.3), zstd when both are as welcome; "" when neither is.
func AcceptedCoding(header string) string {
	best, bestQ := "", 0.0
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		q := 1.0
		if v, ok := strings.CutPrefix(strings.ReplaceAll(params, " ", ""), "q="); ok {
			q, _ = strconv.ParseFloat(v, 64) // what cannot be read is 0: not accepted
		}
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "zstd" && name != "gzip" || q <= 0 {
			continue
		}
		if q > bestQ || q == bestQ && name == "zstd" {
			best, bestQ = name, q
		}
	}
	return best
}
