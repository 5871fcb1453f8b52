package compat

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
)

// TestReadWhole: a file of which only a part would be read is refused, whatever its size was a moment ago.
func TestReadWhole(t *testing.T) {
	zeros, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zeros.Close()
	if p, err := readWhole(io.LimitReader(zeros, maxFile), "f"); err != nil || len(p) != maxFile {
		t.Errorf("the largest: %d bytes, %v", len(p), err)
	}
	if p, err := readWhole(zeros, "f"); !errors.Is(err, syscall.EFBIG) || p != nil {
		t.Errorf("one without an end: %d bytes, %v", len(p), err)
	}
}
