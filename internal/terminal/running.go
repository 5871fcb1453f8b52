package terminal

import "github.com/evertty/evertty/internal/owner"

// running counts the terminals whose programs run or are being started: a look at each of thousands costs as much as a
// start. Registry.mu is held for all of it.
type running struct {
	all int
	of  map[string]int // by session, and by space: no session has the name of one. Without those that have none
}

// add counts a terminal, once.
func (c *running) add(t *Terminal) {
	if !t.counted {
		c.count(t, 1)
	}
}

// remove does nothing to a terminal that is not counted.
func (c *running) remove(t *Terminal) {
	if t.counted {
		c.count(t, -1)
	}
}

func (c *running) count(t *Terminal, n int) {
	t.counted = !t.counted
	c.all += n
	for _, name := range [...]string{t.spec.Session, owner.Space(t.spec.Session)} {
		if c.of[name] += n; c.of[name] == 0 {
			delete(c.of, name)
		}
	}
}

// notRunning notes that the program of a terminal has ended.
func (r *Registry) notRunning(t *Terminal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running.remove(t)
}
