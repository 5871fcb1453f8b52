package datadir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSegmentOffset: only a name that SegmentFile writes is one of a segment.
func TestSegmentOffset(t *testing.T) {
	for _, tc := range []struct {
		kind, name string
		offset     uint64
		packed, ok bool
	}{
		{DataFile, "data.0", 0, false, true},
		{DataFile, "data.17", 17, false, true},
		{DataFile, "data.17.zst", 17, true, true},
		{IndexFile, "index.17", 17, false, true},
		{IndexFile, "index.17.zst", 0, false, false},
		{DataFile, "index.17", 0, false, false},
		{DataFile, "17", 0, false, false},
		{DataFile, "data.007", 0, false, false},
		{DataFile, "data.+7", 0, false, false},
		{DataFile, "data.", 0, false, false},
		{DataFile, "data.4611686018427387903", 1<<62 - 1, false, true},
		{DataFile, "data.4611686018427387904", 0, false, false},
	} {
		offset, packed, ok := SegmentOffset(tc.kind, tc.name)
		if ok != tc.ok || ok && (offset != tc.offset || packed != tc.packed) {
			t.Errorf("%s: %d, %v, %v", tc.name, offset, packed, ok)
		}
		if name := SegmentFile(tc.kind, offset); ok && name != tc.name && name+PackedEnd != tc.name {
			t.Errorf("%s is written as %s", tc.name, name)
		}
	}
}

// TestSweepDroppedSegment: a segment whose removal was interrupted loses its index too, and no other does.
func TestSweepDroppedSegment(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	mustSave(t, s, "a", "kept")
	for _, name := range []string{".gone-data.10", "index.10", ".gone-index.20", "index.20", ".tmp-data.30",
		"index.30"} {
		must(t, os.WriteFile(filepath.Join(dir, "terminals", "a", name), nil, 0o600))
	}
	openStore(t, dir)
	if got := files(t, dir, "a"); !slices.Equal(got, []string{"index.20", "index.30", "screen.1"}) {
		t.Errorf("%q", got)
	}
}

// TestSnapshotNames: a file counts as a snapshot only under a name that is written, the highest number first, and the
// plain one before the compressed one.
func TestSnapshotNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"screen.1", "screen.01", "screen.3.zst", "screen.3", "2", "screen.", "screen.x",
		"screen.100000000000000000", "screen.99999999999999999.zst", "screen.10"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	d, err := os.OpenRoot(dir)
	must(t, err)
	defer d.Close()
	got, err := snapshots(d)
	want := []screenFile{{99999999999999999, true}, {10, false}, {3, false}, {3, true}, {1, false}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestDropOldSnapshotLeavesOne: a terminal without a directory, or with one snapshot, has none to drop.
func TestDropOldSnapshotLeavesOne(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	if freed, err := s.DropOldSnapshot("none"); freed != 0 || err != nil {
		t.Errorf("%d, %v", freed, err)
	}
	mustSave(t, s, "a", "only")
	must(t, os.WriteFile(filepath.Join(dir, "terminals", "a", "screen.1"), []byte("damaged"), 0o600))
	if freed, err := s.DropOldSnapshot("a"); freed != 0 || err != nil {
		t.Errorf("%d, %v", freed, err)
	}
	if got := files(t, dir, "a"); !slices.Equal(got, []string{"screen.1"}) {
		t.Errorf("%q", got)
	}
}
