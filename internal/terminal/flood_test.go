package terminal_test

import (
	"strings"
	"testing"
)

// TestAFloodIsWhole: what is read ahead of the screen is on it in the end, and the answer to a query behind it reaches
// the program that asked.
func TestAFloodIsWhole(t *testing.T) {
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `stty -icanon -echo; yes $'\e[31m0123456789\e[m, and more' | head -c 2097152
		printf '\030\e[m\r\n\e[6n'; IFS= read -rsd R at; printf '\r\nasked %s\r\n' "${at#*[}"; exec cat`)
	see(t, term, `asked 24;1\b`)
	text := textOf(term)
	for line := range strings.Lines(text[strings.Index(text, "\n")+1 : strings.LastIndex(text, "01234")]) {
		if line = strings.TrimSpace(line); line != "0123456789, and more" {
			t.Fatalf("the screen has the line %q", line)
		}
	}
}

// TestAFloodRests: the journal knows every MiB where a sequence has ended, also while the screen is always behind,
// because it costs more than the output.
func TestAFloodRests(t *testing.T) {
	const size, near = 3 << 20, 1 << 20
	parallel(t)
	m := open(t, t.TempDir())
	term := start(t, m, "bash", "-c", `yes $'\e[H\e[J0\e[99;99H\e[1J' | head -c 3145728
		printf '\030\r\nall\r\n'; exec cat`)
	see(t, term, `all\b`)
	j, err := term.Journal()
	if err != nil {
		t.Fatal(err)
	}
	for pos := uint64(near); pos < size; pos += near {
		if at, ok := j.RestBefore(pos); !ok || pos-at > near {
			t.Errorf("before %d the output is known to be at rest at %d (%v)", pos, at, ok)
		}
	}
}
