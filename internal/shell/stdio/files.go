package stdio

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/output"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/pty"
	"github.com/evertty/evertty/pty/keeper"
)

// Files are the open files of a command in this process.
type Files struct {
	*Streams
	Watch   *shelldir.Watch // of the command's directory
	copiers [2]*output.Copier
	readers [2]*os.File // reading ends until the copiers have them
	// writers are writing ends of this process: with them the outputs do not end before the command
	// has opened them.
	writers [2]*os.File
	Held    bool // the keeper holds them
}

// Open makes and opens the FIFOs of a command. withRoom calls a function that makes files, again on
// a full disk. A failed Open leaves nothing.
func Open(s *Streams, withRoom func(files func() error) error) (*Files, error) {
	f := &Files{Streams: s}
	err := withRoom(f.openOutputs)
	if err == nil && s.Stdin {
		err = s.OpenInput()
	}
	if err == nil {
		f.Watch, err = shelldir.Watcher.Add(s.Dir, 0)
	}
	if err != nil {
		f.Abandon()
		return nil, err
	}
	return f, nil
}

// Reopen opens what the keeper held of a command; nil is of one that had not begun.
func Reopen(s *Streams, held *keeper.Program) (*Files, error) {
	f := &Files{Streams: s}
	var err error
	if f.Watch, err = shelldir.Watcher.Add(s.Dir, 0); err != nil || held == nil || len(held.Files) < 2 {
		return f, err
	}
	f.Held = true
	for i, file := range held.Files[:2] {
		if f.readers[i] = file; err == nil {
			f.writers[i], err = shelldir.OpenFIFO(shelldir.OpenPath(file), unix.O_WRONLY)
		}
	}
	if err == nil {
		err = f.copyOutputs()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Run has the keeper start a program with the outputs and the input of the command, and hold them.
func (f *Files) Run(plan proc.Plan, input string) (*pty.Child, error) {
	std, err := f.standardFiles(input)
	if err != nil {
		return nil, err
	}
	program, err := f.Keeper.Run(f.ID, plan, std, f.readers[:]...)
	for _, file := range std {
		_ = file.Close()
	}
	if err != nil {
		return nil, err
	}
	f.Held = true
	if err = f.HoldInput(); err == nil {
		err = f.copyOutputs()
	}
	return program.Child, err
}

func closeFile(f **os.File) {
	if *f != nil {
		_ = (*f).Close()
		*f = nil
	}
}

func (f *Files) openOutputs() error {
	for i, name := range [...]string{shelldir.OutFIFO, shelldir.ErrFIFO} {
		err := madeAgain(func() error { return f.openOutput(i, filepath.Join(f.Dir, name)) })
		if err != nil {
			return err
		}
	}
	return nil
}

// openOutput makes or takes a FIFO and opens both ends.
func (f *Files) openOutput(i int, path string) (err error) {
	if f.Unused == "" {
		err = shelldir.MakeFIFO(path)
	} else {
		err = shelldir.TakeFIFO(filepath.Join(f.Unused, filepath.Base(path)), path)
	}
	if err != nil {
		return err
	}
	closeFile(&f.readers[i]) // of an attempt before
	closeFile(&f.writers[i])
	if f.readers[i], err = shelldir.OpenFIFO(path, unix.O_RDONLY); err == nil {
		f.writers[i], err = shelldir.OpenFIFO(path, unix.O_WRONLY)
	}
	return err
}

const (
	// lateGrace is how long an answer waits for background processes to close the outputs: `> >(tee
	// log)` ends within it, a job does not.
	lateGrace = 50 * time.Millisecond
	// fifoTries is how often a FIFO is made that has disappeared before it is opened.
	fifoTries = 3
)

// madeAgain calls f, which makes a FIFO and opens it, again when the FIFO has disappeared in
// between: the launcher of a shell that has just ended removes all FIFOs, once.
func madeAgain(f func() error) (err error) {
	for range fifoTries {
		if err = f(); !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return err
}

// standardFiles opens the standard files of a program, which the caller closes; input is a file, ""
// the open input or none. It opens FIFOs by their descriptors: the launcher of a shell that ends
// now removes their names.
func (f *Files) standardFiles(input string) (std [3]*os.File, err error) {
	in, mode := cmp.Or(input, os.DevNull), os.O_RDONLY
	if open := f.input.Load(); open != nil {
		in = shelldir.OpenPath(open)
	}
	for i, path := range [...]string{in, shelldir.OpenPath(f.writers[0]), shelldir.OpenPath(f.writers[1])} {
		if i > 0 {
			mode = os.O_WRONLY
		}
		fd, err := unix.Open(path, mode|unix.O_CLOEXEC, 0)
		if err != nil {
			for _, file := range std[:i] {
				_ = file.Close()
			}
			return std, err
		}
		std[i] = os.NewFile(uintptr(fd), path)
	}
	return std, nil
}

// Hold has the keeper hold the files, and starts to move output.
func (f *Files) Hold() error {
	if err := f.Keeper.Hold(f.ID, f.readers[0], f.readers[1]); err != nil {
		return err
	}
	f.Held = true
	if err := f.HoldInput(); err != nil {
		return err
	}
	return f.copyOutputs()
}

// copyOutputs starts to move output.
func (f *Files) copyOutputs() error {
	for i, end := range f.readers {
		f.readers[i] = nil
		p, err := output.Start(end, f.Outputs[i], f.NoSplice)
		if err != nil {
			return err
		}
		f.copiers[i] = p
	}
	return nil
}

// Drain copies the written output to the logs, and reports whether all writers have closed it, for
// which it waits lateGrace. Output of a command that was not held is lost. With again the FIFOs are
// for the next command, unless a writer is left.
func (f *Files) Drain(again bool) (eof bool) {
	if eof = f.drain(); eof && again && f.Unused != "" && f.Copying() {
		shelldir.GiveFIFOs(f.Dir, f.Unused)
	} else {
		shelldir.RemoveFIFOs(f.Dir)
	}
	return eof
}

func (f *Files) drain() (eof bool) {
	f.CloseWriters()
	if !f.Copying() {
		f.FinishOutputs()
		return true
	}
	if f.copyWaiting() {
		return true
	}
	late := time.After(lateGrace)
	for _, p := range f.copiers {
		select {
		case <-p.Done():
		case <-late:
			return f.copyWaiting()
		case <-f.Ctx.Done():
			return f.copyWaiting()
		}
	}
	return true
}

// copyWaiting copies the bytes that the FIFOs have, and reports whether both outputs have ended.
func (f *Files) copyWaiting() bool {
	out, err := f.copiers[0].CopyWaiting(), f.copiers[1].CopyWaiting()
	return out && err
}

// Copying reports whether there are outputs to copy: after a restart there are none if the keeper
// has ended, or has released them.
func (f *Files) Copying() bool { return f.copiers[0] != nil && f.copiers[1] != nil }

// CloseWriters lets the outputs end.
func (f *Files) CloseWriters() {
	for i := range f.writers {
		closeFile(&f.writers[i])
	}
}

// FollowLate copies the outputs of a command that has ended to its logs until they end.
func (f *Files) FollowLate(eof bool) {
	shelldir.Watcher.Remove(f.Watch)
	if eof {
		if f.Copying() {
			<-f.copiers[0].Done()
			<-f.copiers[1].Done()
		}
		f.release()
		return
	}
	f.Work.Go(f.follow)
}

// follow is the goroutine that FollowLate starts.
func (f *Files) follow() {
	for _, p := range f.copiers {
		select {
		case <-p.Done():
		case <-f.Ctx.Done():
			f.copiers[0].Stop()
			f.copiers[1].Stop()
			return
		}
	}
	f.release()
}

// release has the keeper release the outputs, which have ended.
func (f *Files) release() {
	if f.Held {
		f.Keeper.Release(f.ID)
	}
}

// Reset closes all files of a command that is to run in another process of the shell. Its logs stay
// open.
func (f *Files) Reset() {
	for _, p := range f.copiers {
		if p != nil {
			p.StopForNext()
		}
	}
	f.Close()
	shelldir.RemoveFIFOs(f.Dir)
	if f.Held {
		f.release()
	}
}

// Close closes the files of a command that continues without this process.
func (f *Files) Close() {
	shelldir.Watcher.Remove(f.Watch)
	for _, p := range f.copiers {
		if p != nil {
			p.Stop()
		}
	}
	f.CloseWriters()
	if input := f.input.Swap(nil); input != nil {
		_ = input.Close()
	}
}

// Abandon closes all files of a command that will not run.
func (f *Files) Abandon() {
	f.Close()
	for i := range f.readers {
		closeFile(&f.readers[i])
	}
	f.FinishOutputs()
	shelldir.RemoveFIFOs(f.Dir)
	if f.Held {
		f.release()
		f.Keeper.Release(f.inputID())
	}
}
