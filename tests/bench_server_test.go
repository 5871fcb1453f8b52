package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// benchCall is a call of bench server with its temporary files in dir, and a mark by which its processes are found.
func benchCall(t *testing.T, args ...string) (c benchRun) {
	t.Helper()
	c.dir, c.mark = t.TempDir(), fmt.Sprintf("bench-%s-%d", t.Name(), os.Getpid())
	c.args = append([]string{"bench", "server", "--quick"}, args...)
	c.env = []string{"TMPDIR=" + c.dir, "XDG_TESTMARK_HOME=" + c.mark}
	return c
}

type benchRun struct {
	dir, mark string
	args, env []string
}

// leftNothing checks that no process and no file is left.
func (b benchRun) leftNothing(t *testing.T) {
	t.Helper()
	if left := marked(b.mark); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
		killMarked(b.mark)
	}
	if files, _ := filepath.Glob(b.dir + "/*"); len(files) > 0 {
		t.Errorf("files are left: %q", files)
	}
}

// TestBenchServer: the table has figures of this program, in text and in JSON, and nothing is left of its servers.
func TestBenchServer(t *testing.T) {
	t.Parallel()
	b := benchCall(t, "--only", "echo", "--ttyd", "true")
	out := run(t, call(t, b.env, b.args...))
	b.leftNothing(t)
	lines := strings.Split(out.stdout, "\n")
	var ms, us float64
	if out.code != 0 || len(lines) < 5 || !strings.HasPrefix(lines[0], "MEASURE ") ||
		strings.Contains(out.stderr, "\r") {
		t.Fatalf("%+v", out)
	}
	_, errEcho := fmt.Sscanf(lines[1], "echo of a key, p50, ms %f", &ms)
	_, errCPU := fmt.Sscanf(lines[2], "server CPU for a key, µs %f", &us)
	if errEcho != nil || errCPU != nil || ms <= 0 || us <= 0 {
		t.Errorf("no figures of evertty:\n%s", out.stdout)
	}
	if !strings.Contains(out.stdout, "\necho: ttyd: it ended: ") {
		t.Errorf("it does not say that ttyd failed:\n%s", out.stdout)
	}

	b = benchCall(t, "--only", "exec,echo", "--json")
	out = run(t, call(t, append(b.env, "PATH=/usr/bin:/bin"), b.args...))
	b.leftNothing(t)
	var r struct {
		Servers map[string]string
		Rows    []struct {
			Scenario string
			Values   map[string]float64
		}
	}
	if err := json.Unmarshal([]byte(out.stdout), &r); err != nil || len(r.Rows) != 3 || len(r.Servers) != 3 {
		t.Fatalf("%v: %+v", err, out)
	}
	for _, row := range r.Rows {
		if row.Values["evertty"] <= 0 || row.Scenario == "exec" && row.Values["bash"] <= 0 {
			t.Errorf("%+v has no figure", row)
		}
	}
}

// TestBenchServerIsInterrupted: Ctrl-C in the middle leaves nothing.
func TestBenchServerIsInterrupted(t *testing.T) {
	t.Parallel()
	b := benchCall(t, "--only", "idle")
	c := call(t, b.env, b.args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "programs run", func() bool {
		return strings.Contains(strings.Join(marked(b.mark), "\n"), "sleep 1000")
	})
	_ = c.Process.Signal(syscall.SIGINT)
	if err := c.Wait(); c.ProcessState.ExitCode() != 130 {
		t.Errorf("%v: %s", err, &out)
	}
	b.leftNothing(t)
}

// TestBenchServerRefuses: what cannot be measured is refused before anything starts.
func TestBenchServerRefuses(t *testing.T) {
	t.Parallel()
	run(t, call(t, nil, "bench", "server", "--only", "echo,zzz")).refuses(t, 2, `"zzz"`, "echo,viewers,flood")
	run(t, call(t, nil, "bench", "server", "--tmux", "/none")).refuses(t, 2, `"/none"`, "--tmux", "path of a program")
	run(t, call(t, nil, "bench", "server", "x")).refuses(t, 2, "evertty bench server")
}
