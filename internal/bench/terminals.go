package bench

import (
	"context"
	"math"
	"path/filepath"
	"sync"
)

// perList and perDelete are how often a list is asked for, and how many terminals are deleted.
const perList, perDelete = 10, 10

// fullTerminals measures the memory of terminals with all of their history, and viewers that come back to them.
func fullTerminals(r *run) []float64 {
	r.fill(1)
	before := r.memory()
	names := r.fill(full)
	after := r.memory()
	return []float64{(after - before) / full, r.do(func() error { return r.comeBack(names) })}
}

// fill creates terminals and waits until their programs have printed all.
func (r *run) fill(n int) []string {
	done := func() int {
		files, _ := filepath.Glob(filepath.Join(r.dir, fullName+".*"))
		return len(files)
	}
	all := done() + n
	names := r.create(n)
	for r.err == nil && done() < all {
		r.pause(poll)
	}
	return names
}

// comeBack has many viewers connect at once and waits until each has seen all. One that is refused tries again: a busy
// machine may not shake hands in time.
func (r *run) comeBack(names []string) error {
	var wg sync.WaitGroup
	for i := range returned {
		wg.Go(func() {
			for seen := false; !seen && r.ctx.Err() == nil; {
				v, err := r.peer.attach(names[i%len(names)])
				if err == nil {
					seen = until(v, finished) == nil
					go drain(v)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(r.ctx)
}

// idleMemory measures the memory of terminals where nothing happens, and of viewers of them. ttyd has both as one.
func idleMemory(r *run) []float64 {
	r.attach(r.create(1)...)
	none := r.memory()
	names := r.create(r.size.quiet)
	alone := r.memory()
	r.attach(names...)
	seen, n := r.memory(), float64(r.size.quiet)
	if _, keeps := r.peer.(lister); !keeps {
		return []float64{math.NaN(), (seen - none) / n}
	}
	return []float64{(alone - none) / n, (seen - alone) / n}
}

// createMany measures what starting, listing and deleting terminals take.
func createMany(r *run) []float64 {
	names := r.create(1)
	before := r.cpu()
	created := r.each(r.size.created, func() float64 {
		return r.do(func() error {
			name, err := r.peer.create()
			names = append(names, name)
			return err
		})
	})
	used := r.cpu() - before
	r.settle()
	keeper := r.peer.(lister)
	listed := r.each(perList, func() float64 { return r.do(keeper.list) })
	removed := r.each(perDelete, func() float64 {
		name := names[0]
		names = names[1:]
		return r.do(func() error { return keeper.remove(name) })
	})
	return []float64{created, used / float64(r.size.created), listed, removed}
}

// idleCPU measures what a server does while nothing happens.
func idleCPU(r *run) []float64 {
	if last := r.attach(r.create(r.size.quiet)...); last != nil {
		go drain(last)
	}
	r.settle()
	before := r.cpu()
	r.pause(r.size.watch)
	return []float64{100 * (r.cpu() - before) / milliseconds(r.size.watch)}
}
