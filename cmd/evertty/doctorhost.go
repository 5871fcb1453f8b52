//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// fewPTYs is how many pseudo-terminals of the system should be left.
const fewPTYs = 64

// hostChecks are the checks of what a server can use where it is there, and of the caller's settings.
func hostChecks() []check {
	return []check{checkPTYs(), checkCgroup(), checkLandlock(), checkConfig(), checkLocale()}
}

// checkPTYs compares the pseudo-terminals in use with the most that the system has (pty(7)).
func checkPTYs() check {
	c := check{Name: "pseudo-terminals of the system"}
	most, err1 := numberIn("/proc/sys/kernel/pty/max")
	used, err2 := numberIn("/proc/sys/kernel/pty/nr")
	if err1 != nil || err2 != nil {
		c.Text = "unknown"
		return c
	}
	c.Text = fmt.Sprintf("%d of %d are in use", used, most)
	if most-used < fewPTYs {
		c.finding = finding{Problem: "few are left", Advice: fmt.Sprintf("sysctl -w kernel.pty.max=%d", 2*most)}
	}
	return c
}

func numberIn(file string) (int, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}

// checkCgroup looks whether this user may limit programs by cgroups (cgroups(7), version 2).
func checkCgroup() check {
	c := check{Name: "cgroups"}
	text, _ := os.ReadFile("/proc/self/cgroup")
	path, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "0::")
	dir := filepath.Join("/sys/fs/cgroup", path)
	have, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	switch {
	case !ok || err != nil:
		c.finding = finding{Warning: "version 2 is not mounted: limits of a terminal are those of setrlimit alone",
			Advice: "boot with systemd.unified_cgroup_hierarchy=1"}
	case unix.Faccessat(unix.AT_FDCWD, filepath.Join(dir, "cgroup.procs"), unix.W_OK, unix.AT_EACCESS) != nil:
		c.Text = dir
		c.finding = finding{Warning: "it is not delegated to this user: limits of a terminal are those of setrlimit alone",
			Advice: "set Delegate=yes in the unit of the server"}
	default:
		c.Text = dir + " with " + strings.TrimSpace(string(have))
	}
	return c
}

// checkLandlock asks the kernel for the version of Landlock (landlock(7)).
func checkLandlock() check {
	c := check{Name: "Landlock"}
	version, _, failed := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if failed != 0 {
		c.finding = finding{Warning: "the kernel has none: terminals cannot be confined to a directory",
			Advice: "boot a kernel of 5.13 or later with lsm=landlock,..."}
		return c
	}
	c.Text = fmt.Sprintf("version %d", version)
	return c
}

// checkConfig reads the file of $EVERTTY_CONFIG as serve does.
func checkConfig() check {
	c := check{Name: "configuration", Text: "no file"}
	file := os.Getenv(envName("config"))
	if file == "" {
		return c
	}
	c.Text = file
	keys, err := readConfig(file)
	if err == nil {
		err = checkKeys(keys, configurable((&app{}).newServe()), file)
	}
	if err != nil {
		c.finding = finding{Problem: err.Error(), Advice: "edit the file; evertty serve --help lists the settings"}
	}
	return c
}

// checkLocale looks whether programs of this user print UTF-8, and know the terminal.
func checkLocale() check {
	c := check{Name: "this terminal"}
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} { // the first that is set counts (locale(7))
		if locale = os.Getenv(name); locale != "" {
			break
		}
	}
	term := os.Getenv("TERM")
	c.Text = fmt.Sprintf("TERM=%s, locale %q", term, locale)
	known := []string{"", "dumb", "unknown"}
	switch upper := strings.ToUpper(locale); {
	case !strings.Contains(upper, "UTF-8") && !strings.Contains(upper, "UTF8"):
		c.finding = finding{Warning: "its character set is not UTF-8: programs may draw letters wrongly",
			Advice: "export LANG=C.UTF-8"}
	case slices.Contains(known, term) && isTTY(os.Stdin, os.Stdout):
		c.finding = finding{Warning: "TERM names no terminal", Advice: "export TERM=xterm-256color"}
	}
	return c
}
