package vt_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/vt"
)

// resizes are terminals that take much memory while they are resized, when nobody watches.
var resizes = map[string]struct {
	cols, to, scrollback, memory int
	unit                         string
	size                         int
}{
	"one line":        {1000, 2, 5000, 0, "text ", 4 << 20},
	"one line of é":   {1000, 2, 100_000, 0, "é", 4 << 20},
	"lines":           {1000, 2, 100_000, 0, strings.Repeat("x", 990) + "\r\n", 4 << 20},
	"marks":           {1000, 2, 100_000, 0, "e\u0301", 4 << 20},
	"blanks":          {1000, 2, 100_000, 0, "x\x1b[44m\x1b[1000C\x1b[Ky", 128 << 10},
	"little memory":   {1000, 2, 100_000, vt.MinMemory, "text ", 4 << 20},
	"wider":           {2, 1000, 100_000, 0, "text", 1 << 20},
	"wider, all rows": {2, 1000, 100_000, vt.MinMemory, "text", 1 << 20},
	"much memory":     {1000, 2, 100_000, 64 << 20, "text ", 16 << 20},
}

// TestMemoryOfResize: a resize takes no more than a few times the memory that the terminal
// may have, also in its middle.
func TestMemoryOfResize(t *testing.T) {
	if name := os.Getenv("VT_TEST_RESIZE"); name != "" {
		resizeAlone(t, name)
		return
	}
	if raceEnabled {
		t.Skip("the race detector takes memory for each access")
	}
	for name, r := range resizes {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryOfResize$", "-test.v")
			cmd.Env = append(os.Environ(), "VT_TEST_RESIZE="+name, "GOMEMLIMIT=off", "GOGC=50")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			_, rest, _ := strings.Cut(string(out), "grew by ")
			grew, err := strconv.Atoi(strings.Fields(rest + " ?")[0])
			if err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			limit := vt.Config{Memory: r.memory}.Clamped().Memory
			t.Logf("grew by %d MiB of %d", grew>>20, limit>>20)
			if most := 6*limit + 24<<20; grew > most {
				t.Errorf("the process grew by %d MiB, more than %d", grew>>20, most>>20)
			}
		})
	}
}

// resizeAlone prints how much this process grew by a resize.
func resizeAlone(t *testing.T, name string) {
	r := resizes[name]
	e := vt.New(vt.Config{Cols: r.cols, Rows: 24, Scrollback: r.scrollback, Memory: r.memory})
	for range r.size / len(r.unit) {
		e.Write([]byte(r.unit))
	}
	e.Write([]byte("\r\n$ ")) // the cursor's line does not reflow
	before := peakMemory(t)
	e.Resize(r.to, 24)
	t.Logf("grew by %d", peakMemory(t)-before)
	if limit := (vt.Config{Memory: r.memory}).Clamped().Memory; e.Memory() > limit {
		t.Errorf("%d bytes afterwards, of %d", e.Memory(), limit)
	}
	if err := vt.Check(e); err != nil {
		t.Error(err)
	}
}

// peakMemory is the most memory that this process had at any time, in bytes.
func peakMemory(t *testing.T) int {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	const unit = 1 << 10 // getrusage(2)
	return int(u.Maxrss) * unit
}
