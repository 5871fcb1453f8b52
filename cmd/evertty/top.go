package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

const (
	topPause  = time.Second            // between two readings of top
	topFirst  = 500 * time.Millisecond // between the first two: a load needs two
	topColumn = "TERMINAL\tSESSION\tSTATE\tCPU%\tMEMORY\tVIEW\tLAG\tOUTPUT\tWAITS\tTITLE"
)

func newTop(a *app) *cobra.Command {
	var r wire.ListAllTerminals
	once := false
	c := &cobra.Command{
		Use:   "top",
		Short: "Show what terminals use: processor, memory, viewers",
		Long: `Shows all terminals, the busiest first, and reads them again each second until q or
C-c. CPU% is of one core and MEMORY is resident; both are of the program and all that
it started. VIEW is the number of viewers, LAG output that waits for the slowest one, OUTPUT
how long ago the last output was. WAITS is command when a shell is at its prompt, approval when
somebody is asked about a call on the terminal or of its thread (evertty thread approvals);
wait:2 says that two calls of "evertty wait" look at it. With --once, and where no
terminal is, the table is printed once; --json prints an object in a line for each terminal.`,
		Example: "  evertty top\n  evertty top --json | jq -r 'select(.cpu_percent > 50) | .id'",
		Args:    cobra.NoArgs,
	}
	addFlags(c, flag{"once", "", &once, "print the table once"},
		flag{"session", "s", &r.Session, "only the terminals of this `session`"})
	a.labelFlag(c, &r.Labels)
	asJSON := jsonFlag(c)
	c.RunE = a.onServer(func(c *cobra.Command, server *client.Client, _ []string) error {
		r.Usage = true
		first, err := readTop(c.Context(), server, r)
		if err != nil {
			return err
		}
		if !once && !*asJSON && a.canPaint() {
			server.Close()
			return a.showTop(c.Context(), r, first)
		}
		if err := sleep(c.Context(), topFirst); err != nil {
			return err
		}
		now, err := readTop(c.Context(), server, r)
		if err != nil {
			return err
		}
		return printTop(a.stdout, *asJSON, topRows(first, now))
	})
	return a.talks(c)
}

// reading is what a server told of its terminals at a time.
type reading struct {
	list []client.Terminal
	at   time.Time
}

func readTop(ctx context.Context, server *client.Client, r wire.ListAllTerminals) (reading, error) {
	list, err := server.Filter(ctx, r)
	return reading{list, time.Now()}, err
}

// topRow is a terminal in top.
type topRow struct {
	ID           string     `json:"id"`
	Name         string     `json:"name"`
	Session      string     `json:"session"`
	State        string     `json:"state"`
	CPUPercent   float64    `json:"cpu_percent"` // of one core
	RSSBytes     int64      `json:"rss_bytes"`
	MemoryBytes  int64      `json:"memory_bytes"` // of its screens in the server
	Processes    int        `json:"processes"`
	Viewers      int        `json:"viewers"`
	LagBytes     int        `json:"lag_bytes"`
	LagSeconds   float64    `json:"lag_seconds"`
	LastOutputAt *time.Time `json:"last_output_at"`
	WaitsFor     string     `json:"waits_for"` // "" when it does not run
	Waits        int        `json:"waits"`     // calls of wait
	Title        string     `json:"title"`
	terminal     client.Terminal
}

// topRows are the terminals of a reading, the busiest since the reading before first, else in the order of the list.
func topRows(before, now reading) []topRow {
	had := make(map[string]*wire.TerminalUsage, len(before.list))
	for _, t := range before.list {
		had[t.ID] = t.Usage
	}
	rows := make([]topRow, 0, len(now.list))
	for _, t := range now.list {
		row := topRow{ID: t.ID, Name: t.Name, Session: t.Session, State: t.State, MemoryBytes: t.MemoryBytes,
			Viewers: t.Viewers, LastOutputAt: t.LastOutputAt, Title: t.Title, terminal: t}
		if u := t.Usage; u != nil {
			row.RSSBytes, row.Processes, row.WaitsFor = u.RSSBytes, u.Processes, u.WaitsFor
			row.LagBytes, row.LagSeconds, row.Waits = u.LagBytes, u.LagSeconds, u.Waits
			if b, passed := had[t.ID], now.at.Sub(before.at).Seconds(); b != nil && passed > 0 {
				row.CPUPercent = max(0, (u.CPUSeconds-b.CPUSeconds)/passed*100)
			}
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b topRow) int {
		switch {
		case a.CPUPercent > b.CPUPercent:
			return -1
		case a.CPUPercent < b.CPUPercent:
			return 1
		}
		return 0
	})
	return rows
}

func printTop(w io.Writer, asJSON bool, rows []topRow) error {
	if asJSON {
		e := json.NewEncoder(terminalJSON(w))
		e.SetEscapeHTML(false)
		for _, r := range rows {
			if err := e.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	return table(topColumn, topCells)(w, rows)
}

func topCells(r topRow) []any {
	cpu, memory, lag, output, waits := "-", "-", "-", "-", "-"
	if r.terminal.Usage != nil {
		cpu, memory = fmt.Sprintf("%.1f", r.CPUPercent), shortBytes(r.RSSBytes)
	}
	if r.LagBytes > 0 {
		lag = shortBytes(int64(r.LagBytes))
		if r.LagSeconds >= 1 {
			lag += fmt.Sprintf(" %.0fs", r.LagSeconds)
		}
	}
	if r.LastOutputAt != nil {
		output = age(time.Since(*r.LastOutputAt))
	}
	if r.WaitsFor == "command" || r.WaitsFor == "approval" {
		waits = r.WaitsFor
	}
	if r.Waits > 0 {
		waits += fmt.Sprintf(" wait:%d", r.Waits)
	}
	return []any{nameOf(r.terminal), r.Session, stateOf(r.terminal), cpu, memory, r.Viewers, lag, output, waits,
		caption(r.terminal)}
}

// shortBytes is a number of bytes with three digits or so: 512B, 1.4MiB, 23MiB.
func shortBytes(n int64) string {
	for _, u := range sizeUnits {
		if n >= u.bytes {
			value := float64(n) / float64(u.bytes)
			if value < 10 {
				return fmt.Sprintf("%.1f%s", value, u.name)
			}
			return fmt.Sprintf("%.0f%s", value, u.name)
		}
	}
	return fmt.Sprintf("%dB", n)
}

// top is the live table. It has one caller at a time.
type top struct {
	rows   []topRow
	lost   bool // the server does not answer
	colors bool
}

// showTop shows the table until a key leaves it.
func (a *app) showTop(ctx context.Context, r wire.ListAllTerminals, first reading) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &top{rows: topRows(first, first), colors: colors(a.stdout)}
	changes := make(chan func())
	go a.watchTop(ctx, r, first, func(rows []topRow, lost bool) {
		send(ctx, changes, func() {
			if t.lost = lost; !lost {
				t.rows = rows
			}
		})
	})
	return a.occupy(&fullWindow{out: a.stdout, lines: t.lines, press: func(k pickerKey) bool {
		return k.what == pressLeave || k.what == pressText && k.text == "q"
	}}, changes)
}

// watchTop tells the terminals again and again until ctx ends.
func (a *app) watchTop(ctx context.Context, r wire.ListAllTerminals, before reading, tell func([]topRow, bool)) {
	for pause := topFirst; sleep(ctx, pause) == nil; pause = topPause {
		server, err := a.client()
		var now reading
		if err == nil {
			now, err = readTop(ctx, server, r)
			server.Close()
		}
		if err != nil {
			tell(nil, true)
			continue
		}
		tell(topRows(before, now), false)
		before = now
	}
}

// lines are the picture. Only what the window has room for is put into it.
func (t *top) lines(cols, rows int) []string {
	running, cpu, memory := 0, 0.0, int64(0)
	for _, r := range t.rows {
		if r.State == "running" {
			running++
		}
		cpu, memory = cpu+r.CPUPercent, memory+r.RSSBytes
	}
	head := fmt.Sprintf("%d terminals, %d running  CPU %.1f%%  memory %s  q leaves", len(t.rows), running, cpu,
		shortBytes(memory))
	if t.lost {
		head = "the server is lost; waiting for it  q leaves"
	}
	grid := newTable(nil)
	grid.room = cols
	printRow(grid, headCells(topColumn)...)
	for _, r := range t.rows[:max(0, min(len(t.rows), rows-2))] {
		printRow(grid, topCells(r)...)
	}
	lines := append([]string{head}, grid.lines()...)
	for len(lines) < rows {
		lines = append(lines, "")
	}
	if t.colors && len(lines) > 1 {
		lines[1] = "\x1b[7m" + lines[1] + strings.Repeat(" ", cols) + "\x1b[m"
	}
	return lines[:max(rows, 1)]
}
