package shell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// running is what this process has open of a command.
type running struct {
	exec  *Exec
	watch *shelldir.Watch // of the command's directory
	pumps [2]*output.Copier
	ends  [2]*os.File // reading ends until the pumps have them
	// own are writing ends of this process: with them the outputs do not end before the command was there to open them,
	// however late that is.
	own  [2]*os.File
	held bool
}

// open makes and opens the FIFOs of a command. Nothing is left of an open that fails.
func (s *Shell) open(e *Exec) (*running, error) {
	r := &running{exec: e}
	err := s.withRoom(r.openOutputs)
	if err == nil && e.stdinOpen() {
		err = r.openInput()
	}
	if err == nil {
		r.watch, err = shelldir.Watches.Add(e.dir)
	}
	if err != nil {
		r.abandon()
		return nil, err
	}
	return r, nil
}

func closeFile(f **os.File) {
	if *f != nil {
		_ = (*f).Close()
		*f = nil
	}
}

func (r *running) openOutputs() error {
	for i, name := range [...]string{shelldir.OutFIFO, shelldir.ErrFIFO} {
		err := madeAgain(func() error { return r.openOutput(i, filepath.Join(r.exec.dir, name)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// openOutput makes a FIFO and opens both ends.
func (r *running) openOutput(i int, path string) error {
	if err := shelldir.MakeFIFO(path); err != nil {
		return err
	}
	var err error
	closeFile(&r.ends[i]) // of an attempt before
	closeFile(&r.own[i])
	if r.ends[i], err = shelldir.OpenFIFO(path, unix.O_RDONLY); err == nil {
		r.own[i], err = shelldir.OpenFIFO(path, unix.O_WRONLY)
	}
	return err
}

// madeAgain calls f, which makes a FIFO and opens it, again when the FIFO was gone in between: the launcher of a shell
// that has just ended removes all there are, once.
func madeAgain(f func() error) (err error) {
	for range maxStarts {
		if err = f(); !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return err
}

// openInput opens the FIFO of an open standard input. For reading too: it can be opened before the command has done so,
// and never ends by itself.
func (r *running) openInput() error {
	path := filepath.Join(r.exec.dir, shelldir.InFIFO)
	var file *os.File
	err := madeAgain(func() (err error) {
		if err = shelldir.MakeFIFO(path); err == nil {
			file, err = shelldir.OpenFIFO(path, unix.O_RDWR)
		}
		return err
	})
	if err != nil {
		return err
	}
	r.exec.mu.Lock()
	r.exec.input = file
	r.exec.mu.Unlock()
	return nil
}

// hold has the keeper hold the files, and starts to move output.
func (r *running) hold() error {
	e := r.exec
	client := e.shell.config.Keeper
	if err := client.Hold(e.holdID(), r.ends[0], r.ends[1]); err != nil {
		return err
	}
	r.held = true
	if err := r.holdInput(); err != nil {
		return err
	}
	return r.pump()
}

// holdInput has the keeper hold an open standard input and starts to write Stdin to it.
func (r *running) holdInput() error {
	e := r.exec
	input := e.openedInput()
	if input == nil {
		return nil
	}
	if err := e.shell.config.Keeper.Hold(e.holdID()+holdInput, input); err != nil {
		return err
	}
	r.feed(input)
	return nil
}

// feed writes Stdin before what Input brings.
func (r *running) feed(input *os.File) {
	e := r.exec
	data, err := os.ReadFile(filepath.Join(e.dir, shelldir.InputFile))
	if err != nil || len(data) == 0 {
		return
	}
	e.writing.Lock() // Input comes after it
	e.shell.work.Go(func() {
		defer e.writing.Unlock()
		_ = e.write(e.shell.life, input, data)
	})
}

// pump starts to move output.
func (r *running) pump() error {
	for i, end := range r.ends {
		r.ends[i] = nil
		p, err := output.Start(end, r.exec.outputs[i], r.exec.shell.config.Unspliced != nil)
		if err != nil {
			return err
		}
		r.pumps[i] = p
	}
	return nil
}

// drain moves what the command has written into the logs and tells whether nobody has its outputs open any more. It
// waits lateGrace for those. What nobody held is lost: the logs have what an earlier server put there.
func (r *running) drain() (eof bool) {
	shelldir.RemoveFIFOs(r.exec.dir)
	r.closeOwn()
	if !r.moving() {
		r.exec.finishOutputs()
		return true
	}
	if r.settled() {
		return true
	}
	timer := time.NewTimer(lateGrace)
	defer timer.Stop()
	for _, p := range r.pumps {
		select {
		case <-p.Done():
		case <-timer.C:
			return r.settled()
		case <-r.exec.shell.life.Done():
			return r.settled()
		}
	}
	return true
}

// settled moves what is there and tells whether both outputs have ended.
func (r *running) settled() bool {
	out, err := r.pumps[0].CopyWaiting(), r.pumps[1].CopyWaiting()
	return out && err
}

// moving tells whether there are outputs to move: the keeper has ended since, or has let go of them, when a later
// server finds none.
func (r *running) moving() bool { return r.pumps[0] != nil && r.pumps[1] != nil }

// judge says in a result whether and why something of what the command has written is missing in the logs, or in a
// reply of its MaxOutput.
func (r *running) judge(result *Result) {
	r.judgeLog(result)
	if !result.Truncated && !r.moving() {
		result.Truncated, result.TruncatedReason = true, output.CutUnheld
	}
}

// judgeLog is judge by the logs alone.
func (r *running) judgeLog(result *Result) {
	e := r.exec
	why := e.LogCut()
	if limit := e.MaxReply(); why == "" && limit > 0 && max(e.Size(Stdout), e.Size(Stderr)) > limit {
		why = output.CutReply
	}
	result.Truncated, result.TruncatedReason = why != "", why
}

// closeOwn lets the outputs end.
func (r *running) closeOwn() {
	for i, f := range r.own {
		if f != nil {
			_ = f.Close()
			r.own[i] = nil
		}
	}
}

// see looks after the outputs of a command that has ended until they do: late output goes to this command's log.
func (r *running) see(eof bool) {
	shelldir.Watches.Remove(r.watch)
	if eof {
		if r.moving() {
			<-r.pumps[0].Done()
			<-r.pumps[1].Done()
		}
		r.release()
		return
	}
	r.exec.shell.work.Go(r.follow)
}

// follow is the goroutine that see starts.
func (r *running) follow() {
	life := r.exec.shell.life
	for _, p := range r.pumps {
		select {
		case <-p.Done():
		case <-life.Done():
			r.pumps[0].Stop()
			r.pumps[1].Stop()
			return
		}
	}
	r.release()
}

// release has the keeper let go of the outputs, which have ended.
func (r *running) release() {
	if r.held {
		r.exec.shell.config.Keeper.Release(r.exec.holdID())
	}
}

// unheard tells of a command without a status, whose shell has ended, whether the shell had not begun to read of it:
// then it has certainly not run, and it may run in another. One with an open input is left, for what was written to
// that is gone.
func (r *running) unheard(body *incarnation) bool {
	_, over := r.exec.status()
	return !over && shelldir.Closed(body.ended) && !r.exec.stdinOpen() && strings.Contains(body.left(), r.exec.firstWords())
}

// forget closes everything of a command that is to run in another incarnation. Its logs stay open.
func (r *running) forget() {
	for _, p := range r.pumps {
		if p != nil {
			p.StopForNext()
		}
	}
	r.leave()
	shelldir.RemoveFIFOs(r.exec.dir)
	if r.held {
		r.release()
	}
}

// leave closes what this process has open of a command that goes on without it.
func (r *running) leave() {
	shelldir.Watches.Remove(r.watch)
	for _, p := range r.pumps {
		if p != nil {
			p.Stop()
		}
	}
	r.closeOwn()
	r.exec.mu.Lock()
	input := r.exec.input
	r.exec.input = nil
	r.exec.mu.Unlock()
	if input != nil {
		_ = input.Close()
	}
}

// abandon closes everything of a command that does not come to run.
func (r *running) abandon() {
	r.leave()
	for _, f := range r.ends {
		if f != nil {
			_ = f.Close()
		}
	}
	r.exec.outputs[0].Finish()
	r.exec.outputs[1].Finish()
	shelldir.RemoveFIFOs(r.exec.dir)
	if r.held {
		r.release()
		r.exec.shell.config.Keeper.Release(r.exec.holdID() + holdInput)
	}
}
