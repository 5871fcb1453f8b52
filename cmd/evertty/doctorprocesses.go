//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper"
)

const (
	// serverPatience is how long a server may take to say who it is; one that needs more hangs.
	serverPatience = 3 * time.Second
	// fewFiles is the part of its limit, one in so many, that a process should have left.
	fewFiles = 10
)

// keeperReports are the keepers of this user.
func keeperReports() ([]keeperReport, error) {
	found, err := keeper.Processes()
	if err != nil {
		return nil, err
	}
	procs, err := proc.List()
	if err != nil {
		return nil, err
	}
	list := askAll(found, func(p keeper.Process) keeperReport { return reportOf(p, procs) })
	slices.SortFunc(list, func(a, b keeperReport) int { return a.PID - b.PID })
	return list, nil
}

// askAll asks about each of a list, several at a time so that one that hangs does not take the time of others. The
// answers are in the order of the list.
func askAll[T, R any](list []T, ask func(T) R) []R {
	answers := make([]R, len(list))
	places := make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	_ = atOnce(places, func(i int) error {
		answers[i] = ask(list[i])
		return nil
	})
	return answers
}

func reportOf(p keeper.Process, procs []proc.Process) keeperReport {
	r := keeperReport{PID: p.PID, Dir: p.Dir}
	for _, child := range procs {
		if child.Parent == p.PID && !child.Ended {
			r.Programs++
		}
	}
	r.Open, r.Limit = filesOf(p.PID)
	why := p.Reachable()
	r.Reachable = why == nil
	if why == nil {
		var err error
		if r.Version, err = p.Release(); err != nil {
			why = fmt.Errorf("it does not answer: %w", err)
		}
		r.Version, _, _ = strings.Cut(r.Version, " ")
	}
	switch {
	case why != nil && stopped(p.PID):
		r.finding = problem("it is stopped", fmt.Sprintf("kill -CONT %d lets it go on", p.PID))
	case why != nil && r.Reachable:
		r.finding = problem(why.Error(),
			fmt.Sprintf("kill -9 %d ends it; a server that runs starts another one and loses nothing", p.PID))
	case why != nil:
		r.finding = problem(why.Error(), fmt.Sprintf("evertty kill --all --data-dir %s ends its programs and it; it "+
			"does so by itself within a minute or so unless the directory comes back", p.Dir))
	default:
		r.finding = tooFewFiles(r.Open, r.Limit)
	}
	return r
}

// procFile is the text of a file that /proc has of a process, "" when there is none.
func procFile(pid int, name string) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	return string(text)
}

// filesOf is how many descriptors a process has open, 0 when unknown, and how many it may have.
func filesOf(pid int) (open, limit int) {
	var st unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d/fd", pid), &st) == nil {
		open = int(st.Size) // since Linux 6.2
	}
	_, rest, _ := strings.Cut(procFile(pid, "limits"), "\nMax open files")
	if fields := strings.Fields(rest); len(fields) > 0 {
		limit, _ = strconv.Atoi(fields[0]) // 0 is no number: unlimited
	}
	return open, limit
}

func tooFewFiles(open, limit int) finding {
	if limit == 0 || open < limit-limit/fewFiles {
		return finding{}
	}
	return problem("it has few file descriptors left",
		"end terminals or viewers, or start the server with a higher limit (ulimit -Hn, LimitNOFILE)")
}

// stopped reports whether a process is stopped (SIGSTOP).
func stopped(pid int) bool {
	_, rest, _ := strings.Cut(procFile(pid, "stat"), ") ")
	return strings.HasPrefix(rest, "T")
}

// serverReports are the servers of this user: those that a data directory names, and those that /proc shows.
func serverReports(ctx context.Context, dir string, keepers []keeperReport) ([]serverReport, error) {
	dirs := []string{dir}
	for _, k := range keepers {
		if k.Reachable && !slices.Contains(dirs, k.Dir) {
			dirs = append(dirs, k.Dir)
		}
	}
	found := map[int]string{} // directories by process
	for _, d := range dirs {
		if pid := lockedBy(d); pid != 0 && found[pid] == "" {
			found[pid] = d
		}
	}
	others, err := serving()
	for pid, d := range others {
		found[pid] = cmp.Or(found[pid], d)
	}
	list := askAll(slices.Sorted(maps.Keys(found)), func(pid int) serverReport { return visit(ctx, pid, found[pid]) })
	return list, err
}

// lockedBy is the server that has the lock of a directory, 0 when none runs.
func lockedBy(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "lock"))
	pid, e := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || e != nil || !isVerb(pid, "serve") {
		return 0
	}
	return pid
}

// isVerb reports whether a process of this user runs `NAME verb …`.
func isVerb(pid int, verb string) bool {
	words := commandLine(pid)
	_, rest, _ := strings.Cut(procFile(pid, "status"), "\nUid:")
	fields := strings.Fields(rest)
	return len(words) > 1 && words[1] == verb && len(fields) > 1 && fields[1] == strconv.Itoa(os.Geteuid())
}

func commandLine(pid int) []string {
	return strings.Split(strings.TrimSuffix(procFile(pid, "cmdline"), "\x00"), "\x00")
}

// serving are the processes of this user that are started as this program is to serve, with the data directory that
// they were given, "" for none.
func serving() (map[int]string, error) {
	procs, err := proc.List()
	if err != nil {
		return nil, err
	}
	found := map[int]string{}
	for _, p := range procs {
		words := commandLine(p.PID)
		if len(words) < 2 || filepath.Base(words[0]) != "evertty" || !isVerb(p.PID, "serve") {
			continue
		}
		found[p.PID] = ""
		for i, w := range words {
			if dir, ok := strings.CutPrefix(w, "--data-dir="); ok {
				found[p.PID] = dir
			} else if w == "--data-dir" && i+1 < len(words) {
				found[p.PID] = words[i+1]
			}
		}
	}
	return found, nil
}

// visit asks a server who it is.
func visit(ctx context.Context, pid int, dir string) serverReport {
	r := serverReport{PID: pid, Dir: dir}
	r.Open, r.Limit = filesOf(pid)
	if stopped(pid) {
		r.finding = problem("it is stopped",
			fmt.Sprintf("kill -CONT %d lets it go on; serve --takeover goes on in its place", pid))
		return r
	}
	if dir == "" {
		return r
	}
	if _, err := os.Stat(dir); err != nil {
		r.finding = problem("its data directory is gone",
			fmt.Sprintf("kill %d ends it; its programs end a minute later", pid))
		return r
	}
	place, err := client.Find(dir)
	if err == nil {
		r.URL = place.URL
		err = r.ask(ctx, dir)
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrTimeout) {
		err = fmt.Errorf("it hangs (asked for %s)", serverPatience)
	}
	if err != nil {
		r.finding = problem("it does not answer: "+err.Error(),
			"serve --takeover --data-dir "+dir+" goes on in its place")
	}
	return r
}

// ask fills in what the server says of itself.
func (r *serverReport) ask(ctx context.Context, dir string) error {
	server, err := client.Discover(dir)
	if err != nil {
		return err
	}
	defer server.Close()
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	v, err := server.API().GetVersion(ctx)
	if err != nil {
		return err
	}
	r.Version = v.Version
	h, err := server.API().GetHealth(ctx)
	if err != nil {
		return err
	}
	if len(h.Reasons) > 0 {
		r.finding = problem(strings.Join(h.Reasons, "; "), "see its log and docs/operate/durability.md")
		return nil
	}
	if r.finding = tooFewFiles(r.Open, r.Limit); r.Problem == "" && r.Version != programVersion() {
		r.finding = finding{Warning: "this program is " + programVersion(),
			Advice: "evertty serve --takeover --data-dir " + dir + " goes on with it"}
	}
	return nil
}
