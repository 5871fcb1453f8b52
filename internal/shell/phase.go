package shell

import "slices"

// phase is where a command is on its way from its submission to its end. A server that is killed leaves on the disk
// what the next one needs to go on from any of them; see Recover. Commands on a terminal of their own take the same
// phases from outside: Enroll, Begin, Finish.
type phase int

const (
	// queued: the command is on the disk, and nothing of it has run. A later server queues it again.
	queued phase = iota
	// starting: its files are made, and on the disk it runs. The keeper holds its files before it can begin.
	starting
	// running: its launcher has started it. A later server takes its files from the keeper and follows it.
	running
	// ended: it has a Result or an error. Late output goes on to its log.
	ended
)

// phaseArrows has the allowed changes. A command that a shell has not read, because it ended first, starts again in the
// next process: from starting or running.
var phaseArrows = map[phase][]phase{
	queued:   {starting, ended},
	starting: {starting, running, ended},
	running:  {starting, running, ended},
	ended:    {},
}

// to moves the command to a phase and reports whether the table allows it. r.mu is held.
func (r *record) to(next phase) bool {
	if !slices.Contains(phaseArrows[r.phase], next) {
		return false
	}
	r.phase = next
	return true
}

// phaseOf has the phase of a command with a status of its record, which has one of these.
var phaseOf = map[Status]phase{Queued: queued, Running: running, Done: ended, Cancelled: ended, Failed: ended}
