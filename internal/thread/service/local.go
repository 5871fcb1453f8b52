package service

import (
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/provider/local"
	"github.com/evertty/evertty/internal/thread"
)

// localInstance is what the records know of an instance on this machine. "" is a lease that has
// none.
func (d *Service) localInstance(id string) (k local.Known, ok bool) {
	k.State = thread.Running
	if id == "" {
		return k, true
	}
	l, err := d.Manager.InstanceLease(thread.Local, id)
	if err != nil {
		return k, false
	}
	if l.Observed == thread.Frozen || d.pauses.foundPaused(l.ID) {
		k.State = thread.Frozen
	}
	for _, thread := range d.pauses.threads(l.ID) {
		for _, p := range d.roots(thread) {
			k.PIDs = append(k.PIDs, p.PID)
		}
	}
	return k, true
}

// roots are the processes that everything of a thread descends from.
func (d *Service) roots(thread string) (list []proc.Process) {
	for _, t := range d.terminals.Running(thread) {
		if p, ok := proc.Find(t.Process().PID()); ok {
			list = append(list, p)
		}
	}
	for _, s := range d.shells.List(thread) {
		list = append(list, s.Roots()...)
	}
	return list
}

// trees are the processes of a thread with all that they have started.
func (d *Service) trees(thread string) (list []proc.Tree) {
	for _, p := range d.roots(thread) {
		if t, ok := proc.TreeOf(p.PID); ok {
			list = append(list, t)
		}
	}
	return list
}
