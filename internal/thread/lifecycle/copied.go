package lifecycle

import (
	"github.com/evertty/evertty/internal/thread"
)

// ForgetInstances takes all instances of providers off their leases, without asking the providers:
// the records are a copy, and the instances belong to what it was made of. The next use of a lease
// makes another instance, Adopt takes one over. It is called once, before Recover, and returns the
// forgotten ones. Errors: those of the store.
func (m *Manager) ForgetInstances() (list []thread.Instance, err error) {
	return list, m.update(func(c *change) error {
		list = nil
		leases, err := c.Leases("")
		if err != nil {
			return err
		}
		for _, l := range leases {
			if l.Provider == thread.Local || l.Instance == "" {
				continue
			}
			i, err := c.Instance(l.Instance)
			if missing(err) || err == nil && !i.EndedAt.IsZero() {
				continue
			}
			if err == nil {
				err = c.step(l.ID, step{event: thread.ObserveStatus, source: "copy", to: thread.Dead})
			}
			if err != nil {
				return err
			}
			list = append(list, i)
		}
		return nil
	})
}
