package tests

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// output collects what a process writes. Safe for concurrent use.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// marked are the living processes whose environment holds the mark: everything
// a server started, wherever it is in the process tree.
func marked(mark string) []string {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []string
	for _, file := range environs {
		b, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(b, []byte("="+mark+"\x00")) {
			continue
		}
		dir := filepath.Dir(file)
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		found = append(found, filepath.Base(dir)+":"+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

func killMarked(mark string) {
	for _, p := range marked(mark) {
		number, _, _ := strings.Cut(p, ":")
		if pid, err := strconv.Atoi(number); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// alive reports whether a process runs: a zombie does not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest != "" && rest[0] != 'Z' && rest[0] != 'X'
}

// written is how many bytes a process has handed to write(2) so far.
func written(t testing.TB, pid int) (n uint64) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, "wchar: "); ok {
			if n, err = strconv.ParseUint(strings.TrimSpace(v), 10, 64); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

// openFiles are the descriptors of a process and what they are.
func openFiles(pid int) []string {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	var list []string
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil {
			list = append(list, filepath.Base(link)+"="+to)
		}
	}
	slices.Sort(list)
	return list
}

// threads is the number of a process's threads.
func threads(pid int) int {
	list, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	return len(list)
}

// status is a field of /proc/PID/status in its own unit.
func status(t testing.TB, pid int, field string) int {
	t.Helper()
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			n, err := strconv.Atoi(strings.Fields(v)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s in the status of %d", field, pid)
	return 0
}

func sha256Of(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
