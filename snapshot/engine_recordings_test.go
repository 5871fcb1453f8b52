package snapshot

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/vt"
)

// corporaDir is the folder of recordings that the repository does not carry:
// EVERTTY_CORPORA, else shared/corpora beside the checkout.
func corporaDir(t *testing.T) string {
	dir := os.Getenv("EVERTTY_CORPORA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "corpora")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: %v (EVERTTY_CORPORA names the folder with NAME.rec and NAME.json)", err)
	}
	return dir
}

// recordings are the streams below dir, by name.
func recordings(t *testing.T, dir string) map[string]stream {
	out := map[string]stream{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".rec") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var size struct{ Cols, Rows, Scrollback int }
		b, err := os.ReadFile(strings.TrimSuffix(path, ".rec") + ".json")
		if err == nil {
			err = json.Unmarshal(b, &size)
		}
		s := stream{cols: size.Cols, rows: size.Rows, scrollback: size.Scrollback, unicode: vt.Unicode11}
		for piece := range pieces(len(raw)+int(randomPieces)).ofSize(raw, 2000) {
			s.steps = append(s.steps, step{write: piece})
		}
		name, _ := filepath.Rel(dir, strings.TrimSuffix(path, ".rec"))
		out[name] = s
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// streamPaths are the repository's own inputs: what programs typically send.
func streamPaths(t *testing.T) []string {
	paths, err := filepath.Glob("testdata/streams/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no streams: %v", err)
	}
	return paths
}

// TestEngineEqualsXterm: what programs send makes the engine what it makes
// xterm.js.
func TestEngineEqualsXterm(t *testing.T) {
	t.Parallel()
	checkScripts(t, streamPaths(t))
}

// TestEngineEqualsXtermRecordings is TestEngineEqualsXterm with recordings of
// real programs and other terminals' tests.
func TestEngineEqualsXtermRecordings(t *testing.T) {
	t.Parallel()
	all := recordings(t, corporaDir(t))
	j := startJudge(t)
	for name, s := range all {
		t.Run(name, func(t *testing.T) {
			checkStream(t, j, s, few(8, 2))
			s.unicode = vt.Unicode15Graphemes
			checkStream(t, j, s, few(4, 1))
		})
	}
}
