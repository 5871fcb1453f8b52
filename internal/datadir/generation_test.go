package datadir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

// packedStart is where the compressed data begin: behind the frame that readers skip (RFC 8878 3.1.2).
const packedStart = 16

func TestSnapshotsAreCompressed(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	mustSave(t, s, "a", strings.Repeat("old ", 100))
	mustSave(t, s, "a", strings.Repeat("new ", 100))
	plain, err := os.ReadFile(filepath.Join(dir, "terminals", "a", "screen.2"))
	must(t, err)
	saved, err := s.CompressSnapshots("a")
	if got := files(t, dir, "a"); err != nil || saved <= 0 ||
		!slices.Equal(got, []string{"screen.1.zst", "screen.2.zst"}) {
		t.Fatalf("%q, saved %d, %v", got, saved, err)
	}
	got, err := s.Load("a")
	if err != nil || !strings.HasPrefix(got.Frame.Title, "new") || got.Damage != nil {
		t.Errorf("%v, %v", got.Damage, err)
	}
	path := filepath.Join(dir, "terminals", "a", "screen.2.zst")
	packed, err := os.ReadFile(path)
	must(t, err)
	if !snapshot.IsSnapshot(packed[:64]) || snapshot.IsSnapshot(packed[:8]) || snapshot.IsSnapshot(packed[16:]) {
		t.Error("IsSnapshot does not know a compressed one")
	}
	for i := packedStart; i < len(packed); i++ {
		flipped := bytes.Clone(packed)
		flipped[i] ^= 1 << (i % 8)
		for _, damaged := range [][]byte{packed[:i], flipped} {
			h, f, err := snapshot.Decode(damaged)
			if err == nil && !bytes.Equal(snapshot.Encode(h, f), plain) || err != nil &&
				!errors.Is(err, snapshot.ErrCorrupt) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
	must(t, os.WriteFile(path, packed[:50], 0o600))
	if _, err := s.DropOldSnapshot("a"); !errors.Is(err, snapshot.ErrCorrupt) {
		t.Errorf("dropped the only good one: %v", err)
	}
	must(t, os.WriteFile(path, packed, 0o600))
	if freed, err := s.DropOldSnapshot("a"); err != nil || freed == 0 {
		t.Errorf("%d, %v", freed, err)
	}
	mustSave(t, s, "a", "newer")
	if got := files(t, dir, "a"); !slices.Equal(got, []string{"screen.2.zst", "screen.3"}) {
		t.Errorf("files %q", got)
	}
}

func BenchmarkSave(b *testing.B) {
	for _, n := range []int{0, 5000} {
		b.Run(fmt.Sprintf("history=%d", n), func(b *testing.B) {
			s, f := openStore(b, b.TempDir()), smallFrame()
			f.History = vt.LinesOf(slices.Repeat([]vt.Line{f.Main.Lines[0]}, n)...)
			for b.Loop() {
				must(b, s.Save("a", snapshot.Header{}, f))
			}
		})
	}
}

// TestDamagedSnapshotIsNotCompressed: it stays as it is for whoever looks at it, and is no error.
func TestDamagedSnapshotIsNotCompressed(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	mustSave(t, s, "a", strings.Repeat("old ", 100))
	mustSave(t, s, "a", strings.Repeat("new ", 100))
	must(t, os.WriteFile(filepath.Join(dir, "terminals", "a", "screen.2"), []byte("damaged"), 0o600))
	if saved, err := s.CompressSnapshots("a"); err != nil || saved <= 0 {
		t.Errorf("%d, %v", saved, err)
	}
	if got := files(t, dir, "a"); !slices.Equal(got, []string{"screen.1.zst", "screen.2"}) {
		t.Errorf("%q", got)
	}
}
