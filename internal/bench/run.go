package bench

import (
	"context"
	"math"
	"slices"
	"time"
)

// run is one scenario at one server. Its methods do nothing after the first error, and figures are NaN then.
type run struct {
	ctx  context.Context
	dir  string
	size sizes
	peer peer
	bash float64 // what the shell alone took, 0 when it was not asked
	err  error
}

// do is how long f takes, in milliseconds.
func (r *run) do(f func() error) float64 {
	if r.err != nil {
		return math.NaN()
	}
	start := time.Now()
	if r.err = f(); r.err != nil {
		return math.NaN()
	}
	return milliseconds(time.Since(start))
}

// each is the median of n figures.
func (r *run) each(n int, one func() float64) float64 {
	var all []float64
	for i := 0; i < n && r.err == nil; i++ {
		all = append(all, one())
	}
	return median(all)
}

// cpu is what the server's processes have used so far, in milliseconds.
func (r *run) cpu() float64 { return milliseconds(cpu(r.peer.pids())) }

// memory is that of the server's processes once they are quiet, in KB.
func (r *run) memory() float64 {
	r.settle()
	return resident(r.peer.pids())
}

// A server is quiet when it has used quietCPU in quietTime; settleLimit is the longest wait for that.
const (
	quietTime   = 200 * time.Millisecond
	quietCPU    = 2 // ms
	settleLimit = 4 * time.Second
)

// settle waits until the server is quiet.
func (r *run) settle() {
	for end := time.Now().Add(settleLimit); r.err == nil && time.Now().Before(end); {
		before := r.cpu()
		r.pause(quietTime)
		if r.cpu()-before < quietCPU {
			break
		}
	}
}

func (r *run) pause(d time.Duration) {
	r.do(func() error { return pause(r.ctx, d) })
}

// create starts n terminals.
func (r *run) create(n int) (names []string) {
	for range n {
		r.do(func() error {
			name, err := r.peer.create()
			names = append(names, name)
			return err
		})
	}
	return names
}

// attach has a viewer on each terminal, which has seen the word that its script begins with. All but the last read on
// by themselves.
func (r *run) attach(names ...string) (last viewer) {
	for _, name := range names {
		r.do(func() (err error) {
			if last != nil {
				go drain(last)
			}
			if last, err = r.peer.attach(name); err == nil {
				err = until(last, ready)
			}
			return err
		})
	}
	return last
}

// send types and waits for a word.
func (r *run) send(v viewer, keys, word string) (ms float64) {
	return r.do(func() error {
		if err := v.send([]byte(keys)); err != nil {
			return err
		}
		return until(v, word)
	})
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// median of figures; NaN when one is, or there is none.
func median(figures []float64) float64 {
	slices.Sort(figures) // NaN comes first
	if len(figures) == 0 || math.IsNaN(figures[0]) {
		return math.NaN()
	}
	return figures[len(figures)/2]
}
