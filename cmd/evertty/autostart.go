//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/localsocket"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
)

const (
	// startLimit is how long a verb waits for a server that starts: a start takes a tenth of a second, but the one
	// before may take 5 s for its end.
	startLimit = 10 * time.Second
	// startPoll is how often it looks.
	startPoll = 10 * time.Millisecond
	// logTail bounds what is read of the log for the reason of a failed start, in bytes.
	logTail = 4 << 10
	// freePort is where a server in the background listens unless a setting says otherwise.
	freePort = "127.0.0.1:0"
)

// ready reports whether a server answers at the data directory. Its file is read last: a server that starts removes the
// file of one that was killed before it opens the socket.
func ready(dir string) (client.Place, bool, error) {
	pid, none := serverAt(dir)
	p, err := client.Find(dir)
	if errors.Is(err, client.ErrNoServer) {
		return p, false, nil
	}
	if err != nil {
		return p, false, err
	}
	if none == nil && pid > 0 && proc.IsEnding(pid) { // else it runs in another process namespace
		return p, false, nil
	}
	return p, none == nil, nil
}

// serverAt is the process of the server that answers at the data directory; the error is why there is none.
func serverAt(dir string) (pid int, err error) {
	err = localsocket.At(filepath.Join(dir, localsocket.Name), func(short string) error {
		c, err := net.DialTimeout("unix", short, startLimit)
		if err == nil {
			pid, err = localsocket.PeerPID(c)
			_ = c.Close()
		}
		return err
	})
	return pid, err
}

// startServer starts a server in the background unless one is ready, and waits until it is. Of several processes one
// starts it, the others wait for it; so they do for a server that somebody else starts. Errors match
// client.ErrNoServer, or are wrong usage when a setting of the server is.
func (a *app) startServer(dir string) error {
	var own *background
	defer func() {
		if own != nil {
			own.release()
		}
	}()
	again := time.NewTicker(startPoll)
	defer again.Stop()
	for end := time.Now().Add(startLimit); ; <-again.C {
		place, is, err := ready(dir)
		switch {
		case err != nil:
		case is:
			if own != nil && place.PID == own.pid {
				a.tellStarted()
			}
			return nil
		case time.Now().After(end):
			err = fmt.Errorf("%w: nothing answers at %s after %v; it may still be starting, %s says more, and evertty "+
				"serve --takeover goes on in its place", client.ErrNoServer, filepath.Join(dir, localsocket.Name),
				startLimit, filepath.Join(dir, datadir.ServerLog))
		case own == nil:
			own, err = startAlone(dir)
		case own.ended() && !locked(dir):
			err = own.failure(dir)
		}
		if err != nil {
			return shutOut(dir, err)
		}
	}
}

// shutOut is err, unless this program runs below the server of the directory and may not touch that: in a sandbox.
func shutOut(dir string, err error) error {
	below := os.Getenv(pty.EnvSocket) == filepath.Join(dir, localsocket.Name)
	if below && (errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission)) {
		return fmt.Errorf("%w: a program in a sandbox may not reach its server", client.ErrNoServer)
	}
	return err
}

// locked reports whether a server has the data directory, one that is starting or ending too.
func locked(dir string) bool {
	unlock, err := datadir.Lock(dir)
	if err == nil {
		unlock()
	}
	return errors.Is(err, datadir.ErrLocked)
}

// startAlone starts a server unless another process is about it, or a server has the directory: then it returns nil.
func startAlone(dir string) (*background, error) {
	unlock, err := datadir.LockStart(dir)
	if errors.Is(err, datadir.ErrLocked) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var b *background
	if !locked(dir) {
		b, err = startBackground(dir)
	}
	if b == nil {
		unlock()
		return nil, err
	}
	b.release = unlock
	return b, nil
}

// background is a server that this process has started. It goes on without this process.
type background struct {
	release func() // lets others start one
	pid     int
	done    chan struct{} // closed when it has ended
	code    int           // its exit code, valid then
	logged  int64         // size of the log before it, in bytes
}

// startBackground starts evertty serve with the variables of this process, detached from its terminal.
func startBackground(dir string) (*background, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, size, err := datadir.OpenServerLog(dir)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(self, "serve", "--"+backgroundFlag, "--data-dir", dir)
	cmd.Env = pty.WithIdentity(os.Environ(), nil) // its programs are not in the terminal that this process is in
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a server: %w", err)
	}
	b := &background{pid: cmd.Process.Pid, done: make(chan struct{}), logged: size}
	go func() {
		defer close(b.done)
		_ = cmd.Wait()
		b.code = cmd.ProcessState.ExitCode()
	}()
	return b, nil
}

func (b *background) ended() bool {
	select {
	case <-b.done:
		return true
	default:
		return false
	}
}

// failure says why it has ended, with the last line that it logged.
func (b *background) failure(dir string) error {
	name := filepath.Join(dir, datadir.ServerLog)
	why := "it said nothing"
	if f, err := os.Open(name); err == nil {
		defer f.Close()
		if info, err := f.Stat(); err == nil {
			from := max(b.logged, info.Size()-logTail)
			text, _ := io.ReadAll(io.NewSectionReader(f, from, logTail))
			why = lastWords(string(text), why)
		}
	}
	err := fmt.Errorf("%w: it did not start: %s (log: %s)", client.ErrNoServer, why, name)
	if b.code == exitUsage {
		return usage(err)
	}
	return err
}

// lastWords is the last line of a log that is an error of the program, else the last one, else otherwise.
func lastWords(log, otherwise string) string {
	last := otherwise
	for line := range strings.Lines(log) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
		if own, ok := strings.CutPrefix(line, "evertty: "); ok {
			last = own
		}
	}
	return last
}

// tellStarted tells a person that there is a server now.
func (a *app) tellStarted() {
	if f, ok := a.stderr.(*os.File); ok && isTTY(f, f) {
		a.tell("started a server in the background; evertty url opens it in a browser, evertty stop ends it")
	}
}
