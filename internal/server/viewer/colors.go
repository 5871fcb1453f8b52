package viewer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// colors handles the command "colors". A read-only viewer's colours are checked and not used.
// Errors: httpapi.ErrBadMessage.
func (a actor) colors(message []byte) error {
	theme, err := parseColors(message)
	if err != nil {
		return fmt.Errorf("%w: colors: %w", httpapi.ErrBadMessage, err)
	}
	if !a.readOnly {
		a.sub.SetTheme(theme)
	}
	return nil
}

func parseColors(message []byte) (t vt.Theme, err error) {
	var c wire.CommandColors
	d := json.NewDecoder(bytes.NewReader(message))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return t, fmt.Errorf("%s; allowed are foreground, background, cursor and palette",
			strings.TrimPrefix(err.Error(), "json: "))
	}
	if n := len(c.Palette); c.Palette != nil && n != len(t.Palette) {
		return t, fmt.Errorf("palette has %d colours, allowed are %d or none", n, len(t.Palette))
	}
	for _, f := range []struct {
		name, given string
		to          *vt.Color
	}{{"foreground", c.Foreground, &t.Foreground}, {"background", c.Background, &t.Background},
		{"cursor", c.Cursor, &t.Cursor}} {
		if *f.to, err = parseColor(f.name, f.given); err != nil {
			return t, err
		}
	}
	for i, given := range c.Palette {
		if t.Palette[i], err = parseColor(fmt.Sprintf("palette[%d]", i), given); err != nil {
			return t, err
		}
	}
	return t, nil
}

// parseColor reads #rrggbb.
func parseColor(name, given string) (vt.Color, error) {
	hex, ok := strings.CutPrefix(given, "#")
	v, err := strconv.ParseUint(hex, 16, 24)
	if !ok || err != nil || len(hex) != len("rrggbb") {
		return 0, fmt.Errorf("%s is %.40q, allowed is #rrggbb", name, given)
	}
	return vt.RGBColor(uint8(v>>16), uint8(v>>8), uint8(v)), nil
}
