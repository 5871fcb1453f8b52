//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/datadir"
	"github.com/evertty/evertty/internal/localsocket"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/proctree"
	"github.com/evertty/evertty/internal/terminal"
)

// checkSocket looks who is behind the socket of a server where no process has the directory.
func checkSocket(ctx context.Context, t examined) check {
	path := filepath.Join(t.dir, localsocket.Name)
	c := check{Name: "socket", Text: path}
	if t.server != nil {
		c.Text = "is the server's"
		return c
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		c.Text = "none is left over"
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	switch err := askSocket(ctx, path); {
	case err == nil:
		c.Text += ": a server in another container answers"
	case errors.Is(err, syscall.ECONNREFUSED):
		c.finding = finding{Warning: "it is left over from a server that was killed", Advice: "evertty serve replaces it"}
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		c.finding = problem(fmt.Sprintf("it accepts connections, and nobody answers within %s", serverPatience),
			"ss -xlp shows the process; end it, and evertty serve goes on with the terminals")
	default:
		c.finding = problem(err.Error(), "remove "+path)
	}
	return c
}

// askSocket sends a request that changes nothing, and waits for any reply.
func askSocket(ctx context.Context, path string) error {
	own := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (c net.Conn, err error) {
			err = localsocket.At(path, func(short string) error {
				c, err = new(net.Dialer).DialContext(ctx, "unix", short)
				return err
			})
			return c, err
		}}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/healthz", nil)
	if err != nil {
		return err
	}
	reply, err := own.Do(request)
	if err != nil {
		return err
	}
	return reply.Body.Close()
}

// checkLocks looks for a lock that a process has which is neither server nor keeper: no server starts then.
func checkLocks(t examined) check {
	c := check{Name: "locks", Text: "are free, or of server and keeper"}
	for name, user := range map[string]bool{"lock": t.server != nil, "keeper.lock": t.keeper != nil} {
		if pid := flockHolder(filepath.Join(t.dir, name)); pid != 0 && !user {
			c.Text = filepath.Join(t.dir, name)
			c.finding = problem(fmt.Sprintf("process %d has it (%.60s), and no server can start", pid,
				strings.Join(commandLine(pid), " ")), fmt.Sprintf("kill %d", pid))
		}
	}
	return c
}

// flockHolder is the process that has a file locked (flock(2), proc_locks(5)); 0 when nobody has, or nobody knows.
func flockHolder(path string) int {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return 0
	}
	text, _ := os.ReadFile("/proc/locks")
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 5 && f[1] == "FLOCK" && f[5] == file {
			pid, _ := strconv.Atoi(f[4])
			return max(pid, 0)
		}
	}
	return 0
}

// checkLeftProcesses looks for programs of the directory's terminals and shells whose keeper was killed.
func checkLeftProcesses(t examined) check {
	c := check{Name: "processes", Text: "all have a keeper"}
	if t.keeper != nil {
		return c
	}
	left, err := leftProcesses(t.dir)
	if err != nil {
		c.finding = problem(err.Error(), "is /proc mounted?")
	}
	if len(left) > 0 {
		slices.Sort(left)
		c.Text = "their keeper is gone"
		c.finding = problem("still running: "+firstOf(left), "kill -9 "+strings.Join(left, " "))
	}
	return c
}

// leftProcesses are the process ids of what was started in the terminals and shells of a directory and runs.
func leftProcesses(dir string) ([]string, error) {
	procs, err := proc.List()
	if err != nil {
		return nil, err
	}
	known := map[uint64]bool{}
	for _, id := range namesIn(filepath.Join(dir, "terminals")) {
		known[terminal.TagOf(datadir.IDOf(dir), id)] = true
	}
	shells := namesIn(filepath.Join(dir, "shells"))
	var left []string
	for _, p := range procs {
		tag := proc.Tag(p.PID)
		if p.Ended || !proc.IsTag(tag) {
			continue
		}
		inShell := func(name string) bool { return proctree.Tagged(filepath.Join(dir, "shells", name), p.PID) }
		if known[tag] || slices.ContainsFunc(shells, inShell) {
			left = append(left, strconv.Itoa(p.PID))
		}
	}
	return left, nil
}

func namesIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// writingTime is how long a server may write one file; what is older was interrupted.
const writingTime = time.Hour

// checkLeftFiles looks for files of interrupted writes, and for FIFOs and sockets that nobody serves.
func checkLeftFiles(t examined) check {
	c := check{Name: "leftovers", Text: "none"}
	var left []string
	for _, f := range t.files.unfinished {
		if t.server == nil || time.Since(f.changed) > writingTime {
			left = append(left, f.path)
		}
	}
	if t.keeper == nil {
		left = append(left, t.files.fifos...)
		if path := filepath.Join(t.dir, "keeper.sock"); exists(path) {
			left = append(left, path)
		}
	}
	if len(left) > 0 {
		c.Text = strconv.Itoa(len(left))
		c.finding = finding{Warning: firstOf(left), Advice: "evertty serve removes them when it starts"}
	}
	return c
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
