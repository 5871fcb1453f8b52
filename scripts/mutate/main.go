// Command mutate says how much the tests of packages see: it breaks one line of production code after the other and
// runs the package's own tests. A test that turns red has seen the line.
//
//	go run ./scripts/mutate -n 200 -seed 1 ./stream ./internal/journal
//
// The checkout is never changed: `go test -overlay` reads the broken file from elsewhere. What does not compile does
// not count. The exit code is 1 below -least percent of red, 2 when it cannot run.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	n     int    // mutations in all, shared evenly by the packages
	seed  uint64 // of the choice of lines
	least int    // percent of red
	race  string // flags of a run that takes a lock out; empty: none is taken out
}

func main() {
	var o options
	flag.IntVar(&o.n, "n", 200, "mutations in all")
	flag.Uint64Var(&o.seed, "seed", 1, "of the choice")
	flag.IntVar(&o.least, "least", 85, "percent of the mutations that tests have to see")
	flag.StringVar(&o.race, "race", "", "flags of go test for mutations of locks, which only the race detector sees")
	flag.Parse()
	share, err := run(o, flag.Args(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if share < o.least {
		os.Exit(1)
	}
}

// tally is what came out of one package.
type tally struct {
	name       string
	red, total int
}

// run mutates the packages and returns the share of red in percent.
func run(o options, patterns []string, w io.Writer) (int, error) {
	packages, err := list(patterns)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // some tests run programs of theirs as another user
		return 0, err
	}
	if err := adoptOrphans(); err != nil {
		return 0, err
	}
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	random := rand.New(rand.NewPCG(o.seed, 0))
	var tallies []tally
	for i, p := range packages {
		// Packages at the beginning have the rest of an uneven share.
		n := (o.n + len(packages) - 1 - i) / len(packages)
		t, err := p.mutate(n, o, random, filepath.Join(dir, fmt.Sprint(i)), root, w)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		tallies = append(tallies, t)
	}
	return report(tallies, w), nil
}

// mutate breaks n lines, or as many as there are, and counts what the tests saw. Files are written below dir.
func (p *listed) mutate(n int, o options, random *rand.Rand, dir, root string, w io.Writer) (tally, error) {
	t := tally{name: p.ImportPath}
	all, err := p.mutations(o.race != "")
	if err != nil {
		return t, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o755); err != nil {
		return t, err
	}
	trial := trial{pkg: p.ImportPath, dir: dir, race: o.race, limit: 20 * time.Minute}
	began := time.Now()
	if out, err := trial.test(mutation{}); err != nil {
		return t, fmt.Errorf("its tests fail as it is: %w\n%s", err, out)
	}
	// A mutation that makes a loop endless is red too, a while later.
	trial.limit = 3*time.Since(began) + 30*time.Second
	for t.total < n {
		m, ok := all.draw(random)
		if !ok {
			break
		}
		out, err := trial.test(m)
		if strings.Contains(out, "[build failed]") || strings.Contains(out, "[setup failed]") {
			continue
		}
		if err != nil && !isExit(err) && !errors.Is(err, errTooLong) {
			return t, err
		}
		t.total++
		says := "GREEN"
		if err != nil {
			says = "red  "
			t.red++
		}
		name, _ := filepath.Rel(root, m.file)
		fmt.Fprintf(w, "%s %s:%d: %s\n", says, name, m.line, m.what)
	}
	return t, nil
}

// report prints the share of each package and of all, which it returns in percent.
func report(tallies []tally, w io.Writer) int {
	all := tally{name: "all"}
	for _, t := range tallies {
		all.red += t.red
		all.total += t.total
	}
	fmt.Fprintln(w)
	for _, t := range append(tallies, all) {
		fmt.Fprintf(w, "%4d of %4d red, %3d %%  %s\n", t.red, t.total, percent(t), t.name)
	}
	return percent(all)
}

func percent(t tally) int {
	if t.total == 0 {
		return 100
	}
	return 100 * t.red / t.total
}
