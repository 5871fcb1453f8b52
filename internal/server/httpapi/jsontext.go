package httpapi

import (
	"encoding/base64"
	"unicode/utf8"

	"github.com/evertty/evertty/stream"
)

// AppendBase64 appends p as RFC 4648 has it, with padding.
func AppendBase64(b, p []byte) []byte { return base64.StdEncoding.AppendEncode(b, p) }

// WholeRunes is how much of p comes before a character at its end whose rest is
// missing: at most three bytes less than all.
func WholeRunes(p []byte) int {
	for i := len(p) - 1; i >= max(0, len(p)-utf8.UTFMax+1); i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return i
			}
			break
		}
	}
	return len(p)
}

// BinaryPiece bounds what is called not text together with the bytes that really are
// not, in bytes: the rest of a page may be text.
const BinaryPiece = 4 << 10

// NextPiece splits p into a first piece that is either text or, as a whole, not, and
// the rest.
func NextPiece(p []byte) (piece []byte, text bool, rest []byte) {
	bad := stream.InvalidUTF8(p)
	switch {
	case bad < 0:
		return p, true, nil
	case bad > 0:
		return p[:bad], true, p[bad:]
	}
	n := len(p)
	if n > BinaryPiece {
		n = max(1, WholeRunes(p[:BinaryPiece]))
	}
	return p[:n], false, p[n:]
}
