package state

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

var (
	values = flag.Int("values", 200, "how many random values TestValues sends through a capture and a restore")
	update = flag.Bool("update", false, "write the golden files anew")
)

// Whatever a user did to his shell, what he had comes back, and the capture leaves the shell as it was.
func TestStateComesBack(t *testing.T) {
	for _, one := range []struct{ name, set, ask, want string }{
		{"nothing", ":", "echo $GONE$OLD", "11\n"},
		{"exported", `export A=$'x\ny \'"$\\` + "`é😀\\377\\001'",
			`printf %s "$A" | od -An -tx1 | tr -d ' \n'; env -0 | tr '\0' '\n' | grep -c ^A=`,
			"780a792027" + "22245c60c3a9f09f9880ff01" + "1\n"},
		{"exported twice", "export A=1; export A=2", "sh -c 'echo $A'", "2\n"},
		{"unset", "unset GONE", "echo ${GONE-no}; env | grep -c GONE", "no\n0\n"},
		{"no longer exported", "export -n OLD", "echo $OLD; env | grep -c OLD", "1\n0\n"},
		{"odd environment", ":", "env | grep -c ^odd-name=kept", "1\n"},
		{"unexported", "a='1  2'", `echo "$a"; env | grep -c ^a=`, "1  2\n0\n"},
		{"array", `a=(1 "" 'x y' [9]=z)`, `declare -p a`, `declare -a a=([0]="1" [1]="" [2]="x y" [9]="z")` + "\n"},
		{"associative", `declare -A m=([a b]=1 ["]"]=$'q\n' [@]=x ['$x']='` + "`z`" + `')`,
			`for k in "]" @ "a b" '$x'; do printf '%q ' "${m[$k]}"; done; echo ${#m[@]}`, `$'q\n' x 1 \` + "`z\\` 4\n"},
		{"attributes", "declare -ir n=7; declare -l low=ABC; declare -n ref=low; declare -x nothing",
			"echo $n $low $ref; declare -p n nothing", "7 abc abc\ndeclare -ir n=\"7\"\ndeclare -x nothing\n"},
		{"function", "f() { cat <<E\n  $1 'it'\nE\n}\nfoo-bar() { echo \"$@\"; }", "f x; foo-bar 1 '2 3'",
			"  x 'it'\n1 2 3\n"},
		{"exported function", "f() { echo child; }; export -f f; g() { :; }; readonly -f g", "bash -c f; declare -pF g",
			"child\ndeclare -fr g\n"},
		{"function with extglob",
			"shopt -s extglob\nf() { case $1 in !(a|b)) echo other;; *) echo ab;; esac; }\nshopt -u extglob",
			"f a; shopt -s extglob; f c; shopt -u extglob; shopt extglob", "ab\nother\nextglob        \toff\n"},
		{"function named as a builtin",
			`declare() { echo D; }; printf() { echo P; }; env() { echo E; }; builtin() { echo B; }; command() { echo ` +
				`C; }; set() { echo S; }; shopt() { echo O; }; alias() { echo A; }; unset() { echo U; }; eval() { ` +
				`echo V; }; trap() { echo T; }; exit() { echo X; }; exec() { echo Y; }`,
			"declare; printf; env; builtin; command; set; shopt; alias; unset; eval; trap; exit; exec",
			"D\nP\nE\nB\nC\nS\nO\nA\nU\nV\nT\nX\nY\n"},
		{"alias", `alias ll='echo "l'\''l"' declare=echo builtin=false printf=false set=false` + "\n",
			"ll; \\unalias declare\ndeclare -p OLD", "l'l\ndeclare -x OLD=\"1\"\n"},
		{"alias in a function", "alias ls='echo ls'\nf() { ls x; }\n", "f", "ls x\n"},
		{"shopt", "shopt -s dotglob nullglob; shopt -u sourcepath", "shopt dotglob nullglob sourcepath",
			"dotglob        \ton\nnullglob       \ton\nsourcepath     \toff\n"},
		{"failglob", "shopt -s failglob", "shopt failglob", "failglob       \ton\n"},
		{"set", "set -u -o pipefail -C", "echo $-; set -o | grep pipefail; cat </dev/null >|x", "*"},
		{"noexec", "set -n", "echo on", "on\n"},
		{"xtrace", "set -x; BASH_XTRACEFD=2", "echo $-", "*"},
		{"verbose", "set -v", "echo on", "*"},
		{"errexit", "set -e", "case $- in *e*) echo e;; esac", "e\n"},
		{"posix", "set -o posix", "set -o | grep posix; echo $POSIXLY_CORRECT", "posix          \ton\ny\n"},
		{"posix by variable", "export POSIXLY_CORRECT=mine", "env | grep POSIXLY; set -o | grep posix",
			"POSIXLY_CORRECT=mine\nposix          \ton\n"},
		{"umask", "umask 027", "umask", "0027\n"},
		{"no PATH", "unset PATH", "echo ${PATH-none}", "none\n"},
		{"no IFS", "unset IFS", "echo ${IFS-none}", "none\n"},
		{"other IFS", "IFS=0/c; readonly IFS", "echo \"$IFS\"", "0/c\n"},
		{"no PWD", "unset PWD OLDPWD", "echo on", "on\n"},
		{"readonly", "readonly X=5 PATH", "X=6; echo $X", "*"},
		{"noglob", "set -f", "echo *", "*\n"},
		{"arguments", "set -- a 'b  c' ''", `echo "$#:$2"`, "3:b  c\n"},
		{"redirected", "exec 2>/dev/null 1>&2", "echo on", "on\n"},
		{"long", "a=x; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do a=$a$a; done; export a",
			"echo ${#a}; a=${a:0:1}; declare -p a", "262144\ndeclare -x a=\"x\"\n"},
		{"removed directory", "mkdir sub; cd sub; rmdir ../sub", "echo on", "on\n"},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			b := newBash(t)
			b.run(one.set)
			want := one.want
			i := b.capture()
			next := b.again(i, firstEnv())
			got := next.run(one.ask)
			if before, open := strings.CutSuffix(want, "*"); open {
				if live := b.run(one.ask); live != got || !strings.HasPrefix(got, before) {
					t.Errorf("after the restore %q, in the shell itself %q", got, live)
				}
				return
			}
			if got != want {
				t.Errorf("after the restore %q, want %q; complaints %q", got, want, next.complaints())
			}
			if live := b.run(one.ask); live != want {
				t.Errorf("in the shell itself %q, want %q", live, want)
			}
		})
	}
}

// The capture of a shell leaves everything in it as it was.
func TestCaptureLeavesNoTrace(t *testing.T) {
	b := newBash(t)
	b.run("sleep 1000 & trap 'echo D >>traps' DEBUG; trap 'echo E >>traps' ERR; trap 'echo R >>traps' RETURN; trap " +
		"'echo X >>traps' EXIT; exec 7</dev/null")
	const ask = "declare -p | grep -v '^declare -[^ ]* " +
		"\\(_\\|BASHPID\\|RANDOM\\|SRANDOM\\|SECONDS\\|EPOCH[A-Z]*\\|LINENO\\|PIPESTATUS\\|BASH_[A-Z]*\\|" +
		"FUNCNAME\\|COLUMNS\\|LINES\\|HISTCMD\\)\\b'; " +
		"declare -F; alias; shopt; set +o; trap; jobs -l; umask; ls /proc/$$/fd"
	before := b.run(ask)
	traps := func() string {
		text, err := os.ReadFile(filepath.Join(b.dir, "traps"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	// Only the lines of the test itself fire DEBUG: the redirection that tells of the end of each.
	at := traps()
	b.raw("")
	alone := len(traps()) - len(at)
	at = traps()
	i := b.capture()
	if fired := len(traps()) - len(at); fired != alone {
		t.Errorf("the capture fired traps: %q", traps()[len(at):])
	}
	if after := b.run(ask); after != before {
		t.Errorf("before\n%s\nafter\n%s", before, after)
	}
	if got := i.Lost(0); len(got) != 6 || !strings.HasPrefix(got[0], "job ") ||
		!strings.HasSuffix(got[0], " sleep 1000") ||
		!slices.Contains(got, "trap EXIT") || !slices.Contains(got, "trap DEBUG") || got[5] != "file descriptor 7" {
		t.Errorf("lost %q", got)
	}
}

// A fresh shell has nothing to lose, and a set limit is lost.
func TestLost(t *testing.T) {
	b := newBash(t)
	if got := b.capture().Lost(b.cmd.Process.Pid); len(got) != 0 {
		t.Errorf("lost %q of a fresh shell", got)
	}
	if err := os.MkdirAll(filepath.Join(b.dir, shelldir.CommandsDir, "id"), 0o700); err != nil {
		t.Fatal(err)
	}
	b.raw("{ sleep 302; } >|" + Quote(filepath.Join(b.dir, shelldir.CommandsDir, "id", "out")) +
		" &\n") // a command of ours
	b.run("sleep 0.01 & wait $!; sleep 300 | sleep 301 & trap '' USR1; ulimit -n 64; ulimit -c 0")
	i := b.capture()
	next := b.again(i, firstEnv())
	got := i.Lost(next.cmd.Process.Pid)
	if len(got) < 3 || !strings.HasSuffix(got[0], " sleep 300 | sleep 301") || got[1] != "trap SIGUSR1" &&
		got[1] != "trap USR1" || !slices.Contains(got, "ulimit -n 64") {
		t.Errorf("lost %q", got)
	}
}

// A command that fails in the capture must not end a shell with set -e, nor fire ERR.
func TestCaptureThatFails(t *testing.T) {
	b := newBash(t)
	b.run("set -e; trap 'echo E >>traps' ERR")
	i := b.capture()
	if err := os.WriteFile(filepath.Join(b.dir, captureFile), []byte("exit 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.raw(CaptureLine(b.dir))
	if got := b.run("echo alive"); got != "alive\n" {
		t.Errorf("%q", got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "traps")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("ERR fired")
	}
	if _, err := Adopt(b.dir); !errors.Is(err, shelldir.ErrDamaged) {
		t.Errorf("err = %v", err)
	}
	old, err := Load(b.dir)
	if err != nil || old.umask != i.umask {
		t.Errorf("%v, the older state is %+v", err, old)
	}
}

// A capture that was cut short leaves the older state.
func TestStateOfACutCapture(t *testing.T) {
	b := newBash(t)
	b.run("x=1")
	b.capture()
	b.raw(CaptureLine(b.dir))
	found := filepath.Join(b.dir, captureFound)
	whole, err := os.ReadFile(found)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/50 {
		if err := os.WriteFile(found, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Adopt(b.dir); !errors.Is(err, shelldir.ErrDamaged) {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
		if _, err := Load(b.dir); err != nil {
			t.Fatalf("%d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// One definition that bash refuses costs only itself.
func TestDamagedDefinition(t *testing.T) {
	b := newBash(t)
	b.run("f() { echo f; }; g() { echo g; }; h() { echo h; }; a=1; export b=2; c=(3); alias al='echo al'\nshopt -s " +
		"dotglob")
	b.raw(CaptureLine(b.dir))
	found := filepath.Join(b.dir, captureFound)
	text, err := os.ReadFile(found)
	if err != nil {
		t.Fatal(err)
	}
	damaged := strings.Replace(string(text), "echo g;\n}", "echo g; ( '", 1)
	damaged = strings.Replace(damaged, "echo g\n}", "echo g; ( '", 1)
	damaged = strings.Replace(damaged, `declare -- a="1"`, `declare -- a="1`+"\n"+`declare -Z x=`, 1)
	if err := os.WriteFile(found, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	i, err := Adopt(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	next := b.again(i, firstEnv())
	if got, want := next.run("f; h; al; echo $b ${c[0]}; shopt -q dotglob && echo dot; type -t g"),
		"f\nh\nal\n2 3\ndot\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSmallSnapshot: what is kept in memory does not grow with variables that are not exported, arrays and arguments.
func TestSmallSnapshot(t *testing.T) {
	b := newBash(t)
	b.run("mapfile -t lines < <(seq 200000); export K=v; f() { echo f; }; set -- $(seq 1000)")
	kept := b.capture()
	total := 0
	for _, v := range kept.variables {
		total += len(v.value) + len(v.elements)
	}
	if total > 1<<20 || !kept.HasFunction("f") || kept.exported()["K"] != "v" {
		t.Errorf("%d bytes", total)
	}
}

func TestStateDelta(t *testing.T) {
	b := newBash(t)
	b.run("export A=1 OLD=2; unset GONE; export HOME; cd /; local=3; export -n odd 2>/dev/null")
	s := b.capture().Environment("/tmp", firstEnv())
	if want := map[string]string{"A": "1", "OLD": "2"}; !maps.Equal(s.Delta, want) {
		t.Errorf("delta %q, want %q", s.Delta, want)
	}
	if !slices.Equal(s.Unset, []string{"GONE"}) || s.Cwd != "/tmp" {
		t.Errorf("unset %q, cwd %q", s.Unset, s.Cwd)
	}
	if want := []string{"A", "HOME", "LC_ALL", "OLD", "PATH"}; !slices.Equal(slices.Sorted(maps.Keys(s.Env)), want) {
		t.Errorf("env %q, want the names %q", s.Env, want)
	}
}

// randomValue is a value of the kind that breaks shells: no NUL, everything else.
func randomValue(r *rand.Rand) string {
	const nasty = "'\"$`\\\n\t !*?[](){}<>|&;#~=:@%^-+,./\x01\x02\x7f\x80\xff\xc3\xa9"
	p := make([]byte, r.IntN(40))
	for n := range p {
		switch r.IntN(3) {
		case 0:
			p[n] = nasty[r.IntN(len(nasty))]
		case 1:
			p[n] = byte(1 + r.IntN(255))
		default:
			p[n] = "azAZ09_"[r.IntN(7)]
		}
	}
	return string(p)
}

// Random values of variables of all kinds come back exactly, and children see them.
func TestValues(t *testing.T) {
	const batch = 500
	for from := 0; from < *values; from += batch {
		n := min(batch, *values-from)
		seed := uint64(from + 1)
		t.Run(fmt.Sprint(from), func(t *testing.T) { roundTrip(t, rand.New(rand.NewPCG(seed, 5)), n) })
	}
}

// roundTrip sets n variables, a quarter of each kind, and looks at them after a restore.
func roundTrip(t *testing.T, r *rand.Rand, n int) {
	b := newBash(t)
	var set strings.Builder
	want := make([]string, n)
	for k := range n {
		want[k] = randomValue(r)
		switch v := QuoteASCII(want[k]); k % 4 {
		case 0:
			fmt.Fprintf(&set, "export v%d=%s\n", k, v)
		case 1:
			fmt.Fprintf(&set, "v%d=%s\n", k, v)
		case 2:
			fmt.Fprintf(&set, "v%d=([3]=%s)\n", k, v)
		default:
			fmt.Fprintf(&set, "declare -A v%d; v%d[$'k'%s]=%s\n", k, k, v, v)
		}
	}
	if out := b.run(set.String()); out != "" {
		t.Fatalf("%.500q", out)
	}
	i := b.capture()
	env := i.Environment("", nil).Env
	next := b.again(i, firstEnv())
	var ask strings.Builder
	for k := range n {
		switch k % 4 {
		case 0, 1:
			fmt.Fprintf(&ask, "printf '%%s\\0' \"$v%d\"\n", k)
		case 2:
			fmt.Fprintf(&ask, "printf '%%s\\0' \"${v%d[3]}\"\n", k)
		default:
			fmt.Fprintf(&ask, "x=$'k'%s; printf '%%s\\0' \"${v%d[$x]}\"\n", QuoteASCII(want[k]), k)
		}
	}
	got := strings.Split(next.run(ask.String()), "\x00")
	if len(got) != n+1 {
		t.Fatalf("%d answers of %d; complaints %.500q", len(got)-1, n, next.complaints())
	}
	seen := map[string]string{}
	for _, pair := range strings.Split(next.run("env -0"), "\x00") {
		name, value, _ := strings.Cut(pair, "=")
		seen[name] = value
	}
	for k := range n {
		name := fmt.Sprintf("v%d", k)
		if got[k] != want[k] {
			t.Errorf("%s came back as %q, was %q", name, got[k], want[k])
		}
		if k%4 == 0 && (env[name] != want[k] || seen[name] != want[k]) {
			t.Errorf("%s is %q in the image and %q in a child, was %q", name, env[name], seen[name], want[k])
		}
	}
}

// parseCapture reads a text as a capture, some bytes at a time.
func parseCapture(text string, window int) (*Snapshot, *capture, error) {
	c, err := openCaptured(strings.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, nil, err
	}
	c.buffer, c.filled = make([]byte, window), 0
	i, err := c.image()
	return i, c, err
}

// scriptOf is the script that restores a capture.
func scriptOf(t *testing.T, i *Snapshot, c *capture, given map[string]bool, unset []string) string {
	t.Helper()
	var b bytes.Buffer
	w := bufio.NewWriter(&b)
	r := restoring{Snapshot: i, captured: c, Writer: w}
	if err := errors.Join(r.script(given, unset), w.Flush()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// The script for a fixed capture.
func TestScriptGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/capture")
	if err != nil {
		t.Fatal(err)
	}
	i, c, err := parseCapture(strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "␀", "\x00"), windowSize)
	if err != nil {
		t.Fatal(err)
	}
	env, given := i.environment([]string{"GONE=1", "odd-name=1", "BASH_FUNC_f%%=() { :; }"})
	got := strings.Join(env, "\n") + "\n\n" + scriptOf(t, i, c, given, []string{"GONE"})
	if *update {
		if err := os.WriteFile("testdata/restore", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/restore")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the script is\n%s\nwant\n%s", got, want)
	}
}

func TestNearestDir(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: dir, dir + "/a/b\nc": dir, file: dir, file + "/x": dir, "/": "/",
		"/nothing/here": "/"} {
		if got := shelldir.Nearest(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func FuzzParseImage(f *testing.F) {
	text, err := os.ReadFile("testdata/capture")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "␀", "\x00"))
	f.Add("\x00" + captureMagic + strings.Repeat("\x00", sectionsFixed) + captureEnd + "\x00")
	f.Add(`declare -A a=(["x"]=$'\x`)
	f.Fuzz(func(t *testing.T, text string) {
		jobsOf(text)
		trapsOf(text)
		i, c, err := parseCapture(text, windowSize)
		if err != nil {
			if !errors.Is(err, shelldir.ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			return
		}
		env, given := i.environment(nil)
		script := scriptOf(t, i, c, given, i.Environment("", nil).Unset)
		// It does not matter in what pieces the capture is read, and what is long is not looked into.
		small, c, err := parseCapture(text, 3)
		if err != nil || scriptOf(t, small, c, given, small.Environment("", nil).Unset) != script {
			t.Fatalf("read 3 bytes at a time: %v", err)
		}
		c.long = 30
		if cut := scriptOf(t, small, c, given, nil); strings.Count(cut, "\\eval ") != strings.Count(script,
			"\\eval ") && !strings.Contains(text, "eval") {
			t.Fatalf("with long definitions the script is %q, without %q", cut, script)
		}
		for _, line := range strings.SplitAfter(script, "\n") {
			for n := range len(line) {
				if c := line[n]; c != '\n' && (c < ' ' || c > '~') {
					t.Fatalf("the script has byte %#x in %q", c, line)
				}
			}
		}
		for _, pair := range env {
			if strings.Contains(pair, "\x00") {
				t.Fatalf("NUL in %q", pair)
			}
		}
	})
}

func BenchmarkCapture(b *testing.B) {
	for name, set := range map[string]string{"fresh": ":",
		"100 functions":  `for i in {1..100}; do eval "f$i() { echo $i; }"; done`,
		"2000 variables": `for i in {1..2000}; do eval "v$i='value of $i'"; done`} {
		b.Run(name, func(b *testing.B) {
			bash := newBash(b)
			bash.run(set)
			// Twenty at a time: the time of one, without that of the looks whether it has ended.
			const batch = 20
			for b.Loop() {
				bash.raw(strings.Repeat(CaptureLine(bash.dir), batch))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/batch, "µs/capture")
		})
	}
}

// TestCaptureInARemovedDirectory: the path is known all the same, so that the next bash begins near it.
func TestCaptureInARemovedDirectory(t *testing.T) {
	t.Parallel()
	for set, want := range map[string]string{"": "/sub", "; PWD=/else": "/else", "; PWD=there": "", "; unset PWD": ""} {
		b := newBash(t)
		b.run("mkdir sub; cd sub; rmdir ../sub" + set)
		if got := b.capture().Cwd(); !strings.HasSuffix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q", set, got)
		}
	}
}
