package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBrowserTellsItsColors: a program is told what the page draws with, also after a reconnect; for the palette that
// is what it is told when no page is there.
func TestBrowserTellsItsColors(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	ask := `\033]10;?\a\033]11;?\a\033]12;?\a`
	answer := "\x1b]10;rgb:d7d7/dddd/e6e6\x1b\\\x1b]11;rgb:0f0f/1313/1818\x1b\\\x1b]12;rgb:4646/c7c7/9696\x1b\\"
	var palette strings.Builder
	for i, rgb := range []string{"1b222b", "f07178", "7fd88f", "e8c56a", "6cb2f0", "c79bf0", "5fd0cf", "c8d0da",
		"6b7684", "ff8f94", "9ce8aa", "f5d98b", "8fc8fb", "dab6fb", "84e3e1", "f4f7fa"} {
		ask += fmt.Sprintf(`\033]4;%d;?\a`, i)
		fmt.Fprintf(&palette, "\x1b]4;%d;rgb:%[2]s%[2]s/%[3]s%[3]s/%[4]s%[4]s\x1b\\", i, rgb[:2], rgb[2:4], rgb[4:])
	}
	answer += palette.String()
	file := filepath.Join(t.TempDir(), "read")
	id := s.create("sh", "-c",
		fmt.Sprintf(`stty raw -echo; printf '\033[31mready'; while head -c 1 >%s; do printf '%s'; `+
			`head -c %d >%[1]s.new; mv %[1]s.new %[1]s.all; done`, file, ask, len(answer))).ID
	s.await(id, `ready`)
	asks := func() string {
		t.Helper()
		s.input(id, "x")
		eventually(t, "an answer", func() bool { _, err := os.Stat(file + ".all"); return err == nil })
		got, err := os.ReadFile(file + ".all")
		s.must(err)
		s.must(os.Remove(file + ".all"))
		return string(got)
	}
	b := browse(t, 1000, 700)
	b.open(s, id)
	b.shows("ready")
	b.has("red as the program is told",
		`[...`+shown+`.querySelectorAll(".xterm-rows span")].filter(e => e.innerText.startsWith("ready"))`+
			`.map(e => getComputedStyle(e).color).join()`, "rgb(240, 113, 120)")
	told := "nothing"
	tells := func() bool { told = asks(); return told == answer }
	eventually(t, "the page's colours", tells)
	s.kill()
	b.state("reconnecting")
	s.again()
	b.state("open")
	eventually(t, "after a reconnect the program is told the same", tells)
}

// TestPaletteWithoutAViewer: the palette that a program is told is the one that the page draws with.
func TestPaletteWithoutAViewer(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	r := s.create("sh", "-c",
		`stty raw -echo; printf '\033]4;1;?\a\033]4;15;?\a'; head -c 53 | tr '\033' E; printf .; exec cat`).ID
	text := s.await(r, `E.*E.*\.`)
	if want := `E]4;1;rgb:f0f0/7171/7878E\E]4;15;rgb:f4f4/f7f7/fafaE`; !strings.Contains(text, want) {
		t.Errorf("the program is told %q, want %q", text, want)
	}
}
