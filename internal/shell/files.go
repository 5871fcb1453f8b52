package shell

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/shelldir"
)

// files are what this process has open of a command.
type files struct {
	exec    *Exec
	watch   *shelldir.Watch // of the command's directory
	copiers [2]*output.Copier
	ends    [2]*os.File // reading ends until the copiers have them
	// own are writing ends of this process: with them the outputs do not end before the command was there to open them,
	// however late that is.
	own  [2]*os.File
	held bool
}

// open makes and opens the FIFOs of a command. Nothing is left of an open that fails.
func (s *Shell) open(e *Exec) (*files, error) {
	f := &files{exec: e}
	err := s.withRoom(f.openOutputs)
	if err == nil && e.stdinOpen() {
		err = f.openInput()
	}
	if err == nil {
		f.watch, err = shelldir.Watches.Add(e.dir)
	}
	if err != nil {
		f.abandon()
		return nil, err
	}
	return f, nil
}

func closeFile(f **os.File) {
	if *f != nil {
		_ = (*f).Close()
		*f = nil
	}
}

func (f *files) openOutputs() error {
	for i, name := range [...]string{shelldir.OutFIFO, shelldir.ErrFIFO} {
		err := madeAgain(func() error { return f.openOutput(i, filepath.Join(f.exec.dir, name)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// openOutput makes a FIFO and opens both ends.
func (f *files) openOutput(i int, path string) error {
	if err := shelldir.MakeFIFO(path); err != nil {
		return err
	}
	var err error
	closeFile(&f.ends[i]) // of an attempt before
	closeFile(&f.own[i])
	if f.ends[i], err = shelldir.OpenFIFO(path, unix.O_RDONLY); err == nil {
		f.own[i], err = shelldir.OpenFIFO(path, unix.O_WRONLY)
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
func (f *files) openInput() error {
	path := filepath.Join(f.exec.dir, shelldir.InFIFO)
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
	f.exec.mu.Lock()
	f.exec.input = file
	f.exec.mu.Unlock()
	return nil
}

// hold has the keeper hold the files, and starts to move output.
func (f *files) hold() error {
	e := f.exec
	client := e.shell.config.Keeper
	if err := client.Hold(e.holdID(), f.ends[0], f.ends[1]); err != nil {
		return err
	}
	f.held = true
	if err := f.holdInput(); err != nil {
		return err
	}
	return f.copyOutputs()
}

// holdInput has the keeper hold an open standard input and starts to write Stdin to it.
func (f *files) holdInput() error {
	e := f.exec
	input := e.openedInput()
	if input == nil {
		return nil
	}
	if err := e.shell.config.Keeper.Hold(e.holdID()+holdInput, input); err != nil {
		return err
	}
	f.feed(input)
	return nil
}

// feed writes Stdin before what Input brings.
func (f *files) feed(input *os.File) {
	e := f.exec
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

// copyOutputs starts to move output.
func (f *files) copyOutputs() error {
	for i, end := range f.ends {
		f.ends[i] = nil
		p, err := output.Start(end, f.exec.outputs[i], f.exec.shell.config.Unspliced != nil)
		if err != nil {
			return err
		}
		f.copiers[i] = p
	}
	return nil
}

// drain moves what the command has written into the logs and tells whether nobody has its outputs open any more. It
// waits lateGrace for those. What nobody held is lost: the logs have what an earlier server put there.
func (f *files) drain() (eof bool) {
	shelldir.RemoveFIFOs(f.exec.dir)
	f.closeOwn()
	if !f.moving() {
		f.exec.finishOutputs()
		return true
	}
	if f.settled() {
		return true
	}
	timer := time.NewTimer(lateGrace)
	defer timer.Stop()
	for _, p := range f.copiers {
		select {
		case <-p.Done():
		case <-timer.C:
			return f.settled()
		case <-f.exec.shell.life.Done():
			return f.settled()
		}
	}
	return true
}

// settled moves what is there and tells whether both outputs have ended.
func (f *files) settled() bool {
	out, err := f.copiers[0].CopyWaiting(), f.copiers[1].CopyWaiting()
	return out && err
}

// moving tells whether there are outputs to move: the keeper has ended since, or has let go of them, when a later
// server finds none.
func (f *files) moving() bool { return f.copiers[0] != nil && f.copiers[1] != nil }

// judge says in a result whether and why something of what the command has written is missing in the logs, or in a
// reply of its MaxOutput.
func (f *files) judge(result *Result) {
	f.judgeLog(result)
	if !result.Truncated && !f.moving() {
		result.Truncated, result.TruncatedReason = true, output.CutUnheld
	}
}

// judgeLog is judge by the logs alone.
func (f *files) judgeLog(result *Result) {
	e := f.exec
	why := e.LogCut()
	if limit := e.MaxReply(); why == "" && limit > 0 && max(e.Size(Stdout), e.Size(Stderr)) > limit {
		why = output.CutReply
	}
	result.Truncated, result.TruncatedReason = why != "", why
}

// closeOwn lets the outputs end.
func (f *files) closeOwn() {
	for i := range f.own {
		closeFile(&f.own[i])
	}
}

// followLate looks after the outputs of a command that has ended until they do: late output goes to this command's log.
func (f *files) followLate(eof bool) {
	shelldir.Watches.Remove(f.watch)
	if eof {
		if f.moving() {
			<-f.copiers[0].Done()
			<-f.copiers[1].Done()
		}
		f.release()
		return
	}
	f.exec.shell.work.Go(f.follow)
}

// follow is the goroutine that followLate starts.
func (f *files) follow() {
	life := f.exec.shell.life
	for _, p := range f.copiers {
		select {
		case <-p.Done():
		case <-life.Done():
			f.copiers[0].Stop()
			f.copiers[1].Stop()
			return
		}
	}
	f.release()
}

// release has the keeper let go of the outputs, which have ended.
func (f *files) release() {
	if f.held {
		f.exec.shell.config.Keeper.Release(f.exec.holdID())
	}
}

// reset closes everything of a command that is to run in another process of the shell. Its logs stay open.
func (f *files) reset() {
	for _, p := range f.copiers {
		if p != nil {
			p.StopForNext()
		}
	}
	f.leave()
	shelldir.RemoveFIFOs(f.exec.dir)
	if f.held {
		f.release()
	}
}

// leave closes what this process has open of a command that goes on without it.
func (f *files) leave() {
	shelldir.Watches.Remove(f.watch)
	for _, p := range f.copiers {
		if p != nil {
			p.Stop()
		}
	}
	f.closeOwn()
	f.exec.mu.Lock()
	input := f.exec.input
	f.exec.input = nil
	f.exec.mu.Unlock()
	if input != nil {
		_ = input.Close()
	}
}

// abandon closes everything of a command that does not come to run.
func (f *files) abandon() {
	f.leave()
	for i := range f.ends {
		closeFile(&f.ends[i])
	}
	f.exec.outputs[0].Finish()
	f.exec.outputs[1].Finish()
	shelldir.RemoveFIFOs(f.exec.dir)
	if f.held {
		f.release()
		f.exec.shell.config.Keeper.Release(f.exec.holdID() + holdInput)
	}
}
