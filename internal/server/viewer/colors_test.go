package viewer

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

func TestParseColors(t *testing.T) {
	const three = `"foreground":"#0a0B0c","background":"#ffffff","cursor":"#000000"`
	sixteen := strings.TrimSuffix(strings.Repeat(`"#010203",`, 16), ",")
	for _, good := range []string{three, three + `,"palette":[` + sixteen + `]`, three + `,"pty":"x"`} {
		got, err := parseColors([]byte(`{"type":"colors",` + good + `}`))
		if err != nil || got.Foreground != vt.RGBColor(10, 11, 12) || got.Background != vt.RGBColor(255, 255, 255) {
			t.Errorf("%s: %v, %v", good, got, err)
		}
		if want := vt.RGBColor(1, 2, 3); strings.Contains(good, "palette") && got.Palette[15] != want {
			t.Errorf("%s: palette %v", good, got.Palette)
		}
	}
	for bad, why := range map[string]string{
		`"foreground":"#000000","background":"#000000"`:                     `cursor is "", allowed is #rrggbb`,
		strings.Replace(three, "#0a0B0c", "red", 1):                         `foreground is "red"`,
		strings.Replace(three, "#ffffff", "#fff", 1):                        `background is "#fff"`,
		strings.Replace(three, "#ffffff", "#+fffff", 1):                     `background is`,
		strings.Replace(three, `"#ffffff"`, "1", 1):                         "background",
		three + `,"palette":[]`:                                             "palette has 0 colours, allowed are 16",
		three + `,"palette":["#010203"]`:                                    "palette has 1",
		three + `,"palette":[` + strings.Replace(sixteen, "#", "", 1) + `]`: "palette[0]",
		three + `,"selection":"#000000"`:                                    `unknown field "selection"; allowed are`,
	} {
		_, err := parseColors([]byte(`{"type":"colors",` + bad + `}`))
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", bad, err, why)
		}
	}
}
