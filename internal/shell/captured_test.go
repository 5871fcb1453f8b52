package shell

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

// TestLongComesBack: variables, functions and arguments of megabytes come back as they were, every byte of them.
func TestLongComesBack(t *testing.T) {
	t.Parallel()
	s := start(t)
	all := `for i in {1..255}; do printf -v x '\\x%02x' $i; printf -v x "$x"; all+=$x; done; all+='"$x" \n '; `
	run(t, s, all+`long=$all; for i in {1..12}; do long+=$long; done
mapfile -t lines < <(seq 120000); declare -A map; for i in {1..30000}; do map[$i"'"]="v '$i' of the map"; done; map["777'"]=$all; unset all i x
set -- "$long" 'b  c' ""; printf -v x '%01100000d' 7; eval "f() { : '$x'; echo f; }"; unset x; declare -i n=7; late=1; export LONG=$long`)
	settled(t, s)
	const ask = `p=$(declare -p LONG); echo "${p:0:15}"; export -n LONG; for v in "$long" "$LONG" "$1" "${lines[*]}" "$(declare -f f)"; do printf %s "$v" | md5sum; done; printf %s "${map["777'"]}" | md5sum; echo ${#lines[@]} ${#map[@]} $#"$2" $n $late; f`
	want := run(t, s, "("+ask+")")
	run(t, s, "kill -9 $$")
	if r := run(t, s, "("+ask+")"); r.out != want.out || strings.Count(r.out, "\n") != 9 || len(r.Lost) != 0 {
		t.Errorf("%q, %q; want %q", r.out, r.Lost, want.out)
	}
}

// TestCaptureIsReadInPieces: the memory that a capture takes, and the script of the next process, do not grow with it.
func TestCaptureIsReadInPieces(t *testing.T) { // not in parallel: it counts what this process allocates
	text, err := os.ReadFile("testdata/capture")
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "␀", "\x00")
	const element, line = `[0]="0123456789" `, "declare -- v0000001=\"0123456789\"\n"
	for name, more := range map[string][3]string{
		"one array": {"declare -a big=(", element, ")\n"}, "one text": {`declare -- big="`, "0123456789", "\"\n"}, "variables": {"", line, ""},
	} {
		dir := t.TempDir()
		long := more[0] + strings.Repeat(more[1], 16<<20/len(more[1])) + more[2]
		err := os.WriteFile(stateIn(dir), []byte(strings.Replace(whole, "declare -- _=", long+"declare -- _=", 1)), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		peak := watchHeap(t, func() {
			i, err := loadState(dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, missing, err := i.restore(dir, nil); err != nil || len(missing) > 0 {
				t.Fatal(missing, err)
			}
		})
		if info, err := os.Stat(filepath.Join(dir, restoreFile)); err != nil || info.Size() < 16<<20 || peak > 10<<20 {
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
		for !closed(done) {
			peak = max(peak, size())
			<-tick.C
		}
	}()
	f()
	close(done)
	<-looked
	return peak - min(peak, before)
}
