package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/evertty/evertty/snapshot"
)

// goldenRecords is one record of every type, at a time that never changes.
func goldenRecords() []record {
	const at = 1_700_000_000_000_000
	return []record{
		{kind: recordStart, pos: 1000, time: at, cols: 80, rows: 24, generation: 2, answered: 990},
		{kind: recordMark, pos: 1004, time: at + 10_000, crc: 0xdeadbeef},
		{kind: recordUnsure, pos: 90_000, time: at + 20_000},
		{kind: recordResize, pos: 1002, time: at + 15_000, cols: 132, rows: 43},
		{kind: recordAnswered, pos: 90_000, time: at + 20_001, answered: 90_000},
		{kind: recordInput, pos: 90_000, time: at + 20_002, text: []byte("ls\r")},
		{kind: recordExit, pos: 90_000, time: at - 1, text: []byte(`{"signal":"KILL","time":"2026-01-01T00:00:00Z"}`)},
		{kind: recordRestart, pos: 90_000, time: at + 30_000, generation: 3, cols: 100, rows: 30},
		{kind: recordSeal, pos: 90_000, time: at + 40_000},
	}
}

func encodeIndex(list []record) (b []byte, cuts []int) {
	base := indexBase{list[0].pos, list[0].time}
	for i := range list {
		b = appendFrame(b, base, &list[i])
		cuts = append(cuts, len(b))
	}
	return b, cuts
}

func decodeIndex(b []byte) (list []record, good int, err error) {
	var s indexScan
	for good < len(b) {
		r, n, err := s.next(b[good:])
		if err != nil {
			return list, good, err
		}
		list, good = append(list, r), good+n
	}
	return list, good, nil
}

// TestIndexGolden: the format on disk, as text for review. It never changes
// without a new version.
func TestIndexGolden(t *testing.T) {
	list := goldenRecords()
	b, cuts := encodeIndex(list)
	var text strings.Builder
	for i, at := 0, 0; i < len(cuts); at, i = cuts[i], i+1 {
		fmt.Fprintf(&text, "# type %d\n%s", list[i].kind, hex.Dump(b[at:cuts[i]]))
	}
	name := filepath.Join("testdata", "index.txt")
	if *update {
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(name)
	if err != nil || string(want) != text.String() {
		t.Errorf("%v\n%s", err, text.String())
	}
	if got, _, err := decodeIndex(b); err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, list)
	}
}

// TestIndexIsCutAtTheFirstBadFrame: whatever happens to a byte, the records
// before it are the ones that were written, and none is invented.
func TestIndexIsCutAtTheFirstBadFrame(t *testing.T) {
	list := goldenRecords()
	b, cuts := encodeIndex(list)
	whole := func(n int) (k int) {
		for k < len(cuts) && cuts[k] <= n {
			k++
		}
		return k
	}
	for n := range b {
		got, good, err := decodeIndex(b[:n])
		k := whole(n)
		if len(got) != k || k > 0 && (!reflect.DeepEqual(got, list[:k]) || good != cuts[k-1]) {
			t.Fatalf("cut to %d: %d records, want %d", n, len(got), k)
		}
		if atCut := n == 0 || k > 0 && cuts[k-1] == n; (err == nil) != atCut || err != nil && !errors.Is(err, errTorn) {
			t.Fatalf("cut to %d: %v", n, err)
		}
		for bit := range 8 {
			c := bytes.Clone(b)
			c[n] ^= 1 << bit
			got, _, err := decodeIndex(c)
			if len(got) != k || err == nil || k > 0 && !reflect.DeepEqual(got, list[:k]) {
				t.Fatalf("byte %d bit %d: %d records, want %d; %v", n, bit, len(got), k, err)
			}
		}
	}
}

func TestIndexRefuses(t *testing.T) {
	list := goldenRecords()
	for name, bad := range map[string][]record{
		"a second start":      {list[0], list[0]},
		"no start":            {list[1]},
		"after the seal":      {list[0], list[8], list[7]},
		"a mark that is back": {list[0], list[1], {kind: recordMark, pos: 1003}},
		"too long a range":    {list[0], {kind: recordMark, pos: 1000 + maxRange + 1}},
		"seal before a mark":  {list[0], list[1], {kind: recordSeal, pos: 1001}},
		"a huge position":     {list[0], {kind: recordResize, pos: 1 << 63}},
		"exit without JSON":   {list[0], {kind: recordExit, pos: 1000, text: []byte("{")}},
	} {
		b, _ := encodeIndex(bad)
		if _, _, err := decodeIndex(b); !errors.Is(err, errBadFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	b, _ := encodeIndex(list[:1])
	unknown := appendFrame(b, indexBase{1000, 0}, &record{kind: 200, pos: 1000})
	unknown = appendFrame(unknown, indexBase{1000, list[0].time}, &list[1])
	if got, _, err := decodeIndex(unknown); err != nil || len(got) != 3 || got[2].pos != 1004 {
		t.Errorf("an unknown type: %d records, %v", len(got), err)
	}
	for name, zeros := range map[string]int{"a block of zeros": 4096, "some zeros": 8, "three zeros": frameTop} {
		if got, _, err := decodeIndex(append(bytes.Clone(b), make([]byte, zeros)...)); len(got) != 1 ||
			!errors.Is(err, errBadFrame) {
			t.Errorf("%s: %d records, %v", name, len(got), err)
		}
	}
}

// FuzzIndex: any bytes decode to records that encode to the same again, and no
// count in them is believed.
func FuzzIndex(f *testing.F) {
	b, cuts := encodeIndex(goldenRecords())
	f.Add(b)
	f.Add(b[:cuts[3]+5])
	f.Add([]byte(indexMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		checkIndex(t, b)
		checkIndex(t, resealed(b))
	})
}

func checkIndex(t *testing.T, b []byte) {
	list, good, err := decodeIndex(b)
	if err != nil && !errors.Is(err, errTorn) && !errors.Is(err, errBadFrame) && !errors.Is(err, snapshot.ErrVersion) {
		t.Fatal(err)
	}
	if good > len(b) || err == nil && good != len(b) {
		t.Fatalf("%d of %d bytes", good, len(b))
	}
	known := list[:0]
	for _, r := range list {
		if r.kind <= lastRecord {
			known = append(known, r)
		}
	}
	if len(known) == 0 {
		return
	}
	again, _ := encodeIndex(known)
	back, _, err := decodeIndex(again)
	if err != nil || len(back) != len(known) {
		t.Fatalf("%v: %d records, %d before", err, len(back), len(known))
	}
	for i := range back {
		if !bytes.Equal(back[i].text, known[i].text) {
			t.Fatalf("record %d: text %q became %q", i, known[i].text, back[i].text)
		}
		back[i].text, known[i].text = nil, nil
		if !reflect.DeepEqual(back[i], known[i]) {
			t.Fatalf("record %d: %+v became %+v", i, known[i], back[i])
		}
	}
}

// resealed gives b the magic and right checksums, as far as frames fit into it.
func resealed(b []byte) []byte {
	b = bytes.Clone(b)
	at := copy(b, indexMagic)
	for len(b)-at >= frameOver {
		size := frameOver + int(binary.LittleEndian.Uint16(b[at:]))
		if size > len(b)-at {
			break
		}
		frame := b[at : at+size]
		binary.LittleEndian.PutUint32(frame[size-4:], crc32.Checksum(frame[:size-4], castagnoli))
		at += size
	}
	return b
}
