package bench

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestRatio: the ratio is to the best of the others, which is the largest where more is better.
func TestRatio(t *testing.T) {
	for _, tc := range []struct {
		values map[string]float64
		more   bool
		want   float64
	}{
		{map[string]float64{ownName: 6, "ttyd": 3, "tmux": 2}, false, 3},
		{map[string]float64{ownName: 6, "ttyd": 3, "tmux": 2}, true, 2},
		{map[string]float64{ownName: 6, "tmux": 0}, false, 0},
		{map[string]float64{ownName: 6}, false, 0},
		{map[string]float64{"ttyd": 6}, false, 0},
	} {
		r := Row{Values: tc.values, more: tc.more}
		if r.settle(); r.Ratio != tc.want {
			t.Errorf("%+v: want %v", r, tc.want)
		}
	}
}

func TestMedian(t *testing.T) {
	if m := median([]float64{9, 1, 4}); m != 4 {
		t.Errorf("got %v", m)
	}
	if m := median([]float64{1, math.NaN()}); !math.IsNaN(m) {
		t.Errorf("got %v", m)
	}
}

// pieces is a viewer that shows these, one for each read.
type pieces []string

func (p *pieces) read() ([]byte, error) {
	first := (*p)[0]
	*p = (*p)[1:]
	return []byte(first), nil
}

func (p *pieces) send([]byte) error { return nil }
func (p *pieces) close()            {}

// TestUntil: a word is found that two reads cut, and nothing behind it is read.
func TestUntil(t *testing.T) {
	v := &pieces{"aFINI", "SH", "ED", "rest"}
	if err := until(v, finished); err != nil || !slices.Equal(*v, pieces{"rest"}) {
		t.Errorf("%v, left: %q", err, *v)
	}
}

// TestSlow: a viewer on a slow line takes its time.
func TestSlow(t *testing.T) {
	text := make([]byte, slowRate/20)
	v := &slow{viewer: &pieces{string(text), string(text)}, began: time.Now()}
	_, _ = v.read()
	_, _ = v.read()
	if took := time.Since(v.began); took < 100*time.Millisecond {
		t.Errorf("100 ms of a slow line took %v", took)
	}
}
