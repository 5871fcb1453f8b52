package script_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// What a sourced text tells is waited for while bash has its file open, and no longer: on a full disk it is not told.
func TestToldWhileItIsWritten(t *testing.T) {
	t.Parallel()
	const text = "/dir\x00arg\x001\x000\x00\x00"
	for _, written := range []int{0, len(text) - 1, len(text)} {
		dir := t.TempDir()
		f, err := os.Create(filepath.Join(dir, shelldir.DoneName+"0"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text[:written]); err != nil {
			t.Fatal(err)
		}
		told := make(chan script.Ended, 1)
		go func() { told <- script.Told(dir) }()
		if written < len(text) {
			select { // the case is about how long it takes
			case e := <-told:
				t.Fatalf("after %d bytes: %+v", written, e)
			case <-time.After(300 * time.Millisecond):
			}
			if _, err := f.WriteString(text[written:]); err != nil {
				t.Fatal(err)
			}
		}
		if e := <-told; !slices.Equal(e.Pipe, []int{1, 0}) || e.PWD != "/dir" || e.Arg != "arg" {
			t.Errorf("%d bytes at first: %+v", written, e)
		}
		if err := os.Truncate(f.Name(), int64(len(text)-1)); err != nil {
			t.Fatal(err)
		}
		f.Close()
		begun := time.Now()
		if e := script.Told(dir); e.Pipe != nil || time.Since(begun) > time.Second {
			t.Errorf("closed too early, after %v: %+v", time.Since(begun), e)
		}
	}
}
