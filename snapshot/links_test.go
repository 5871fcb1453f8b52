package snapshot

import (
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// TestLinksOfferedToPeople: JSON and HTML carry only links that are safe to
// follow (security row 13).
func TestLinksOfferedToPeople(t *testing.T) {
	long := "https://example.org/" + strings.Repeat("a", maxLink-len("https://example.org/"))
	for uri, want := range map[string]bool{
		"https://example.org/?a=1&b=2#c": true, "http://example.org": true, "mailto:a@example.org": true,
		"HTTPS://EXAMPLE.ORG": true, long: true,
		long + "a": false, "javascript:alert(1)": false, "JaVaScRiPt:alert(1)": false, " javascript:alert(1)": false,
		"file:///etc/passwd": false,
		"data:text/html,x":   false, "vbscript:x": false, "//example.org": false, "example.org": false, "https:": false,
		"":                             false,
		"https://example.org/\x1b]0;x": false, "https://example.org/\u009b": false,
		"https://example.org/ \"onclick=x": false, "https://example.org/<b>": false, "java\nscript:x": false,
	} {
		var p vt.Packer
		p.ASCII([]byte("x"), vt.Style{Link: vt.Link{URI: uri}})
		f := &vt.Frame{Cols: 3, Rows: 1, Main: vt.Screen{Lines: []vt.Line{p.Line(false)}}}
		if got := JSON(f, 0).Lines[0].Runs[0].Link; (got == uri && uri != "") != want || !want && got != "" {
			t.Errorf("%.60q: link %.60q", uri, got)
		}
		if got := strings.Contains(HTML(f, 0), "<a "); got != want {
			t.Errorf("%.60q: HTML %s", uri, HTML(f, 0))
		}
	}
}
