package ssh

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/provider/bash"
)

// TestWholeScript: whatever bash has got of a script when the connection ends, it runs nothing of it; the whole one
// runs as it is.
func TestWholeScript(t *testing.T) {
	t.Parallel()
	const script = "echo 'a'; echo b\ncat <<X\n}'\nX\ncat\n"
	const want = "a\nb\n}'\ninput"
	text := bash.AllOrNothing(script)
	for n := range len(text) + 1 {
		c := exec.Command("sh", "-c", bootLine(len(text), "tag").text)
		c.Stdin = strings.NewReader(text[:n])
		if n == len(text) {
			c.Stdin = strings.NewReader(text + "input")
		}
		out, err := c.Output()
		if whole := n == len(text); whole && (string(out) != want || err != nil) || !whole && len(out) > 0 {
			t.Errorf("of %q: %q, %v", text[:n], out, err)
		}
	}
}
