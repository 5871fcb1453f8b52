package shell

import (
	"os/exec"
	"slices"
	"testing"
	"time"
)

// BenchmarkTrue runs `true` in a shell and as a bash of its own, in turns: p50 of both and what one is of the other.
// The shell's next command waits for the capture of its state, as that of a caller who has nothing else to do.
func BenchmarkTrue(b *testing.B) {
	s := start(b)
	run(b, s, ":")
	var ours, theirs []time.Duration
	for b.Loop() {
		began := time.Now()
		if r := run(b, s, "true"); r.ExitCode != 0 {
			b.Fatalf("%+v", r)
		}
		ours = append(ours, time.Since(began))
		began = time.Now()
		if err := exec.Command("bash", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(began))
	}
	b.ReportMetric(median(ours)*1e3, "ms-true")
	b.ReportMetric(median(theirs)*1e3, "ms-bash")
	b.ReportMetric(median(ours)/median(theirs), "ratio")
}

// median is in seconds.
func median(list []time.Duration) float64 {
	slices.Sort(list)
	return list[len(list)/2].Seconds()
}

// Benchmark100MB is how fast much output gets to the log.
func Benchmark100MB(b *testing.B) {
	s := start(b)
	const size = 100_000_000
	b.SetBytes(size)
	for b.Loop() {
		if r := do(b, s, Command{Text: "head -c 100000000 /dev/zero"}); r.ExitCode != 0 || r.Truncated ||
			len(r.out) != size {
			b.Fatalf("%d bytes, %+v", len(r.out), r.Result)
		}
	}
}
