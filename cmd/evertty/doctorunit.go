//go:build linux

package main

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coreos/go-systemd/v22/unit"
)

// unitDirs are where systemd looks for units of the machine and of this user, the first wins (systemd.unit(5)).
func unitDirs() (system, user []string) {
	for _, dir := range []string{"/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib"} {
		system = append(system, dir+"/systemd/system")
	}
	home := os.Getenv("HOME")
	user = []string{filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "systemd/user"),
		filepath.Join(cmp.Or(os.Getenv("XDG_DATA_HOME"), filepath.Join(home, ".local/share")), "systemd/user")}
	for _, dir := range []string{"/etc", "/run", "/usr/local/lib", "/usr/lib"} {
		user = append(user, dir+"/systemd/user")
	}
	return system, user
}

// checkUnits reads the units of systemd that start a server: by default systemd kills the keeper and all programs when
// the server ends.
func checkUnits() check {
	c := check{Name: "systemd units", Text: "none starts a server"}
	system, user := unitDirs()
	seen := 0
	for option, dirs := range map[string][]string{"": system, "--user ": user} {
		for _, name := range unitsIn(dirs) {
			options := unitOptions(dirs, name)
			if !startsServer(options) {
				continue
			}
			seen++
			if mode := optionOf(options, "KillMode"); mode != "process" && mode != "none" {
				c.Text = name
				c.finding = problem("KillMode="+cmp.Or(mode, "control-group")+" ends all programs with the server",
					"systemctl "+option+"edit "+name+", and add [Service] KillMode=process")
				return c
			}
		}
	}
	if seen > 0 {
		c.Text = "programs outlive the server"
	}
	return c
}

// unitsIn are the names of the services in directories, each once.
func unitsIn(dirs []string) (names []string) {
	for _, dir := range dirs {
		list, _ := filepath.Glob(filepath.Join(dir, "*.service"))
		for _, path := range list {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unitOptions are the options of a unit and then of its drop-ins, in the order in which they count.
func unitOptions(dirs []string, name string) (options []*unit.UnitOption) {
	dropIns := map[string]string{} // by name: the first directory wins
	base := ""
	for _, dir := range dirs {
		if path := filepath.Join(dir, name); base == "" && exists(path) {
			base = path
		}
		list, _ := filepath.Glob(filepath.Join(dir, name+".d", "*.conf"))
		for _, path := range list {
			dropIns[filepath.Base(path)] = cmp.Or(dropIns[filepath.Base(path)], path)
		}
	}
	files := []string{base}
	for _, name := range slices.Sorted(maps.Keys(dropIns)) {
		files = append(files, dropIns[name])
	}
	for _, path := range files {
		if f, err := os.Open(path); err == nil {
			more, _ := unit.DeserializeOptions(f)
			options = append(options, more...)
			_ = f.Close()
		}
	}
	return options
}

// optionOf is the last value of an option of a service, "" for none.
func optionOf(options []*unit.UnitOption, name string) (value string) {
	for _, o := range options {
		if o.Section == "Service" && o.Name == name {
			value = o.Value
		}
	}
	return value
}

// startsServer reports whether a unit runs `evertty serve`.
func startsServer(options []*unit.UnitOption) bool {
	words := strings.Fields(optionOf(options, "ExecStart"))
	return len(words) > 1 && filepath.Base(words[0]) == "evertty" && words[1] == "serve"
}
