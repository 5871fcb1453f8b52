package shell

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/evertty/evertty/internal/shell/bash"
	"github.com/evertty/evertty/internal/shell/script"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// restart starts the next bash with the state of the last capture.
func (p *processes) restart() (*bash.Process, restartNotice, error) {
	s, before := p.shell, p.shell.state.now()
	env, found, wanted := p.firstEnv, before.snapshot, before.cwd
	var dropped, damaged []string
	if found != nil {
		if wanted == found.PWD() {
			wanted = found.Cwd() // a link may lead elsewhere since then, or nowhere
		}
		var err error
		if found, dropped = found.Usable(); len(dropped) > 0 {
			s.config.Log.Warn("a shell cannot be told to read a file; it comes back without what is in the way",
				"shell", s.spec.ID, "without", dropped)
		}
		if env, damaged, err = found.WriteRestore(s.spec.Dir, p.firstEnv); err != nil {
			return nil, restartNotice{}, err
		}
		if len(damaged) > 0 {
			s.config.Log.Warn("the file of a shell's state cannot be read", "shell", s.spec.ID)
			found = found.WithoutFunctions()
		}
	}
	wanted = cmp.Or(wanted, s.spec.Cwd)
	n, dir := restartNotice{recreated: true}, shelldir.Nearest(wanted)
	if s.remote != nil { // the bash had no state
		n.recreated, dir = false, p.home()
	} else if dir != wanted {
		n.fallback = wanted
	}
	now, err := p.launch(dir, env, found != nil)
	if err != nil {
		return nil, restartNotice{}, err
	}
	if found != nil {
		n.lost = slices.Concat(before.snapshot.Lost(now.Proc().PID), dropped, damaged)
	}
	p.current.Store(now)
	s.state.change(func(f *bashFacts) {
		f.snapshot, f.mayAlias = found, false
		n.lost, f.uncaptured = append(n.lost, f.uncaptured...), nil
		if s.remote == nil {
			f.cwd = dir
		}
	})
	return now, n, nil
}

// capture captures the state of the shell for the next bash, after the answer to e, which is nil without a command.
// It kills a shell that does not return from it.
func (p *processes) capture(now *bash.Process, e *Exec) {
	s := p.shell
	if s.remote != nil {
		s.remote.read()
		s.notify(StateCaptured, now.Proc(), 0)
		return
	}
	if s.detached() {
		return
	}
	if shelldir.Closed(now.Ended) {
		_ = s.state.adopt(s.spec.Dir) // an earlier server may not have come to take what was captured
		return
	}
	if s.clock.Wait(s.ctx) != nil {
		return
	}
	ctx, cancel := s.clock.WithTimeout(s.ctx, captureLimit)
	defer cancel()
	state.Prepare(s.spec.Dir)
	err := now.Barrier(ctx, state.CaptureLine(s.spec.Dir))
	if err == nil {
		p.noteList(e)
		if s.state.adopt(s.spec.Dir) != nil {
			err = p.captureAgain(ctx, now, e)
		}
	}
	switch {
	case s.detached():
	case err == nil:
		s.notify(StateCaptured, now.Proc(), 0)
	case errors.Is(err, ErrEnded):
		if s.state.adopt(s.spec.Dir) != nil {
			s.state.noteUncaptured(e, "the shell ended")
		}
	default:
		s.state.noteUncaptured(e, "it could not be read")
		s.config.Log.Warn("the state of a shell could not be captured; the shell is ended", "shell", s.spec.ID,
			"error", err)
		destroy(s.ctx, now, nil)
	}
}

// errNoBuiltins: the shell can neither read a file nor enable the builtins for it.
var errNoBuiltins = errors.New("builtins are disabled, enable too")

// captureAgain captures the state of a shell that lacks builtins. Errors: errNoBuiltins of a shell that cannot do so;
// lack of space is no error.
func (p *processes) captureAgain(ctx context.Context, now *bash.Process, e *Exec) error {
	s := p.shell
	err := now.Barrier(ctx, state.CaptureLineEnabling(s.spec.Dir, s.procs.scriptBash().Snapshot.TraceFD()))
	if err != nil {
		return err
	}
	if err = s.state.adopt(s.spec.Dir); err == nil {
		return nil
	}
	if state.NotRead(s.spec.Dir) && state.WriteScript(s.spec.Dir) == nil {
		s.state.noteUncaptured(e, "builtins were disabled")
		return errNoBuiltins
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.config.Log.Warn("the state of a shell was not captured", "shell", s.spec.ID, "error", err)
		s.state.noteUncaptured(e, "the file of the state did not take it, for its size, a limit of the shell or the "+
			"disk")
	}
	return nil
}

// noteList notes the option history after a command, for the next server too.
func (p *processes) noteList(e *Exec) {
	if e == nil || e.internal() {
		return
	}
	on, change := exists(e.dir, script.ListSign), os.Remove
	if on {
		change = shelldir.Touch
	}
	if p.shell.state.now().listOn == on {
		return
	}
	p.shell.state.change(func(f *bashFacts) { f.listOn = on })
	if err := change(filepath.Join(p.shell.spec.Dir, script.ListFile)); err != nil {
		p.shell.config.Log.Warn("whether a shell keeps a list of commands is not known to the next server",
			"shell", p.shell.spec.ID, "error", err)
	}
}
