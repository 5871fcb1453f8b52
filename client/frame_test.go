package client

import (
	"bytes"
	"errors"
	"testing"
)

func TestDecodeFrame(t *testing.T) {
	for _, tc := range []struct {
		name  string
		in    []byte
		kind  Kind
		known bool
		bad   bool
	}{
		{"snapshot", snapshotFrame(80, 24, 1, "x"), KindSnapshot, true, false},
		{"empty snapshot", snapshotFrame(80, 24, 1, ""), KindSnapshot, true, false},
		{"short snapshot", snapshotFrame(80, 24, 1, "")[:12], "", false, true},
		{"data", dataFrame(1, "x"), KindData, true, false},
		{"short data", dataFrame(1, "")[:8], "", false, true},
		{"control", frameOf(`{"event":"resize","cols":1,"rows":2,"seq":3}`), KindResize, true, false},
		{"control of wrong types", frameOf(`{"event":"resize","cols":"1"}`), KindResize, true, true},
		{"control that is not JSON", frameOf(`{`), "", false, true},
		{"control without event", frameOf(`{}`), "", false, false},
		{"unknown", []byte{0x44, 1}, "", false, false},
		{"empty", nil, "", false, true},
	} {
		e, known, err := decodeFrame(tc.in)
		if e.Kind != tc.kind || known != tc.known || (err != nil) != tc.bad {
			t.Errorf("%s: %+v, %v, %v", tc.name, e, known, err)
		}
	}
}

// FuzzDecodeFrame: any bytes are an event, a frame to skip or an error, and what
// is read of a frame of bytes makes the same frame again.
func FuzzDecodeFrame(f *testing.F) {
	f.Add(snapshotFrame(80, 24, 7, "\x1b[m"))
	f.Add(dataFrame(7, "é"))
	f.Add(frameOf(`{"event":"exit","code":0,"signal":"","reason":"exit","seq":3}`))
	f.Add(frameOf(`{"event":"meta","size":{"cols":1},"viewers":-1}`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, p []byte) {
		e, known, err := decodeFrame(p)
		if len(p) == 0 && !errors.Is(err, ErrBadFrame) {
			t.Fatalf("an empty frame: %v", err)
		}
		if err != nil || !known {
			return
		}
		switch e.Kind {
		case KindSnapshot:
			if p[0] == frameSnapshot &&
				!bytes.Equal(p, snapshotFrame(uint16(e.Cols), uint16(e.Rows), e.Seq, string(e.Data))) {
				t.Fatalf("%x became %+v", p, e)
			}
		case KindData:
			if p[0] == frameData && !bytes.Equal(p, dataFrame(e.Seq, string(e.Data))) {
				t.Fatalf("%x became %+v", p, e)
			}
		case KindExit:
			if e.Exit == nil {
				t.Fatal("an exit without one")
			}
		case KindError:
			_ = e.Err.Error()
		}
	})
}
