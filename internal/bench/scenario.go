package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// scenario is a measurement: what the terminals run, and what becomes of it.
type scenario struct {
	name  string
	rows  []Row
	peers []string
	text  int                  // bytes of TEXT, 0 for as many lines as the history has
	shell string               // TEXT stands for a file, FULL for the name of one
	run   func(*run) []float64 // in the order of the rows; not read after an error
}

// sizes say how much is done.
type sizes struct {
	rounds          int
	keys, crowdKeys int // typed by one viewer, and by the last of many
	flood           int // bytes
	presses         int // of ^C, of a fast viewer
	quiet, created  int // terminals
	commands        int
	watch           time.Duration // of idle terminals
}

func sizesOf(quick bool) sizes {
	if quick {
		return sizes{rounds: 1, keys: 150, crowdKeys: 40, flood: 8 << 20, presses: 1, quiet: 30, created: 30,
			commands: 50, watch: 3 * time.Second}
	}
	return sizes{rounds: 3, keys: 300, crowdKeys: 60, flood: 16 << 20, presses: 3, quiet: 50, created: 100,
		commands: 100, watch: 4 * time.Second}
}

// What no size changes.
const (
	crowd    = 100 // viewers of one terminal
	full     = 20  // terminals with all of their history
	returned = 200 // viewers that connect to these at once
)

// Words of the scripts.
const (
	ready    = "READY"
	finished = "FINISHED"
)

// Scripts of several scenarios.
const (
	rawCat  = `stty raw -echo; printf ` + ready + `; exec cat`
	asleep  = `printf ` + ready + `; exec sleep 1000`
	flooded = `stty raw -echo; printf ` + ready + `; head -c 1 >/dev/null; cat TEXT; printf '\r\n` + finished +
		`'; exec sleep 1000`
	endless = `stty -echo -icanon -opost; trap 'printf "\030\r\n` + finished + `"; exec sleep 1000' INT; printf ` +
		ready + `; head -c 1 >/dev/null; while :; do cat TEXT; done` // 030 (CAN) ends a sequence that ^C has cut
	filled = `stty raw -echo; cat TEXT; printf '\r\n` + finished + `'; : > FULL.$$; exec sleep 1000`
)

// scriptName, textName and fullName are files in the directory of a server.
const (
	scriptName = "script"
	textName   = "text"
	fullName   = "full"
)

// scenarios are all of them, in the order of the table.
func scenarios(size sizes) []scenario {
	all, shared := []string{ownName, "ttyd", "tmux"}, []string{ownName, "tmux"}
	return []scenario{
		{"echo", []Row{{Measure: "echo of a key, p50, ms", Asked: "1.15 x ttyd"},
			{Measure: "server CPU for a key, µs", Asked: "1.5 x ttyd"}}, all, 0, rawCat, echo},
		{"viewers", []Row{{Measure: "echo with 100 viewers, p50, ms", Asked: "0.8"},
			{Measure: "server CPU for such a key, µs", Asked: "800"}}, shared, 0, rawCat, echoOfCrowd},
		{"flood", []Row{{Measure: "flood to a viewer, MB/s", Asked: "0.9 x ttyd", more: true},
			{Measure: "server CPU of a flood, s/GB", Asked: "1.6 x ttyd"}}, all, size.flood, flooded, flood},
		{"interrupt", []Row{{Measure: "^C in a flood, p50, ms", Asked: "1.5"},
			{Measure: "^C, viewer reading 1 MB/s, ms", Asked: "600"}}, all, 16 << 20, endless, interrupt},
		{"full", []Row{{Measure: "full terminal (5000 lines), KB", Asked: "450"},
			{Measure: "200 reconnects to 20 full ones, ms", Asked: "200"}}, shared, 0, filled,
			fullTerminals},
		{"memory", []Row{{Measure: "idle terminal, KB", Asked: "16"},
			{Measure: "idle viewer, KB", Asked: "8"}}, all, 0, asleep, idleMemory},
		{"create", []Row{{Measure: "create a terminal, p50, ms", Asked: "3"},
			{Measure: "server CPU for a create, ms", Asked: "1.5"},
			{Measure: fmt.Sprintf("list of %d terminals, p50, ms", size.created), Asked: "12 of 2000"},
			{Measure: fmt.Sprintf("delete one of %d, p50, ms", size.created), Asked: "5 of 2000"}}, shared, 0, asleep,
			createMany},
		{"idle", []Row{{Measure: fmt.Sprintf("%d idle terminals, viewed, CPU %%", size.quiet), Asked: "0.05 of 100"}},
			all, 0, asleep, idleCPU},
		{"exec", []Row{{Measure: "exec true, p50, ms", Asked: "1.3 x bash"}},
			[]string{ownName}, 0, asleep, execTrue},
	}
}

// Names are the names of all scenarios.
func Names() (names []string) {
	for _, s := range scenarios(sizes{}) {
		names = append(names, s.name)
	}
	return names
}

// writeText writes the script of a scenario, and the text that it prints.
func writeText(dir string, s scenario) error {
	var b bytes.Buffer
	const form = "\x1b[32m%06d\x1b[0m \x1b[1;34mINFO\x1b[0m request GET /api/items?page=%d 200 in %d ms, user=alice\r\n"
	for line := 0; b.Len() < s.text || s.text == 0 && line < history; line++ {
		fmt.Fprintf(&b, form, line, line%97, line%31)
	}
	shell := strings.NewReplacer("TEXT", "'"+filepath.Join(dir, textName)+"'", "FULL",
		"'"+filepath.Join(dir, fullName)+"'").Replace(s.shell)
	if err := os.WriteFile(filepath.Join(dir, textName), b.Bytes(), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, scriptName), []byte(shell), 0o600)
}
