package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/evertty/evertty/wire"
)

// What an event of output looks like as the server writes it. Others are read by
// encoding/json, which is several times slower than a command may print.
var (
	textPrefix  = []byte(`{"data":"`)
	bytesPrefix = []byte(`{"data_b64":"`)
	dataSuffix  = []byte(`"}`)
)

// decodeOutput reads the object of stdout and stderr: text in data, or bytes in
// data_b64 where they are not UTF-8.
func decodeOutput(p []byte) ([]byte, error) {
	if inner, ok := between(p, bytesPrefix); ok && plainText(inner) { // the decoder takes line ends, JSON does not
		out := make([]byte, base64.StdEncoding.DecodedLen(len(inner)))
		if n, err := base64.StdEncoding.Decode(out, inner); err == nil {
			return out[:n], nil
		}
	} else if inner, ok := between(p, textPrefix); ok {
		if out, ok := unescape(make([]byte, 0, len(inner)), inner); ok {
			return out, nil
		}
	}
	var o wire.EventOutput
	if err := json.Unmarshal(p, &o); err != nil {
		return nil, err
	}
	return exact(o.Data, o.DataB64), nil
}

func between(p, prefix []byte) ([]byte, bool) {
	if inner, ok := bytes.CutPrefix(p, prefix); ok {
		return bytes.CutSuffix(inner, dataSuffix)
	}
	return nil, false
}

// simpleEscape are the escapes of one letter (RFC 8259, 7).
var simpleEscape = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends what the inside of a JSON string means. It is false for what it
// leaves to encoding/json: half of a pair of surrogates, and what is no string.
func unescape(out, p []byte) ([]byte, bool) {
	if !utf8.Valid(p) {
		return nil, false
	}
	for {
		i := bytes.IndexByte(p, '\\')
		plain := p
		if i >= 0 {
			plain = p[:i]
		}
		if !plainText(plain) {
			return nil, false
		}
		if out = append(out, plain...); i < 0 {
			return out, true
		}
		if p = p[i+1:]; len(p) == 0 {
			return nil, false
		}
		if c := simpleEscape[p[0]]; c != 0 {
			out, p = append(out, c), p[1:]
			continue
		}
		if p[0] != 'u' || len(p) < 5 {
			return nil, false
		}
		r, err := strconv.ParseUint(string(p[1:5]), 16, 16)
		if err != nil || r >= 0xd800 && r < 0xe000 {
			return nil, false
		}
		out, p = utf8.AppendRune(out, rune(r)), p[5:]
	}
}

// plainText reports whether a part of a JSON string stands for itself.
func plainText(p []byte) bool {
	for _, c := range p {
		if c < ' ' || c == '"' {
			return false
		}
	}
	return true
}
