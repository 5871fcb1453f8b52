//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
)

const (
	// benchPiece is how much of a workload is fed at once, in bytes: what the
	// kernel hands out for one read of a PTY.
	benchPiece = 4 << 10
	// benchEnough is the wall time after which ingest repeats no more.
	benchEnough = 4 * time.Second
)

// engineBench is one measurement of an engine.
type engineBench struct {
	cols, rows int
	engine     string
	data       []byte
	arg        string // the mode's own: chunks, number of terminals, repetitions or bytes
	reps       string // of ingest, "" when not given
	out        io.Writer
}

// benchModes are the measurements by name.
var benchModes = map[string]func(*engineBench) error{
	"ingest": (*engineBench).ingest, "mem": (*engineBench).mem, "ser": (*engineBench).ser, "dump": (*engineBench).dump,
}

// newBench is a verb for those who work on an engine. It has one for everybody below it.
func newBench(a *app) *cobra.Command {
	b := engineBench{engine: defaultEngine}
	c := &cobra.Command{
		Use:   "bench MODE SUBJECT COLS ROWS FILE ARG [REPS]",
		Short: "Measure a server of this machine, or an engine",
		Long: `evertty bench server measures a server beside ttyd and tmux. The other modes are for
developers of an engine: they measure that of --engine on the bytes of FILE and print
one line of JSON. It is the subject "own engine" of a comparison with other emulators, so it keeps
to the rules that hold for all of them: a history of 5000 lines, a new terminal
and a garbage collection before every repetition, and CPU time that is user and
system time of all threads, the collector's included. Nothing is warmed up, except
that mem makes a first terminal, so that tables which all share count for none. The
text for viewers is made as in the server.

  ingest … CHUNKS|- REPS  feed FILE in pieces of 4096 bytes, or of the sizes in the
                          file CHUNKS, one number a line; ends after 4 s
                          {"secs":[wall…],"cpu":[user+sys…],"bytes":N}
  mem    … N              N terminals, empty and after FILE: bytes of live heap each
                          {"idle":BYTES,"full":BYTES}
  ser    … REPS           freeze after FILE and encode the whole state with all
                          history as ANSI, in milliseconds of CPU and wall
                          {"ms":[cpu…],"wall":[…],"bytes":N,"kind":TEXT}
  dump   … MAXBYTES       the rows after so many bytes of FILE, as text

SUBJECT is the name that the comparison has for this engine; it changes nothing.`,
		Example: `  evertty bench server --quick
  evertty bench ingest evertty 80 24 workload.bin - 3
  evertty bench mem evertty 200 50 workload.bin 5`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 6 || len(args) > 7 {
				return wrongArguments(c, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			b.out = a.stdout
			return b.run(args)
		},
	}
	c.Flags().Var(newEnum(&b.engine, engineNames()...), "engine", "`emulator`")
	c.AddCommand(newBenchServer(a))
	return c
}

// run reads the arguments after the flags and measures.
func (b *engineBench) run(args []string) error {
	mode := benchModes[args[0]]
	if mode == nil {
		return usage(fmt.Errorf("bench: got %q, allowed is ingest, mem, ser, dump", args[0]))
	}
	var err error
	if b.cols, err = benchNumber("COLS", args[2], vt.MaxSize); err != nil {
		return err
	}
	if b.rows, err = benchNumber("ROWS", args[3], vt.MaxSize); err != nil {
		return err
	}
	if b.data, err = os.ReadFile(args[4]); err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	b.arg = args[5]
	if len(args) == 7 {
		b.reps = args[6]
	}
	return mode(b)
}

// benchNumber reads a number from 1 to most.
func benchNumber(name, s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, usage(fmt.Errorf("bench: %s: got %q, allowed is 1 to %d", name, s, most))
	}
	return n, nil
}

// ingest measures Write.
func (b *engineBench) ingest() error {
	const most = 1000 // repetitions
	if b.reps == "" {
		b.reps = "1"
	}
	reps, err := benchNumber("REPS", b.reps, most)
	if err != nil {
		return err
	}
	pieces, err := b.pieces()
	if err != nil {
		return err
	}
	var secs, cpu []float64
	for total := time.Duration(0); len(secs) < reps && total <= benchEnough; {
		e := b.terminal()
		runtime.GC()
		took, used := measure(func() { feedPieces(e, pieces) })
		secs, cpu = append(secs, took.Seconds()), append(cpu, used.Seconds())
		total += took
	}
	return b.print(map[string]any{"secs": secs, "cpu": cpu, "bytes": len(b.data)})
}

// mem measures what terminals take. The workload itself is in both counts that
// are subtracted.
func (b *engineBench) mem() error {
	const most = 10_000 // terminals
	n, err := benchNumber("N", b.arg, most)
	if err != nil {
		return err
	}
	b.terminal().Write([]byte("warm")) // tables that all terminals share
	pieces := benchPieces(b.data)
	terminals := make([]vt.Engine, n)
	none := liveHeap()
	for i := range terminals {
		terminals[i] = b.terminal()
	}
	idle := liveHeap()
	for _, e := range terminals {
		feedPieces(e, pieces)
	}
	full := liveHeap()
	runtime.KeepAlive(terminals)
	runtime.KeepAlive(pieces)
	return b.print(map[string]any{"idle": (idle - none) / int64(n), "full": (full - none) / int64(n)})
}

// ser measures Freeze and the encoding of everything.
func (b *engineBench) ser() error {
	const most = 1000 // repetitions
	reps, err := benchNumber("REPS", b.arg, most)
	if err != nil {
		return err
	}
	e := b.terminal()
	feedPieces(e, benchPieces(b.data))
	var ms, wall []float64
	var ansi []byte
	for range reps {
		runtime.GC()
		took, used := measure(func() { ansi = snapshot.ANSI(e.Freeze(), snapshot.Options{Scrollback: -1}) })
		ms, wall = append(ms, used.Seconds()*1000), append(wall, took.Seconds()*1000)
	}
	return b.print(map[string]any{"ms": ms, "wall": wall, "bytes": len(ansi), "kind": "Freeze + ANSI (full state)"})
}

// dump prints the rows, for a comparison of what the engines show.
func (b *engineBench) dump() error {
	const most = 1 << 40 // bytes
	n, err := benchNumber("MAXBYTES", b.arg, most)
	if err != nil {
		return err
	}
	e := b.terminal()
	feedPieces(e, benchPieces(b.data[:min(n, len(b.data))]))
	_, err = io.WriteString(b.out, snapshot.Text(e.Freeze(), 0))
	return err
}

// terminal is a new one with a history of 5000 lines, which every subject has.
func (b *engineBench) terminal() vt.Engine {
	return engines[b.engine](vt.Config{Cols: b.cols, Rows: b.rows, Scrollback: vt.DefaultScrollback})
}

// pieces are the workload in the pieces that arg names.
func (b *engineBench) pieces() ([][]byte, error) {
	if b.arg == "-" {
		return benchPieces(b.data), nil
	}
	sizes, err := os.ReadFile(b.arg)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	var out [][]byte
	rest := b.data
	for word := range strings.FieldsSeq(string(sizes)) {
		size, err := benchNumber(b.arg, word, len(b.data))
		if err != nil {
			return nil, err
		}
		size = min(size, len(rest))
		if size == 0 {
			break
		}
		out, rest = append(out, rest[:size]), rest[size:]
	}
	if len(rest) > 0 {
		out = append(out, rest)
	}
	return out, nil
}

// benchPieces cuts data into pieces of benchPiece.
func benchPieces(data []byte) [][]byte { return slices.Collect(slices.Chunk(data, benchPiece)) }

func feedPieces(e vt.Engine, pieces [][]byte) {
	for _, p := range pieces {
		e.Write(p)
	}
}

// measure runs do and returns the wall time and the CPU time it took, the latter
// of all threads, so that the work of the garbage collector counts.
func measure(do func()) (wall, cpu time.Duration) {
	used, start := cpuTime(), time.Now()
	do()
	wall = time.Since(start)
	return wall, cpuTime() - used
}

// cpuTime is the user and system time of this process (getrusage(2)).
func cpuTime() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // fails with bad arguments only
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// liveHeap is the memory in use, in bytes. The second collection frees what the
// first one only took out of pools.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// print writes the result in one line.
func (b *engineBench) print(v any) error { return json.NewEncoder(b.out).Encode(v) }
