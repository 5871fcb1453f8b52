package shell

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// job is what has a turn in the queue: a command, or a change of the state of a remote shell.
type job struct {
	cmd *Exec // nil of a change
	run func()
	// drop answers the caller of a change that will not run; nil of a command, which is ended instead.
	drop func(why error)
}

// queue has the jobs that wait, the one that has its turn, and the number of commands beside them. All methods may be
// called at the same time from several goroutines; its lock is a leaf.
type queue struct {
	wake chan struct{} // has a value after the queue has grown

	mu      sync.Mutex // guards what follows
	waiting []*job
	current *job // nil while none has its turn
	beside  int  // commands in the background and isolated, at most maxParallel
}

// push appends a job.
func (q *queue) push(j *job) {
	q.mu.Lock()
	q.waiting = append(q.waiting, j)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// next waits for the next job and gives it its turn; nil when ctx has ended.
func (q *queue) next(ctx context.Context) *job {
	for ctx.Err() == nil {
		q.mu.Lock()
		if len(q.waiting) > 0 {
			q.current, q.waiting = q.waiting[0], q.waiting[1:]
			defer q.mu.Unlock()
			return q.current
		}
		q.mu.Unlock()
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
	return nil
}

// setCurrent gives a job its turn; nil ends the turn of whichever has it.
func (q *queue) setCurrent(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.current = j
}

// leave ends the turn of a command that has it.
func (q *queue) leave(e *Exec) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.current != nil && q.current.cmd == e {
		q.current = nil
	}
}

// busy reports whether a job has its turn that has not ended.
func (q *queue) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.current != nil && (q.current.cmd == nil || !q.current.cmd.hasEnded())
}

// position is a command's place among those that wait, from 1; 0 outside.
func (q *queue) position(e *Exec) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.IndexFunc(q.waiting, func(j *job) bool { return j.cmd == e }) + 1
}

// remove takes a command out of those that wait, and reports whether it was there.
func (q *queue) remove(e *Exec) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.IndexFunc(q.waiting, func(j *job) bool { return j.cmd == e })
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
	return at >= 0
}

// dropChanges takes the changes out of those that wait, and answers their callers.
func (q *queue) dropChanges(why error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(j *job) bool {
		if j.cmd == nil {
			j.drop(why) // does not block
		}
		return j.cmd == nil
	})
}

// internal are the internal commands that wait or have their turn.
func (q *queue) internal() (list []*Exec) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range append(slices.Clip(q.waiting), q.current) {
		if j != nil && j.cmd != nil && j.cmd.internal() {
			list = append(list, j.cmd)
		}
	}
	return list
}

// counts are the numbers of jobs that wait and of commands beside them; busy reports that a job has its turn.
func (q *queue) counts() (waiting, beside int, busy bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting), q.beside, q.current != nil
}

// takeSlot takes one of the maxParallel slots beside the queue, freeSlot gives it back. Errors: ErrQueueFull.
func (q *queue) takeSlot() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.beside >= maxParallel {
		return fmt.Errorf("%w: %d run beside the shell", ErrQueueFull, maxParallel)
	}
	q.beside++
	return nil
}

func (q *queue) freeSlot() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.beside--
}
