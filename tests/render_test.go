package tests

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// render feeds bytes to a fresh terminal of 80x24, as a viewer would, and
// returns what it shows.
func render(t testing.TB, data, format string) string {
	t.Helper()
	c := exec.Command(quick, "render", "--cols", "80", "--rows", "24", "--format", format, "-")
	c.Stdin = strings.NewReader(data)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("render: %v: %s", err, stderr.String())
	}
	return string(out)
}

// screenJSON is the part of a screen as JSON that tests look at.
type screenJSON struct {
	Cols, Rows int
	Cursor     struct {
		X, Y    int
		Visible bool
	}
	Title string
	Alt   bool
	Modes map[string]any
	Lines []struct {
		Wrapped bool
		Text    string
		Runs    []styled
	}
}

// styled is text of one style.
type styled struct {
	Text   string
	Cells  int
	FG, BG any
	Attrs  []string
}
