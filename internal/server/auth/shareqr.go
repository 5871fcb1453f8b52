package auth

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// qrQuiet is the margin of a QR code, in modules (ISO/IEC 18004, 6.3.8).
const qrQuiet = 4

// qrSVG is a text as a QR code: an SVG document that needs nothing else. It has no words of the text. Errors: a text
// that is too long for one.
func qrSVG(text string) (string, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("server: QR code: %w", err)
	}
	var b strings.Builder
	all := code.Size + 2*qrQuiet
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" `+
		`shape-rendering="crispEdges"><title>QR code of the link</title><path fill="#fff" d="M0 0h%dv%dH0z"/><path fill="#000" d="`,
		all, all, all, all)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			begin := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > begin {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", begin+qrQuiet, y+qrQuiet, x-begin, x-begin)
			}
		}
	}
	b.WriteString(`"/></svg>`)
	return b.String(), nil
}
