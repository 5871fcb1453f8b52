package snapshot

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// maxJudge bounds the time of one job: the longest recordings take a few
// seconds, on a slow and busy machine some minutes, a count that nobody clamped hours.
const maxJudge = 5 * time.Minute

// judge is a Node process with a real xterm.js in it (testdata/xterm/judge.cjs).
type judge struct {
	mu  sync.Mutex
	cmd *exec.Cmd
	in  *json.Encoder
	out *bufio.Reader
	// replays counts comparisons that ended because an engine asked for a new
	// snapshot.
	replays int
	// cuts and missed count what resume was asked, crashes the streams that made
	// xterm.js throw an exception.
	cuts, missed, crashes int
}

type job struct {
	Cols       int      `json:"cols"`
	Rows       int      `json:"rows"`
	Scrollback int      `json:"scrollback"`
	Unicode    string   `json:"unicode"`
	Reuse      bool     `json:"reuse"`
	Writes     [][]byte `json:"writes"`
	Steps      []xstep  `json:"steps"`
}

// xstep is a write, or a resize when Cols is not 0, or with Reset a resize and
// the new snapshot after it. Pending is what an engine
// says is unfinished after it; Skip: nobody wants the state.
type xstep struct {
	Write   []byte `json:"write"`
	Cols    int    `json:"cols"`
	Rows    int    `json:"rows"`
	Reset   bool   `json:"reset"`
	Pending []byte `json:"pending"`
	Skip    bool   `json:"skip"`
}

// xstate is what an xterm.js is: everything that decides how it goes on.
type xstate struct {
	Cols, Rows int
	Alt        bool
	Main       xbuffer
	Other      *xbuffer
	Hidden     *xsaved // saved cursor of the alternate screen while it is not shown
	Modes      xmodes
	Pen        string
	Charsets   string
	GL         int
	Charset    string
	Title      string
	Icon       string
	Repeats    bool
	Repeat     string // what REP would print
	Parser     string
	Data       []string
	Bells      int
	Colors     []string
	// Of a step: all its parser holds, and what the parser would be that read
	// only Pending.
	Sequence, PendingParser string
	// Crash: xterm.js threw an exception, and this state is empty.
	Crash string
	// Odd: why this state is one that nothing else can be equal to.
	Odd string
}

type xmodes struct {
	AppCursor, AppKeypad, Origin, Autowrap, ReverseWrap, Paste, Focus, Sync, Insert, Linefeed, Hidden bool
	Mouse, Encoding, CursorStyle                                                                      string
	CursorBlink                                                                                       bool
}

type xbuffer struct {
	Lines                   []xline
	Tabs                    []int
	X, Y, Base, Top, Bottom int
	Saved                   xsaved
	Wider                   bool // a line has cells right of the screen
}

type xsaved struct {
	X, Y    int
	Pen     string
	Charset string
}

type xline struct {
	Wrapped bool
	Cells   []xcell
}

// xcell is a cell: characters, width and style as judge.cjs joins it.
type xcell struct {
	Text  string
	Width int
	Style string
}

func (c *xcell) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&c.Text, &c.Width, &c.Style})
}

// startJudge starts the process; it ends with the test.
func startJudge(t testing.TB) *judge {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("node is required to check snapshots against a real xterm.js (README names the version): %v", err)
	}
	cmd := exec.Command(node, filepath.Join(judgeDir(t), "judge.cjs"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("judge: %v", err)
		}
	})
	return &judge{cmd: cmd, in: json.NewEncoder(in), out: bufio.NewReaderSize(out, 1<<20)}
}

// ask runs a job and returns the state after each write and step.
func (j *judge) ask(t testing.TB, jb job) []xstate {
	t.Helper()
	var answer struct{ States []xstate }
	j.exchange(t, jb, &answer)
	return answer.States
}

// exchange gives the process a job and reads its answer.
func (j *judge) exchange(t testing.TB, jb, answer any) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.in.Encode(jb); err != nil {
		t.Fatalf("judge: %v", err)
	}
	hangs := time.AfterFunc(maxJudge, func() { _ = j.cmd.Process.Kill() })
	line, err := j.out.ReadBytes('\n')
	if !hangs.Stop() {
		t.Fatalf("xterm.js works on a job for more than %v: %+v", maxJudge, jb)
	}
	if err != nil {
		t.Fatalf("judge: %v", err)
	}
	if err := json.Unmarshal(line, answer); err != nil {
		t.Fatalf("judge: %v", err)
	}
}

// judgeDir is a folder with judge.cjs and the xterm.js packages of its lock
// file: testdata/xterm when someone ran npm ci there, else one in the user's
// cache that is filled once.
func judgeDir(t testing.TB) string {
	t.Helper()
	const src = "testdata/xterm"
	if _, err := os.Stat(filepath.Join(src, "node_modules")); err == nil {
		return src
	}
	names := []string{"package.json", "package-lock.json", ".npmrc", "judge.cjs", "resume.cjs"}
	sum := sha256.New()
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(src, n))
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(b)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "evertty-test")
	dir := filepath.Join(cache, "xterm-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		install(t, src, names, cache, dir)
	}
	return dir
}

// install fills dir. It appears complete or not at all, so that tests of
// several packages may install at once.
func install(t testing.TB, src string, names []string, cache, dir string) {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatalf("npm, which comes with Node, is required to install xterm.js for the tests: %v", err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	tmp, err := os.MkdirTemp(cache, "install-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	for _, n := range names {
		b, err := os.ReadFile(filepath.Join(src, n))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tmp, n), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = tmp
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci in a copy of %s (needs a package registry once): %v\n%s", src, err, out)
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, exists := os.Stat(dir); exists != nil {
			t.Fatal(err)
		}
	}
}
