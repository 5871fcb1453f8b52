package state

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// limitLetters are the options of ulimit for the names in /proc/PID/limits, with their unit in
// bytes. "Max file locks" is not among them: Linux has no such limit any more, and its value is the
// shell's process tag.
var limitLetters = map[string]struct {
	letter string
	unit   uint64
}{
	"Max cpu time": {"t", 1}, "Max file size": {"f", 1024}, "Max data size": {"d", 1024}, "Max stack size": {"s", 1024},
	"Max core file size": {"c", 512}, "Max resident set": {"m", 1024}, "Max processes": {"u", 1},
	"Max open files": {"n", 1}, "Max locked memory": {"l", 1024}, "Max address space": {"v", 1024},
	"Max pending signals": {"i", 1}, "Max msgqueue size": {"q", 1}, "Max nice priority": {"e", 1},
	"Max realtime priority": {"r", 1}, "Max realtime timeout": {"R", 1},
}

// Lost names the parts of the snapshot that a new bash with this process id lacks: jobs, traps,
// file descriptors, disabled builtins, and for a pid > 0 limits, by comparison with
// /proc/PID/limits.
func (s *Snapshot) Lost(pid int) []string {
	var list []string
	for _, lost := range []struct {
		what  string
		names []string
	}{{"job ", s.jobs}, {"trap ", s.traps}, {"file descriptor ", s.files}, {"enable -n ", s.disabled}} {
		for _, name := range lost.names {
			list = append(list, lost.what+name)
		}
	}
	if pid <= 0 {
		return list
	}
	now, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
	if err != nil {
		return list // it has ended already
	}
	return append(list, s.lostLimits(limitsOf(string(now)))...)
}

// lostLimits are the limits that differ now.
func (s *Snapshot) lostLimits(now map[string]string) []string {
	var list []string
	for name, value := range s.limits {
		if known, ok := limitLetters[name]; ok && now[name] != "" && now[name] != value {
			soft, _, _ := strings.Cut(value, " ")
			list = append(list, fmt.Sprintf("ulimit -%s %s", known.letter, counted(soft, known.unit)))
		}
	}
	slices.Sort(list)
	return list
}

// counted is a limit in the unit of ulimit.
func counted(value string, unit uint64) string {
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		return value // unlimited
	}
	return strconv.FormatUint(n/unit, 10)
}

// limitColumn is the width of the names in /proc/PID/limits (fs/proc/base.c of Linux).
const limitColumn = 25

// limitsOf reads /proc/PID/limits: "SOFT HARD" by name.
func limitsOf(text string) map[string]string {
	limits := map[string]string{}
	for line := range strings.Lines(text) {
		name := strings.TrimSpace(line[:min(len(line), limitColumn)])
		fields := strings.Fields(line[len(name):])
		if _, known := limitLetters[name]; known && len(fields) >= 2 {
			limits[name] = fields[0] + " " + fields[1]
		}
	}
	return limits
}

// trapsOf reads the output of trap: the names of the signals with a trap, and the text after them.
// In posix mode bash also lists signals without a trap, as "-".
func trapsOf(text string) (names []string, rest string) {
	s := &scanner{text: text}
	for s.skip("trap -- ") {
		action, err := s.word(" ")
		if err != nil || !s.skip(" ") {
			break
		}
		if name := s.upTo("\n"); action != "-" {
			names = append(names, name)
		}
		s.skip("\n")
	}
	return names, s.text[s.at:]
}

var (
	// jobLine is the first line of a job: `[1]+ 123 Running    sleep 100 &`; a job that has ended
	// has no state here.
	jobLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\[\d+\]. *(\d+) +(?:(Running|Stopped)(?:\([^)]*\))? *)?(.*)`)
	})
	// nextProcess begins the line of the next process of a pipeline.
	nextProcess = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ +\d+ `) })
)

// jobsOf reads the running and stopped jobs in jobs -l: the process id and the text of each. The
// lines after the first one of a job are its other processes, or more of its text.
func jobsOf(text string) (jobs []string) {
	alive := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := jobLine().FindStringSubmatch(line); m != nil {
			if alive = m[2] != ""; alive {
				jobs = append(jobs, m[1]+" "+m[3])
			}
			continue
		}
		if more := strings.TrimLeft(nextProcess().ReplaceAllString(line, ""), " "); alive && more != "" {
			jobs[len(jobs)-1] += " " + more
		}
	}
	for n := range jobs {
		jobs[n] = strings.TrimSuffix(jobs[n], " &")
	}
	return jobs
}

// ValidNumber reports whether a text is digits.
func ValidNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 31)
	return err == nil
}
