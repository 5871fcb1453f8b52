//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// diagnosis has the findings of doctor.
type diagnosis struct {
	OK      bool           `json:"ok"`
	Dir     string         `json:"data_dir"` // that the checks are about
	Servers []serverReport `json:"servers"`
	Keepers []keeperReport `json:"keepers"`
	Checks  []check        `json:"checks"`
}

// serverReport is a server of this user.
type serverReport struct {
	PID     int    `json:"pid"`
	Dir     string `json:"data_dir"` // "" when unknown
	URL     string `json:"url"`
	Version string `json:"version"`
	Open    int    `json:"open_files"` // 0 when unknown
	Limit   int    `json:"max_files"`
	finding
}

// keeperReport is a keeper of this user.
type keeperReport struct {
	PID       int    `json:"pid"`
	Dir       string `json:"data_dir"`
	Version   string `json:"version"`
	Programs  int    `json:"programs"` // that it is the parent of
	Reachable bool   `json:"reachable"`
	Server    int    `json:"server"` // process id, 0 when none runs
	Open      int    `json:"open_files"`
	Limit     int    `json:"max_files"`
	finding
}

// check is one thing that a server needs.
type check struct {
	Name string `json:"name"`
	Text string `json:"text"` // what was found
	finding
}

// finding is a fault, or what works less well than it could, and its remedy; all are "" when all is well.
type finding struct {
	Problem string `json:"problem"`
	Advice  string `json:"advice"`
	Warning string `json:"warning"` // does not count
}

// problem is a fault with its remedy.
func problem(what, advice string) finding { return finding{Problem: what, Advice: advice} }

func newDoctor(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Find servers and keepers of this user, and what is wrong",
		Long: `doctor lists the servers and keepers of this user, wherever their data
directories are, with what is wrong and what to do. It also checks what a server
on the data directory needs: the system, file descriptors, disk, permissions,
the certificate, the database, journals and snapshots, the clock, units of systemd;
and what a server or keeper that was killed has left.
It starts and changes nothing, and takes some seconds at most. It ends with 0 when
there is no problem (a warning is none), with 1 otherwise.`,
		Args: cobra.NoArgs,
	}
	asJSON := jsonFlag(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		d, err := a.diagnose(c.Context())
		if err != nil {
			return err
		}
		if err := printReply(a.stdout, *asJSON, d, printDiagnosis); err != nil {
			return err
		}
		if !d.OK {
			return codeError(exitFailure)
		}
		return nil
	}
	return c
}

// doctorTime is how long servers may take to answer, all together.
const doctorTime = 5 * time.Second

// diagnose looks at everything.
func (a *app) diagnose(ctx context.Context) (d diagnosis, err error) {
	if d.Dir, err = a.dir(); err != nil {
		return d, err
	}
	if d.Keepers, err = keeperReports(); err != nil {
		return d, err
	}
	asking, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	if d.Servers, err = serverReports(asking, d.Dir, d.Keepers); err != nil {
		return d, err
	}
	for i, k := range d.Keepers {
		for _, s := range d.Servers {
			if s.Dir != "" && k.Reachable && sameDir(s.Dir, k.Dir) {
				d.Keepers[i].Server = s.PID
			}
		}
	}
	d.Checks = append(checksOf(d.Dir), hostChecks()...)
	d.Checks = append(d.Checks, examinedOf(d).checks(ctx)...)
	d.OK = !slices.ContainsFunc(d.findings(), func(f finding) bool { return f.Problem != "" })
	return d, nil
}

func (d diagnosis) findings() (list []finding) {
	for _, s := range d.Servers {
		list = append(list, s.finding)
	}
	for _, k := range d.Keepers {
		list = append(list, k.finding)
	}
	for _, c := range d.Checks {
		list = append(list, c.finding)
	}
	return list
}

// printDiagnosis writes what was found for a person.
func printDiagnosis(w io.Writer, d diagnosis) error {
	for _, s := range d.Servers {
		s.finding.line(w, fmt.Sprintf("server %d, %s, of %s at %s%s", s.PID, cmp.Or(s.Version, "version unknown"),
			cmp.Or(s.Dir, "an unknown directory"), cmp.Or(s.URL, "an unknown address"), files(s.Open, s.Limit)))
	}
	for _, k := range d.Keepers {
		state := "no server"
		if k.Server != 0 {
			state = fmt.Sprintf("server %d", k.Server)
		}
		if !k.Reachable {
			state = "out of reach"
		}
		k.finding.line(w, fmt.Sprintf("keeper %d, %s, of %s: programs %d, %s%s", k.PID,
			cmp.Or(k.Version, "version unknown"), k.Dir, k.Programs, state, files(k.Open, k.Limit)))
	}
	if len(d.Servers)+len(d.Keepers) == 0 {
		_, _ = fmt.Fprintln(w, "ok   no server or keeper of this user runs")
	}
	for _, c := range d.Checks {
		c.finding.line(w, c.Name+": "+c.Text)
	}
	return nil
}

// line writes one thing with its fault.
func (f finding) line(w io.Writer, what string) {
	mark := "ok  "
	switch {
	case f.Problem != "":
		mark, what = "BAD ", what+": "+f.Problem
	case f.Warning != "":
		mark, what = "warn", strings.TrimSuffix(what, ": ")+": "+f.Warning
	}
	_, _ = fmt.Fprintln(w, mark, printable(what))
	if f.Advice != "" {
		_, _ = fmt.Fprintln(w, strings.Repeat(" ", len(mark)+1)+"-> "+printable(f.Advice))
	}
}

// files says how many descriptors a process has.
func files(open, limit int) string {
	switch {
	case limit == 0:
		return ""
	case open == 0:
		return fmt.Sprintf(", at most %d files", limit)
	}
	return fmt.Sprintf(", %d of %d files open", open, limit)
}
