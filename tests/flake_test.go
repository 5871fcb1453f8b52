package tests

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	endian "encoding/binary"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestFlakeVendorHash: flake.nix has the hash of what go.mod asks for; Nix builds nothing with another one.
func TestFlakeVendorHash(t *testing.T) {
	t.Parallel()
	flake, err := os.ReadFile("../flake.nix")
	if err != nil {
		t.Fatal(err)
	}
	vendor := filepath.Join(t.TempDir(), "vendor")
	c := exec.Command("go", "mod", "vendor", "-o", vendor)
	c.Dir = ".."
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	h := sha256.New()
	narText(h, "nix-archive-1")
	if err := narPath(h, vendor); err != nil {
		t.Fatal(err)
	}
	if want := `vendorHash = "sha256-` + base64.StdEncoding.EncodeToString(h.Sum(nil)) + `"`; !bytes.Contains(flake,
		[]byte(want)) {
		t.Errorf("flake.nix needs %s", want)
	}
}

// narPath writes a file or directory in the form that Nix takes the hash of (NAR). There are no links in it.
func narPath(w io.Writer, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	narText(w, "(", "type")
	if !info.IsDir() {
		b, err := os.ReadFile(path)
		narText(w, "regular")
		if info.Mode()&0o100 != 0 {
			narText(w, "executable", "")
		}
		narText(w, "contents", string(b), ")")
		return err
	}
	narText(w, "directory")
	entries, err := os.ReadDir(path) // sorted by bytes, as there
	for _, e := range entries {
		narText(w, "entry", "(", "name", e.Name(), "node")
		if err := narPath(w, filepath.Join(path, e.Name())); err != nil {
			return err
		}
		narText(w, ")")
	}
	narText(w, ")")
	return err
}

// narText writes texts with their lengths, filled up to 8 bytes.
func narText(w io.Writer, texts ...string) {
	for _, s := range texts {
		length := endian.LittleEndian.AppendUint64(nil, uint64(len(s)))
		_, _ = io.WriteString(w, string(length)+s+strings.Repeat("\x00", (8-len(s)%8)%8)) // of a hash: no error
	}
}
