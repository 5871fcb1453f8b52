package state

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

// TestCaptureIsReadInPieces: the memory that a capture takes, and the script of the next process, do not grow with it.
func TestCaptureIsReadInPieces(t *testing.T) { // not in parallel: it counts what this process allocates
	text, err := os.ReadFile("testdata/capture")
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "␀", "\x00")
	const element, line = `[0]="0123456789" `, "declare -- v0000001=\"0123456789\"\n"
	for name, more := range map[string][3]string{
		"one array": {"declare -a big=(", element, ")\n"}, "one text": {`declare -- big="`, "0123456789",
			"\"\n"}, "variables": {"", line, ""},
	} {
		dir := t.TempDir()
		long := more[0] + strings.Repeat(more[1], 16<<20/len(more[1])) + more[2]
		err := os.WriteFile(Path(dir), []byte(strings.Replace(whole, "declare -- _=", long+"declare -- _=", 1)), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		peak := watchHeap(t, func() {
			i, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, missing, err := i.WriteRestore(dir, nil); err != nil || len(missing) > 0 {
				t.Fatal(missing, err)
			}
		})
		if info, err := os.Stat(filepath.Join(dir, RestoreFile)); err != nil || info.Size() < 16<<20 || peak > 10<<20 {
			t.Errorf("%s: %d KiB at a time, %v", name, peak>>10, err)
		}
	}
}

// watchHeap is by how many bytes the heap grows while f runs, at most, with the collector at work.
func watchHeap(t *testing.T, f func()) uint64 {
	t.Helper()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	size := func() uint64 {
		metrics.Read(heap)
		return heap[0].Value.Uint64()
	}
	runtime.GC()
	before, peak := size(), uint64(0)
	done, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for !shelldir.Closed(done) {
			peak = max(peak, size())
			<-tick.C
		}
	}()
	f()
	close(done)
	<-looked
	return peak - min(peak, before)
}
