// Package bench measures a server of this program beside ttyd and tmux, on the user's own machine.
//
// Each measurement starts servers of its own in a temporary directory and ends them with all that they started. The
// servers take turns in rounds, and a figure is the median of its rounds. A process measures once at a time: it becomes
// the subreaper of its descendants (prctl(2)) and ends all of its children.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// runLimit is how long one server may take for one scenario before the run counts as failed.
const runLimit = 90 * time.Second

// Config says what is measured. The zero value of a field but Self is its default.
type Config struct {
	Self       string            // path of this program
	TTYD, Tmux string            // paths or names of the others; "": what PATH has
	Quick      bool              // one round of little instead of three of more
	Only       []string          // the scenarios, of Names; nil: all
	Progress   func(text string) // is told what is measured next; nil: nobody is
}

// Report is what was measured.
type Report struct {
	Processors int               `json:"processors"`
	Load       float64           `json:"load"` // average of one minute, at the start
	Servers    map[string]string `json:"servers"`
	Rows       []Row             `json:"rows"`
	Notes      []string          `json:"notes"` // what could not be measured
}

// Row is one line of the table.
type Row struct {
	Scenario string             `json:"scenario"`
	Measure  string             `json:"measure"`         // with its unit
	Values   map[string]float64 `json:"values"`          // by server; bash is the shell alone
	Ratio    float64            `json:"ratio,omitempty"` // evertty's to the best other one; 0: there is none
	Asked    string             `json:"asked"`           // what the project asks for
	more     bool               // a larger value is better
}

// settle makes the ratio.
func (r *Row) settle() {
	best := math.NaN()
	for name, v := range r.Values {
		if name != ownName && (math.IsNaN(best) || v > best == r.more) {
			best = v
		}
	}
	if own, ok := r.Values[ownName]; ok && best > 0 {
		r.Ratio = own / best
	}
}

// Installed is the path of a program that runs; the error is a sentence with what was given.
func Installed(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("got %q, allowed is the path of a program", name)
	}
	return filepath.Abs(path)
}

// Run measures. Errors are of evertty's own server and of the machine; what fails at another server is a note. When ctx
// ends, Run ends soon with its cause. No process and no file is left.
func Run(ctx context.Context, c Config) (Report, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return Report{}, fmt.Errorf("bench: %w", err)
	}
	dir, err := os.MkdirTemp("", "evertty-bench-")
	if err != nil {
		return Report{}, fmt.Errorf("bench: %w", err)
	}
	defer os.RemoveAll(dir)
	defer context.AfterFunc(ctx, endChildren)()
	defer endChildren()
	r := Report{Processors: runtime.NumCPU(), Load: Load(), Servers: map[string]string{}, Notes: []string{}}
	t := table{Config: c, dir: dir, size: sizesOf(c.Quick), report: &r}
	t.find()
	for _, s := range scenarios(t.size) {
		if c.Only == nil || slices.Contains(c.Only, s.name) {
			if err := t.measure(ctx, s); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// table is a run of scenarios.
type table struct {
	Config
	dir    string
	size   sizes
	report *Report
	peers  []string // names of the servers that are there, evertty first
	runs   int      // so far
}

// find looks for the servers.
func (t *table) find() {
	t.peers = []string{ownName}
	t.report.Servers[ownName] = t.Self
	for _, other := range []struct {
		name    string
		path    *string
		version string // the flag
	}{{"ttyd", &t.TTYD, "--version"}, {"tmux", &t.Tmux, "-V"}} {
		path, err := Installed(cmp.Or(*other.path, other.name))
		if err != nil {
			t.report.Servers[other.name] = "not installed"
			continue
		}
		*other.path = path
		version, _ := exec.Command(path, other.version).CombinedOutput()
		t.report.Servers[other.name] = strings.TrimSpace(string(version))
		t.peers = append(t.peers, other.name)
	}
}

// measure takes one scenario through its rounds and adds its rows.
func (t *table) measure(ctx context.Context, s scenario) error {
	got := map[string][][]float64{} // by server and row
	failed := map[string]bool{}
	for round := range t.size.rounds {
		for _, name := range t.peers {
			if failed[name] || !slices.Contains(s.peers, name) {
				continue
			}
			if t.Progress != nil {
				t.Progress(fmt.Sprintf("%s: %s, round %d of %d", s.name, name, round+1, t.size.rounds))
			}
			values, err := t.once(ctx, s, name)
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil && name == ownName:
				return fmt.Errorf("bench: %s: %w", s.name, err)
			case err != nil:
				failed[name] = true
				t.report.Notes = append(t.report.Notes, fmt.Sprintf("%s: %s: %v", s.name, name, err))
				continue
			}
			for who, list := range values {
				got[who] = append(got[who], list)
			}
		}
	}
	for i, row := range s.rows {
		row.Scenario, row.Values = s.name, map[string]float64{}
		for who, rounds := range got {
			var column []float64
			for _, list := range rounds {
				column = append(column, list[i])
			}
			if m := median(column); !math.IsNaN(m) && !failed[who] {
				row.Values[who] = m
			}
		}
		row.settle()
		t.report.Rows = append(t.report.Rows, row)
	}
	return nil
}

// once measures one server once. The values are by server, and in the order of the rows.
func (t *table) once(ctx context.Context, s scenario, name string) (map[string][]float64, error) {
	t.runs++
	dir := filepath.Join(t.dir, fmt.Sprint(t.runs))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	defer endChildren()
	ctx, cancel := context.WithTimeoutCause(ctx, runLimit, fmt.Errorf("not done after %v", runLimit))
	defer cancel()
	r := &run{ctx: ctx, dir: dir, size: t.size, peer: t.peer(name)}
	if err := writeText(dir, s); err != nil {
		return nil, err
	}
	if err := r.peer.start(ctx, dir); err != nil {
		return nil, err
	}
	values := map[string][]float64{name: s.run(r)}
	if r.bash > 0 {
		values["bash"] = []float64{r.bash}
	}
	if r.err != nil && ctx.Err() != nil {
		r.err = context.Cause(ctx)
	}
	return values, r.err
}
