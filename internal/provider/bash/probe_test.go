package bash

import (
	"testing"

	"github.com/evertty/evertty/internal/provider"
)

func TestReadProbe(t *testing.T) {
	m := readProbe("cpu  100 0 100 800 0 0 0 0 0 0\nnet 1000 2000\n" +
		"cpu  150 0 150 900 0 0 0 0 0 0\nnet 2000 2500\nmem 2048 1024\ndisk 2097152 1048576\n")
	for name, c := range map[string]struct {
		got  *float64
		want float64
	}{
		"cpu": {m.CPUPercent, 50}, "mem": {m.MemoryUsedMB, 1}, "of": {m.MemoryTotalMB, 2}, "disk": {m.DiskUsedGB, 1},
		"disk of": {m.DiskTotalGB, 2}, "rx": {m.RxKbps, 40}, "tx": {m.TxKbps, 20},
	} {
		if c.got == nil || *c.got != c.want {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if m := readProbe("cpu 1 2\nnet x\nmem 1\n"); m != (provider.Metrics{}) {
		t.Errorf("of nothing useful: %+v", m)
	}
}

func FuzzReadProbe(f *testing.F) {
	f.Add("cpu 1 2 3 4 5\ncpu 2 3 4 5 6\nnet 1 2\nnet 2 3\nmem 1 1\ndisk 1 1\n")
	f.Fuzz(func(_ *testing.T, text string) { readProbe(text) })
}
