package bash

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/evertty/evertty/internal/provider"
)

// probeLimit bounds a probe, which samples twice with a fifth of a second between.
const probeLimit = 20 * time.Second

// probeScript prints what a Linux instance uses: two samples of the counters, then memory and disk
// in KiB. Memory is the control group's where that has a limit.
const probeScript = `look() { head -n 1 /proc/stat
awk -F'[: ]+' 'NR>2 && $2!="lo" {r+=$3; t+=$11} END {print "net", r+0, t+0}' /proc/net/dev; }
look; sleep 0.2; look
if m=$(cat /sys/fs/cgroup/memory.max 2>/dev/null) && [ "$m" != max ]; then
echo "mem $((m/1024)) $(($(cat /sys/fs/cgroup/memory.current)/1024))"
else awk '/^MemTotal:/ {t=$2} /^MemAvailable:/ {a=$2} END {print "mem", t, t-a}' /proc/meminfo; fi
df -kP . | awk 'NR==2 {print "disk", $2, $3}'
`

// Measure measures an instance with a command in it.
func Measure(ctx context.Context, p provider.Provider, id string) (provider.Metrics, error) {
	var out bytes.Buffer
	r, err := p.Exec(ctx, id, provider.ExecRequest{Command: probeScript, Timeout: probeLimit}, &out, io.Discard)
	if err != nil {
		return provider.Metrics{}, err
	}
	if r.ExitCode != 0 {
		return provider.Metrics{}, fmt.Errorf("%s: %w: the probe ended with %d", p.Name(), provider.ErrProvider,
			r.ExitCode)
	}
	return readProbe(out.String()), nil
}

// readProbe parses the output of probeScript. Missing and invalid numbers are unknown.
func readProbe(text string) provider.Metrics {
	var m provider.Metrics
	seen := map[string][]float64{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		numbers := make([]float64, 0, len(f)-1)
		for _, v := range f[1:] {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				break
			}
			numbers = append(numbers, n)
		}
		before, again := seen[f[0]]
		seen[f[0]] = numbers
		switch {
		case len(numbers) < 2:
		case f[0] == "mem":
			m.MemoryTotalMB, m.MemoryUsedMB = share(numbers[0], 1<<10), share(numbers[1], 1<<10)
		case f[0] == "disk":
			m.DiskTotalGB, m.DiskUsedGB = share(numbers[0], 1<<20), share(numbers[1], 1<<20)
		case f[0] == "net" && again && len(before) >= 2:
			const kilobits = 8 * 5 / 1000.0 // in a second, of bytes in a fifth of one
			m.RxKbps, m.TxKbps = share((numbers[0]-before[0])*kilobits, 1), share((numbers[1]-before[1])*kilobits, 1)
		case f[0] == "cpu" && again:
			m.CPUPercent = busy(before, numbers)
		}
	}
	return m
}

// busy is the time that was not idle (fields 4 and 5 of /proc/stat, proc_stat(5)), in percent of
// all processors.
func busy(before, after []float64) *float64 {
	if len(before) != len(after) || len(after) < 5 {
		return nil
	}
	var all, idle float64
	for i := range after {
		if i < 8 { // guest time is in user time already
			all += after[i] - before[i]
		}
	}
	if idle = after[3] - before[3] + after[4] - before[4]; all <= 0 {
		return nil
	}
	return share(100*(all-idle), all)
}

func share(n, of float64) *float64 { return new(n / of) }
