package bench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/creack/pty"
)

// tmux is a server on a socket of its own. A viewer is tmux attach on a terminal of this process, and counts as a part
// of the server.
type tmux struct {
	program string
	socket  string
	pid     int
	ctx     context.Context
	script  string
	made    int
	mu      sync.Mutex
	viewers []int // processes
}

func (t *tmux) start(ctx context.Context, dir string) (err error) {
	t.ctx, t.socket, t.script = ctx, filepath.Join(dir, "socket"), filepath.Join(dir, scriptName)
	settings := filepath.Join(dir, "tmux.conf")
	text := fmt.Sprintf("set -g history-limit %d\nset -g status off\n", history)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return err
	}
	t.pid, err = begin(ctx, dir, t.program, "-D", "-S", t.socket, "-f", settings)
	if err != nil {
		return err
	}
	for { // one that is too old for -D ends
		if err = t.list(); err == nil {
			return nil
		}
		if err = cmp.Or(running(dir, t.pid), pause(ctx, poll)); err != nil {
			return err
		}
	}
}

// call runs a command of tmux.
func (t *tmux) call(args ...string) error {
	out, err := command(t.ctx, t.program, append([]string{"-S", t.socket}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %s", args[0], strings.TrimSpace(string(out)))
	}
	return nil
}

func (t *tmux) pids() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]int{t.pid}, t.viewers...)
}

func (t *tmux) create() (string, error) {
	t.made++
	name := fmt.Sprintf("t%d", t.made)
	return name, t.call("new-session", "-d", "-s", name, "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows),
		"exec sh '"+t.script+"'")
}

func (t *tmux) attach(name string) (viewer, error) {
	c := command(t.ctx, t.program, "-S", t.socket, "attach-session", "-t", name)
	master, err := pty.StartWithSize(c, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.viewers = append(t.viewers, c.Process.Pid)
	return local{c, master}, nil
}

func (t *tmux) list() error { return t.call("list-sessions") }

func (t *tmux) remove(name string) error { return t.call("kill-session", "-t", name) }

// local is a program on a terminal of this process.
type local struct {
	command *exec.Cmd
	master  *os.File
}

func (l local) read() ([]byte, error) {
	p := make([]byte, 64<<10)
	n, err := l.master.Read(p)
	return p[:n], err
}

func (l local) send(keys []byte) error {
	_, err := l.master.Write(keys)
	return err
}

// close ends the program first: it is what wakes a reader.
func (l local) close() {
	_ = l.command.Process.Kill()
	_ = l.command.Wait()
	_ = l.master.Close()
}
