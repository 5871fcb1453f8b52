package shell

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/internal/shell/shelldir"
	"github.com/evertty/evertty/internal/shell/state"
)

// expect compares what of an outcome most cases are about.
func expect(t testing.TB, r outcome, code int, out string) {
	t.Helper()
	if r.ExitCode != code || r.out != out {
		t.Errorf("code %d, output %q; want %d, %q; stderr %q, %+v", r.ExitCode, cut(r.out), code, cut(out), cut(r.err),
			r.Result)
	}
}

func cut(s string) string { return s[:min(len(s), 300)] }

// timed runs a text with a timeout and checks that it was ended in time, within what docs/guide/exec-shells.md allows.
func timed(t testing.TB, s *Shell, text string, ended bool) outcome {
	t.Helper()
	const limit = 300 * time.Millisecond
	began := time.Now()
	r := do(t, s, Command{Text: text, Timeout: limit})
	allowed := limit + patience // the machine may be busy; TestTimeoutAccuracy measures
	if took := time.Since(began); took < limit || took > allowed {
		t.Errorf("%q took %v with a timeout of %v", text, took, limit)
	}
	if r.ExitCode != 124 || !r.TimedOut || r.ShellEnded != ended || strings.Contains(r.out, "NOT") {
		t.Errorf("%q: %+v, want shell ended %v", text, r, ended)
	}
	return r
}

// alive checks that the same shell goes on.
func alive(t testing.TB, s *Shell) {
	t.Helper()
	if r := run(t, s, "echo alive"); r.out != "alive\n" || r.Recreated {
		t.Errorf("shell is not alive: %+v", r)
	}
}

// processRuns reports whether a process runs.
func processRuns(pid string) bool {
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	p, ok := proc.Find(n)
	return err == nil && ok && !p.Ended
}

// cases are the hard cases of docs/guide/exec-shells.md that need no HTTP.
var cases = []struct {
	row  int
	name string
	test func(t *testing.T, s *Shell)
}{
	{1, "cd", func(t *testing.T, s *Shell) {
		if r := run(t, s, "cd /usr"); r.Cwd != "/usr" {
			t.Errorf("cwd %q", r.Cwd)
		}
		expect(t, run(t, s, "pwd"), 0, "/usr\n")
	}},
	{2, "export", func(t *testing.T, s *Shell) {
		value := "a\nb'c\"d$e`f\\g😀\t"
		run(t, s, "export V=first")
		run(t, s, "export V="+state.Quote(value))
		expect(t, run(t, s, `printf %s "$V"; sh -c 'printf %s "$V"'`), 0, value+value)
		run(t, s, ":")
		if !poll(func() bool { return s.State().Delta["V"] == value }) {
			t.Errorf("delta %q", s.State().Delta)
		}
	}},
	{3, "variables", func(t *testing.T, s *Shell) {
		run(t, s, "x=1; a=(p 'q r'); declare -A m=([k]=v)")
		expect(t, run(t, s, `echo "$x ${a[1]} ${m[k]}"; sh -c 'echo "[$x]"'`), 0, "1 q r v\n[]\n")
		if _, there := s.State().Delta["x"]; there {
			t.Error("x is in the delta")
		}
	}},
	{4, "functions, aliases, shopt", func(t *testing.T, s *Shell) {
		run(t, s, "f() { echo f; }; alias g='echo g'; shopt -s extglob")
		expect(t, run(t, s, "f; g; shopt -q extglob; echo $?"), 0, "f\ng\n0\n")
	}},
	{5, "export -f", func(t *testing.T, s *Shell) {
		run(t, s, "f() { echo f; }; export -f f")
		expect(t, run(t, s, "bash -c f"), 0, "f\n")
		run(t, s, "kill -9 $$")
		expect(t, run(t, s, "bash -c f"), 0, "f\n")
	}},
	{6, "no newline", func(t *testing.T, s *Shell) { expect(t, run(t, s, "printf x"), 0, "x") }},
	{7, "bytes", func(t *testing.T, s *Shell) {
		expect(t, run(t, s, `printf 'a\0b\377\001\001\001c'`), 0, "a\x00b\xff\x01\x01\x01c")
	}},
	{8, "both outputs", func(t *testing.T, s *Shell) {
		r := run(t, s, "head -c 1300000 /dev/zero & head -c 1300000 /dev/zero >&2; wait")
		if len(r.out) != 1300000 || len(r.err) != 1300000 || r.ExitCode != 0 {
			t.Errorf("%d and %d bytes, code %d", len(r.out), len(r.err), r.ExitCode)
		}
	}},
	{9, "cap", func(t *testing.T, s *Shell) {
		r := do(t, s, Command{Text: "head -c 5000000 /dev/zero; echo done >&2", MaxOutput: 100000})
		if len(r.out) != 100000 || !r.Truncated || r.err != "done\n" || r.ExitCode != 0 {
			t.Errorf("%d bytes, %+v", len(r.out), r.Result)
		}
	}},
	{10, "codes", func(t *testing.T, s *Shell) {
		for text, code := range map[string]int{"false": 1, "(exit 255)": 255, "f() { return 7; }; f": 7, "return 6": 6,
			"nosuchcommand": 127, "true": 0} {
			expect(t, run(t, s, text), code, "")
		}
	}},
	{11, "syntax errors", func(t *testing.T, s *Shell) {
		for _, text := range []string{"if", `echo "x`, "echo )", "echo one; }", "case x in"} {
			if r := run(t, s, text); r.ExitCode != 2 || r.err == "" {
				t.Errorf("%q: %+v", text, r)
			}
		}
		expect(t, run(t, s, "echo one\n}\necho two"), 2, "one\n")
		alive(t, s)
	}},
	{12, "heredoc", func(t *testing.T, s *Shell) {
		expect(t, run(t, s, "cat <<X\na\nX\necho b"), 0, "a\nb\n")
		if r := run(t, s, "cat <<X\na"); r.out != "a\n" || !strings.Contains(r.err, "warning") {
			t.Errorf("%+v", r)
		}
	}},
	{13, "last line", func(t *testing.T, s *Shell) {
		expect(t, run(t, s, "echo a # comment"), 0, "a\n")
		expect(t, run(t, s, `echo a \`), 0, "a \\\n") // as bash -c
	}},
	{14, "break", func(t *testing.T, s *Shell) {
		if r := run(t, s, "break; continue; echo on"); r.out != "on\n" || r.err == "" {
			t.Errorf("%+v", r)
		}
	}},
	{15, "1 MB", func(t *testing.T, s *Shell) {
		expect(t, run(t, s, strings.Repeat("x=$((x+1)) # padding\n", 50000)+"echo $x"), 0, "50000\n")
	}},
	{16, "no input", func(t *testing.T, s *Shell) {
		expect(t, run(t, s, "read x; echo $?; cat; echo end"), 0, "1\nend\n")
	}},
	{17, "input", func(t *testing.T, s *Shell) {
		data := strings.Repeat("a\x00\xff\n", 100000)
		if r := do(t, s, Command{Text: "cat", Stdin: []byte(data)}); r.out != data {
			t.Errorf("%d bytes", len(r.out))
		}
		expect(t, do(t, s, Command{Text: "read x; echo $x", Stdin: []byte("one\ntwo\n")}), 0, "one\n")
		expect(t, run(t, s, "cat"), 0, "")
	}},
	{18, "job", func(t *testing.T, s *Shell) {
		r := run(t, s, "sleep 100 & echo $!")
		if !r.Background || !processRuns(r.out) {
			t.Errorf("%+v", r)
		}
		if j := run(t, s, "jobs"); !strings.Contains(j.out, "sleep 100") {
			t.Errorf("jobs: %+v", j)
		}
	}},
	{19, "nohup, setsid, disown", func(t *testing.T, s *Shell) {
		r := run(t, s, "nohup sleep 100 & echo $!\nsetsid sleep 100 & echo $!\nsleep 100 & echo $!; disown")
		r.out += daemon(t, s)
		timed(t, s, "sleep 100; echo NOT", false)
		for pid := range strings.FieldsSeq(r.out) {
			if !processRuns(pid) {
				t.Errorf("%s was ended by SIGINT", pid)
			}
		}
		timed(t, s, "trap '' INT; sleep 100; while :; do :; done; echo NOT", true)
		for pid := range strings.FieldsSeq(r.out) {
			if !processRuns(pid) {
				t.Errorf("%s was ended with a later command", pid)
			}
		}
	}},
	{20, "late output", func(t *testing.T, s *Shell) {
		e, err := s.Submit(Command{Text: "{ while [ ! -e go ]; do sleep 0.01; done; echo late; } & echo first"})
		if err != nil {
			t.Fatal(err)
		}
		if r := result(t, e); r.out != "first\n" || !r.Background {
			t.Errorf("%+v", r)
		}
		expect(t, run(t, s, "touch go; sleep 0.1; echo second"), 0, "second\n")
		if !poll(func() bool { return printed(t, e, Stdout) == "first\nlate\n" }) {
			t.Errorf("%q", printed(t, e, Stdout))
		}
		if more, err := e.Follow(limited(t), 11, 0); more || err != nil {
			t.Errorf("follow: %v, %v", more, err)
		}
	}},
	{21, "process substitution", func(t *testing.T, s *Shell) {
		e, err := s.Submit(Command{Text: "echo hi > >(cat; echo late)"})
		if err != nil {
			t.Fatal(err)
		}
		result(t, e)
		if !poll(func() bool { return printed(t, e, Stdout) == "hi\nlate\n" }) {
			t.Errorf("%q", printed(t, e, Stdout))
		}
	}},
	{22, "timeout", func(t *testing.T, s *Shell) {
		run(t, s, "cd /usr; x=1")
		timed(t, s, "sleep 100; echo NOT", false)
		expect(t, run(t, s, "pwd; echo $x"), 0, "/usr\n1\n")
	}},
	{23, "busy loop", func(t *testing.T, s *Shell) {
		timed(t, s, "while :; do :; done; echo NOT", false)
		timed(t, s, "f() { g; }; g() { for i in 1 2 3; do while true; do :; done; done; }; f; echo NOT", false)
		alive(t, s)
	}},
	{24, "child ignores", func(t *testing.T, s *Shell) {
		run(t, s, "cd /usr; export V=1; f() { echo f; }")
		timed(t, s, "echo $$ >/dev/null; bash -c 'trap \"\" INT TERM; sleep 100; sleep 100'; echo NOT", true)
		if r := run(t, s, "pwd; echo $V; f"); r.out != "/usr\n1\nf\n" || !r.Recreated {
			t.Errorf("%+v", r)
		}
	}},
	{25, "shell ignores", func(t *testing.T, s *Shell) {
		timed(t, s, "trap '' INT; while :; do :; done; echo NOT", true)
		expect(t, run(t, s, "echo on"), 0, "on\n")
	}},
	{26, "user's INT trap", func(t *testing.T, s *Shell) {
		if r := timed(t, s, "trap 'echo trapped' INT; sleep 100; trap - INT", false); r.out != "trapped\n" {
			t.Errorf("%+v", r)
		}
		alive(t, s)
		timed(t, s, "trap 'echo trapped' INT; while :; do :; done; echo NOT", true)
	}},
	{27, "jobs of earlier commands", func(t *testing.T, s *Shell) {
		job := run(t, s, "( while :; do sleep 0.01; done ) & echo $!")
		timed(t, s, "sleep 100; echo NOT", false)
		timed(t, s, "trap '' INT; while :; do :; done", true)
		if !processRuns(job.out) {
			t.Error("the job was ended")
		}
	}},
	{28, "traps", func(t *testing.T, s *Shell) {
		expect(t, run(t, s, "trap -p"), 0, "")
		run(t, s, "trap 'echo bye' EXIT; trap 'echo one' USR1")
		expect(t, run(t, s, "trap -p"), 0, "trap -- 'echo bye' EXIT\ntrap -- 'echo one' SIGUSR1\n")
		expect(t, run(t, s, "kill -USR1 $$"), 0, "one\n")
		expect(t, run(t, s, "exit"), 0, "bye\n")
	}},
	{29, "exit", func(t *testing.T, s *Shell) {
		run(t, s, "cd /usr; export V=1")
		if r := run(t, s, "exit 3"); r.ExitCode != 3 || !r.ShellEnded {
			t.Errorf("%+v", r)
		}
		if r := run(t, s, "pwd; echo $V"); r.out != "/usr\n1\n" || !r.Recreated {
			t.Errorf("%+v", r)
		}
	}},
	{30, "exec", func(t *testing.T, s *Shell) {
		if r := run(t, s, "exec echo out"); r.out != "out\n" || r.ExitCode != 0 || !r.ShellEnded {
			t.Errorf("%+v", r)
		}
		if r := run(t, s, "exec /no/such"); r.ExitCode != 127 || !strings.Contains(r.err, "/no/such") {
			t.Errorf("%+v", r)
		}
		expect(t, run(t, s, "echo on"), 0, "on\n")
	}},
	{31, "set -e", func(t *testing.T, s *Shell) {
		run(t, s, "cd /usr")
		if r := run(t, s, "set -e; false; echo NOT"); r.ExitCode != 1 || r.out != "" || !r.ShellEnded {
			t.Errorf("%+v", r)
		}
		expect(t, run(t, s, "pwd"), 0, "/usr\n")
	}},
	{32, "errors of the shell", func(t *testing.T, s *Shell) {
		for _, text := range []string{"set -u; echo $nope; echo NOT", "set +u; echo ${x:?}", "readonly r=1; r=2",
			"echo $((1/0))"} {
			expect(t, run(t, s, text), 1, "")
		}
		alive(t, s)
	}},
	{33, "kill -9", func(t *testing.T, s *Shell) {
		run(t, s, "cd /usr; export V=1; f() { echo f; }")
		if r := run(t, s, "kill -9 $$"); r.ExitCode != 137 || !r.ShellEnded {
			t.Errorf("%+v", r)
		}
		if r := run(t, s, "pwd; echo $V; f"); r.out != "/usr\n1\nf\n" || !r.Recreated {
			t.Errorf("%+v", r)
		}
	}},
	{34, "stopped", func(t *testing.T, s *Shell) {
		if r := run(t, s, "kill -STOP $$; echo NOT"); r.ExitCode != 137 || !r.ShellEnded || r.out != "" {
			t.Errorf("%+v", r)
		}
		expect(t, run(t, s, "echo on"), 0, "on\n")
	}},
	{35, "options", func(t *testing.T, s *Shell) {
		for _, o := range []string{"-n", "-C", "-x", "-v", "-o posix", "-f", "-k", "-b", "-T", "-E", "-h", "-P"} {
			run(t, s, "set "+o)
			expect(t, run(t, s, "printf '%s\\n' "+state.Quote(o)), 0, o+"\n")
			expect(t, run(t, s, "(exit 5)"), 5, "")
			run(t, s, "set +"+o[1:])
		}
		run(t, s, "set -x")
		if r := run(t, s, "echo hi"); !strings.Contains(r.err, "+ echo hi") {
			t.Errorf("%+v", r)
		}
		alive(t, s)
	}},
	{36, "prompts", func(t *testing.T, s *Shell) {
		run(t, s, "PS1='prompt> ' PS2='more> ' PS0=zero PROMPT_COMMAND='echo command; false'")
		if r := run(t, s, "echo hi\n(exit 4)"); r.ExitCode != 4 || r.out != "hi\n" || r.err != "" {
			t.Errorf("%+v", r)
		}
	}},
	{37, "rc files", func(t *testing.T, s *Shell) {
		home := t.TempDir()
		for _, name := range []string{".bashrc", ".bash_profile"} {
			if err := os.WriteFile(filepath.Join(home, name), []byte("export FROM=$FROM"+name+"\n"),
				0o600); err != nil {
				t.Fatal(err)
			}
		}
		plain := start(t, func(s *Spec) { s.Env = map[string]string{"HOME": home} })
		expect(t, run(t, plain, "echo $FROM"), 0, "\n")
		login := start(t, func(s *Spec) { s.Env, s.Login = map[string]string{"HOME": home}, true })
		expect(t, run(t, login, "echo $FROM; kill -9 $$"), 137, ".bash_profile\n")
		expect(t, run(t, login, "echo $FROM"), 0, ".bash_profile\n")
	}},
	{38, "umask, ulimit", func(t *testing.T, s *Shell) {
		run(t, s, "umask 027; ulimit -Sn 100")
		expect(t, run(t, s, "umask; ulimit -Sn"), 0, "0027\n100\n")
		run(t, s, "exit")
		if r := run(t, s, "umask"); r.out != "0027\n" || len(r.Lost) == 0 {
			t.Errorf("%+v", r)
		}
	}},
	{39, "exec >file", func(t *testing.T, s *Shell) {
		expect(t, run(t, s, "exec >file 2>&1; echo hidden"), 0, "")
		expect(t, run(t, s, "cat file"), 0, "hidden\n")
	}},
	{40, "closing descriptors", func(t *testing.T, s *Shell) {
		do(t, s, Command{Text: "for i in {0..255}; do eval \"exec $i>&-\"; done 2>/dev/null", Timeout: 5 * time.Second})
		do(t, s, Command{Text: "echo", Timeout: 5 * time.Second})
		expect(t, run(t, s, "echo on"), 0, "on\n")
	}},
	{41, "functions with our names", func(t *testing.T, s *Shell) {
		run(t, s, "printf() { :; }; declare() { :; }; command() { :; }; builtin() { :; }; export() { :; }; wait() { "+
			":; }; trap() { :; }; set() { :; }; exit() { :; }; cd() { :; }; source() { :; }; typeset() { :; }; "+
			"unset() { :; }; eval() { :; }")
		expect(t, run(t, s, "echo hi; (return 5)"), 5, "hi\n")
		alive(t, s)
	}},
	{42, "unset", func(t *testing.T, s *Shell) {
		run(t, s, "cd /usr; unset PWD OLDPWD PATH IFS BASHPID; readonly __evt_rc=5 _evt_code=5; IFS=0123")
		if r := run(t, s, "return 103"); r.ExitCode != 103 || r.Cwd != "/usr" {
			t.Errorf("%+v", r)
		}
	}},
	{43, "directories", func(t *testing.T, s *Shell) {
		base := s.spec.Cwd
		odd := filepath.Join(base, "a\nb 'c\" (deleted)")
		if r := run(t, s, "mkdir -p "+state.Quote(odd)+"; cd "+state.Quote(odd)); r.Cwd != odd {
			t.Errorf("cwd %q", r.Cwd)
		}
		run(t, s, "kill -9 $$")
		if r := run(t, s, "pwd"); r.out != odd+"\n" {
			t.Errorf("%+v", r)
		}
		run(t, s, "rmdir "+state.Quote(odd))
		expect(t, run(t, s, "echo on"), 0, "on\n")
		run(t, s, "kill -9 $$")
		if r := run(t, s, "pwd"); r.out != base+"\n" || r.CwdFallback != odd || r.Cwd != base {
			t.Errorf("%+v", r)
		}
	}},
	{44, "delete", func(t *testing.T, s *Shell) {
		gone := start(t)
		var pids []string
		for range 2 {
			r := run(t, gone, "sleep 100 & echo $!\nsetsid sleep 100 & echo $!\nnohup sleep 100 >/dev/null 2>&1 & "+
				"echo $!\n(setsid sleep 100 >/dev/null 2>&1 & echo $!)")
			pids = append(pids, strings.Fields(r.out)...)
			pids = append(pids, daemon(t, gone))
			run(t, gone, "kill -9 $$")
		}
		e, err := gone.Submit(Command{Text: "sleep 100"})
		if err != nil {
			t.Fatal(err)
		}
		<-e.Started()
		remove(t, gone)
		for _, pid := range pids {
			if processRuns(pid) {
				t.Errorf("%s still runs", pid)
			}
		}
		if _, err := e.Wait(limited(t)); err == nil {
			t.Error("no error")
		}
		if len(pids) != 10 {
			t.Errorf("%d processes", len(pids))
		}
	}},
	{46, "FIFOs", func(t *testing.T, s *Shell) {
		run(t, s, "sleep 100 &")
		timed(t, s, "sleep 100", false)
		if got := fifosInUse(t, s); len(got) != 1 || got[0] != shelldir.ControlFIFO {
			t.Errorf("FIFOs %v", got)
		}
		run(t, s, "exit")
		if got := fifos(t, s.spec.Dir); len(got) != 0 {
			t.Errorf("FIFOs %v", got)
		}
		if info, err := os.Stat(s.spec.Dir); err != nil || info.Mode().Perm()&0o077 != 0 &&
			info.Mode().Perm() != 0o755 {
			t.Errorf("%v, %v", info, err)
		}
	}},
	{47, "queue", func(t *testing.T, s *Shell) {
		first, err := s.Submit(Command{Text: "while [ ! -e go ]; do sleep 0.01; done"})
		if err != nil {
			t.Fatal(err)
		}
		<-first.Started()
		var list []*Exec
		for i := range maxQueue {
			e, err := s.Submit(Command{Text: "echo " + strconv.Itoa(i) + " >>order"})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		if _, err := s.Submit(Command{Text: ":"}); err == nil {
			t.Error("the queue has no end")
		}
		list[3].Cancel()
		if r := result(t, list[3]); r.ExitCode != 130 || !r.Cancelled {
			t.Errorf("%+v", r)
		}
		if err := os.WriteFile(filepath.Join(s.spec.Cwd, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for i, e := range list {
			if i != 3 {
				result(t, e)
				want.WriteString(strconv.Itoa(i) + "\n")
			}
		}
		expect(t, run(t, s, "cat order"), 0, want.String())
	}},
	{50, "job control", func(t *testing.T, s *Shell) {
		if r := run(t, s, "fg"); r.ExitCode == 0 || !strings.Contains(r.err, "no job control") {
			t.Errorf("%+v", r)
		}
		expect(t, run(t, s, "set -m; sleep 0.01 & wait; echo on"), 0, "on\n")
		alive(t, s)
	}},
	{51, "descriptors", func(t *testing.T, s *Shell) {
		// 3 is the listing's own.
		expect(t, run(t, s, "command ls /proc/self/fd"), 0, "0\n1\n2\n3\n")
	}},
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(strconv.Itoa(c.row)+" "+c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, start(t))
		})
	}
}
