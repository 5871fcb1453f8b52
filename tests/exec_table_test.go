package tests

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// execRows are the hard cases of exec shells, by their numbers in the
// specification. Each gets a session of its own on a server that all share, but for
// those that need a server to themselves.
var execRows = []struct {
	number int
	name   string
	check  func(w *work)
}{
	{1, "cd is kept", rowCd},
	{2, "export is byte-exact", rowExport},
	{3, "variables that are not exported", rowVariables},
	{4, "functions, aliases, options", rowFunctions},
	{5, "export -f", rowExportedFunction},
	{6, "no trailing newline", rowNoNewline},
	{7, "bytes that are not text", rowBytes},
	{8, "both outputs at once", rowBothOutputs},
	{9, "100 MB and the cap", rowHundredMegabytes},
	{10, "exit codes", rowExitCodes},
	{11, "syntax errors", rowSyntaxErrors},
	{12, "heredocs", rowHeredocs},
	{13, "ends with a comment or a backslash", rowEndings},
	{14, "break and continue at top level", rowBreak},
	{15, "a command of 1 MB", rowLongCommand},
	{16, "no stdin", rowNoStdin},
	{17, "stdin", rowStdin},
	{18, "a job in the background", rowJob},
	{19, "nohup, setsid, disown", rowNohup},
	{20, "late output", rowLateOutput},
	{21, "process substitution", rowSubstitution},
	{22, "timeout", rowTimeout},
	{23, "busy loops", rowBusyLoops},
	{24, "a child that ignores signals", rowStubbornChild},
	{25, "a shell that ignores SIGINT", rowStubbornShell},
	{26, "the user's INT trap", rowIntTrap},
	{27, "cancel leaves earlier jobs alone", rowEarlierJobs},
	{28, "the user's traps", rowTraps},
	{29, "exit", rowExit},
	{30, "exec of a program", rowExecProgram},
	{31, "set -e", rowErrexit},
	{32, "errors that jump to the top level", rowTopLevel},
	{33, "kill -9 of the shell", rowKillNine},
	{34, "kill -STOP of the shell", rowStop},
	{35, "options that make a shell odd", rowOddOptions},
	{36, "PS1 and PROMPT_COMMAND", rowPrompts},
	{37, "rc files", rowRcFiles},
	{38, "umask and ulimit", rowUmask},
	{39, "exec with a redirection", rowExecRedirection},
	{40, "all descriptors closed", rowAllClosed},
	{41, "builtins redefined", rowRedefined},
	{42, "PWD, PATH, IFS gone", rowUnset},
	{43, "odd directories", rowOddDirectories},
	{44, "delete", rowDelete},
	{45, "kill -9 of the server", rowServerKilled},
	{46, "leftover FIFOs", rowLeftovers},
	{47, "two execs at once", rowQueue},
	{48, "sessions in parallel", rowParallel},
	{49, "no terminal, and one", rowTerminal},
	{50, "job control", rowJobControl},
	{51, "descriptors of children", rowDescriptors},
	{52, "dash", func(w *work) { rowOtherShell(w, "dash") }},
	{53, "zsh", func(w *work) { rowOtherShell(w, "zsh") }},
}

// TestExecRows: the table of the specification, a row a subtest. After each the
// shell is of use.
func TestExecRows(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	// A parent that waits for parallel subtests, so that the server outlives them.
	t.Run("rows", func(t *testing.T) {
		for i, row := range execRows {
			if row.number != i+1 {
				t.Fatalf("row %d is at %d", row.number, i+1)
			}
			name := fmt.Sprintf("%02d %s", row.number, row.name)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := s.seenBy(t).in(fmt.Sprintf("row-%02d", row.number))
				row.check(w)
				w.alive()
			})
		}
	})
}

// dir is a new directory for commands, with its path as the kernel tells it.
func (w *work) dir() string {
	w.t.Helper()
	d, err := filepath.EvalSymlinks(w.t.TempDir())
	w.must(err)
	return d
}

// shellPID is the number of the shell's process.
func (w *work) shellPID() int { w.t.Helper(); return w.number("echo $$") }

// state gives the shell something of everything that must outlive its process.
func (w *work) state() (check func()) {
	w.t.Helper()
	dir := w.dir()
	w.run("cd "+quote(dir)+`; export KEPT=$'two\nlines "and" \'quotes\'' GONE=1; plain=7
list=(a 'b c' d); declare -A map=([k]=v ["x y"]=z)
greet() { echo "hello $1"; }; shout() { echo HEY; }; export -f shout; shopt -s expand_aliases extglob
alias hey='echo aliased'; set -f; umask 027; unset GONE LANG`).is(0, "")
	w.run("hey").is(0, "aliased\n")
	return func() {
		w.t.Helper()
		r := w.run(`pwd; printenv KEPT; printenv GONE LANG; echo "$plain ${list[1]} ${#list[@]} ${map[k]} ${map["x ` +
			`y"]}"; greet you; bash -c shout; shopt extglob; hey; echo $-; umask`)
		flags := ""
		if lines := strings.Split(r.out(), "\n"); len(lines) > 3 {
			flags = lines[len(lines)-3]
		}
		r.is(0, dir+"\ntwo\nlines \"and\" 'quotes'\n7 b c 3 v z\nhello you\nHEY\nextglob        \ton\naliased\n"+flags+
			"\n0027\n")
		if !strings.Contains(flags, "f") {
			w.t.Errorf("set -f is lost: %q", flags)
		}
		if r.Cwd != dir {
			w.t.Errorf("cwd %q, want %q", r.Cwd, dir)
		}
	}
}

// backAgain checks that the next exec finds a shell that was started again with
// its state, and says so.
func (w *work) backAgain(check func()) {
	w.t.Helper()
	if r := w.run("echo back"); !r.Recreated || r.out() != "back\n" || r.ExitCode != 0 {
		w.t.Errorf("the exec after the end: %+v", r)
	}
	check()
	if r := w.run("true"); r.Recreated || r.ShellEnded {
		w.t.Errorf("it was started again once more: %+v", r)
	}
}

// rowOtherShell: other shells than bash are programs, one command each.
func rowOtherShell(w *work, name string) {
	if _, err := exec.LookPath(name); err != nil {
		w.t.Skipf("there is no %s here", name)
	}
	dir := w.dir()
	w.run("cd "+quote(dir)+"; export SEEN='a b'").is(0, "")
	r := w.with(body{"isolated": true,
		"argv": []string{name, "-c", `pwd; echo "$SEEN $1 $((40+2))"; cd /; exit 4`, "zero", "one word"}})
	r.is(4, dir+"\na b one word 42\n")
	if r.Cwd != dir {
		w.t.Errorf("its cd went into the shell: %q", r.Cwd)
	}
	w.with(body{"isolated": true, "argv": []string{name, "-c", "if"}}).fails(2-boolInt(name == "zsh"), "")
	w.with(body{"isolated": true, "argv": []string{name, "-c", "sleep 1000; echo NOT"}, "timeout_ms": 200}).timedOut()
	w.with(body{"isolated": true, "argv": []string{name, "-c", "cat"}, "stdin": "its input\n"}).is(0, "its input\n")
	w.run("pwd").is(0, dir+"\n")
	// There is no other persistent shell than bash.
	w.post("/session/"+w.session+"/shell", `{"shell":"`+name+`"}`).refused(400, "VALIDATION", "shell")
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
