package tests

import (
	"fmt"
	"strings"
)

func rowExitCodes(w *work) {
	for code := 0; code < 256; code += 1 + code/8 {
		w.run(fmt.Sprintf("(exit %d)", code)).is(code, "")
	}
	w.run("(exit 255)").is(255, "")
	w.run("f() { return 6; }; f").is(6, "")
	w.run("f").is(6, "")
	w.run("echo before; return 7; echo NOT").is(7, "before\n")
	w.run("true; false").is(1, "")
	w.run("false; true").is(0, "")
	w.run("nothere").fails(127, "", "nothere")
	w.run("/").fails(126, "", "/")
	w.run("bash -c 'kill -9 $$'").is2(137, "")
	w.run("bash -c 'kill -TERM $$'; echo $?").is2(0, "143\n")
	w.run("true | (exit 9)").is(9, "")
	w.run("").is(0, "")
	w.run("  \n\t\n").is(0, "")
	w.run("(exit 3)\n\n").is(3, "")
}

func rowSyntaxErrors(w *work) {
	pid := w.shellPID()
	for _, text := range []string{"if", ")", "echo 'unclosed", `echo "unclosed`, "for x in", "echo $(",
		"while true; do", "case x in", "f() {", "fi", "done", "echo a | | b", "&& true", "(", "${", "x=("} {
		r := w.run(text)
		if r.ExitCode == 0 || r.out() != "" || r.err() == "" {
			w.t.Errorf("%q: %+v", text, r)
		}
		if r.ExitCode != 2 && text != "x=(" { // bash calls that one 1
			w.t.Errorf("%q: code %d, want 2", text, r.ExitCode)
		}
		if now := w.shellPID(); now != pid || r.ShellEnded {
			w.t.Errorf("%q: the shell was %d and is %d, %+v", text, pid, now, r)
			pid = now
		}
	}
	w.run("echo before\n}\necho NOT").fails(2, "before\n", "}")
	w.run("}; echo out of the group; {").fails(2, "", "}")
	w.run("} </dev/null >/dev/null 2>/dev/null; echo NOT; {").fails(2, "", "}")
	w.run("echo fine; )").fails(2, "")
	rowUnclosed(w)
}

// unclosed are texts that end where something has to be closed, each after a line that runs. bash 5.2 writes outside of
// its memory after many of them and ended of it.
var unclosed = []struct {
	text string
	code int
}{
	{"echo $(", 2}, {`echo "$(`, 2}, {"cat <(", 2}, {"cat < >(ls", 2}, {"echo $((1+", 2}, {"echo $(( $(", 2},
	{"echo $(case x in", 2}, {"echo $(if true; then", 2}, {"echo $(cat <<E\nfoo", 2},
	{"echo `ls", 2}, {"echo \"`ls", 2}, {`echo "${x`, 2}, {"echo ${x:-$(", 2}, {`echo $(echo "a`, 2},
	{"echo $(echo 'a", 2}, {`echo "$(echo "$(echo "$(`, 2}, {"[[ -n $(", 2},
	{"for i in $(seq 3", 2}, {"$( # comment )", 2}, {"+($(", 2}, {"(( 1 +", 2}, {"echo $[1+", 2}, {"f() {\necho $(", 2},
	{"x=$(", 2},
	{"eval 'echo $('", 2}, {"g() { eval 'cat <('; }; g", 2}, {"printf 'echo $(' >\"$SCRAP\"; . \"$SCRAP\"", 2},
	{"x=($(", 1}, {"f() { echo $(\n}", 1},
}

// rowUnclosed: nothing ends of an unclosed text, and nothing is lost with it.
func rowUnclosed(w *work) {
	pid := w.shellPID()
	w.run("kept='a b'; SCRAP=" + quote(w.dir()+"/scrap") + "; sleep 1000 &")
	// Quotes in quotes make bash look at what it may have written over.
	deep := strings.Repeat(`"$(echo `, 12) + "x" + strings.Repeat(`)"`, 12)
	for _, c := range unclosed {
		r := w.run("echo earlier; n=$((n+1))\n" + c.text)
		if r.ExitCode != c.code || r.out() != "earlier\n" || r.err() == "" || r.ShellEnded || r.Recreated {
			w.t.Errorf("%q: %+v", c.text, r)
		}
		w.run("echo "+deep+"; echo \"$kept\"").is(0, "x\na b\n")
		if now := w.shellPID(); now != pid {
			w.t.Fatalf("%q: the shell was %d and is %d", c.text, pid, now)
		}
	}
	for range 20 {
		w.run("v='a'\"b\"; a+=(\"$v $(echo \"c\")\"); echo \"${a[0]}\" "+deep).is(0, "ab c x\n")
	}
	w.run("echo $n; jobs | grep -c 'sleep 1000'; kill $!").is(0, fmt.Sprintf("%d\n1\n", len(unclosed)))
	if now := w.shellPID(); now != pid {
		w.t.Errorf("the shell was %d and is %d", pid, now)
	}
}

func rowHeredocs(w *work) {
	w.run("cat <<E\nhello $((1+1)) 'x'\n\n  indented\nE").is(0, "hello 2 'x'\n\n  indented\n")
	w.run("cat <<'E'; echo after\n$HOME `id`\nE\n").is(0, "$HOME `id`\nafter\n")
	w.run("cat <<-E\n\ttabs\n\tE\ncat <<<word").is(0, "tabs\nword\n")
	w.run("cat <<A <<B; cat <<C\na\nA\nb\nB\nc\nC").is(0, "b\nc\n")
	w.run("cat <<E\nunterminated\n}").fails(0, "unterminated\n}\n", "here-document")
	w.run("echo next").is(0, "next\n")
}

func rowEndings(w *work) {
	w.run("echo a # comment").is(0, "a\n")
	w.run("# only a comment").is(0, "")
	w.run("(exit 4) # } >/dev/null").is(4, "")
	if r := w.run("echo a \\"); r.ExitCode != 0 || strings.TrimRight(r.out(), " \n") != "a" && r.out() != "a \\\n" {
		w.t.Errorf("%+v", r)
	}
	w.run("echo a;").is(0, "a\n")
	w.run("echo a &&\necho b").is(0, "a\nb\n")
	w.run("echo a |").fails(2, "")
	w.run("echo a\r").is(0, "a\r\n")
}

func rowBreak(w *work) {
	w.run("break; echo goes on").fails(0, "goes on\n", "break")
	w.run("continue; echo goes on").fails(0, "goes on\n", "continue")
	w.run("for i in 1 2 3; do echo $i; break; done").is(0, "1\n")
	w.run("for i in 1 2; do continue; echo NOT; done; (exit 8)").is(8, "")
}

func rowTopLevel(w *work) {
	pid := w.shellPID()
	w.run("set -u").is(0, "")
	w.run("echo $undefined").fails(1, "", "undefined")
	w.run("set +u").is(0, "")
	w.run("echo before; : ${x:?is needed}").fails(1, "before\n", "is needed")
	w.run("readonly fixed=1").is(0, "")
	w.run("fixed=2").fails(1, "", "readonly")
	w.run("echo $((1/0))").fails(1, "", "division by 0")
	w.run("declare -i n; n=1/0").fails(1, "", "division by 0")
	w.run("f() { : ${y:?inner}; }; f; echo NOT").fails(1, "", "inner")
	if now := w.shellPID(); now != pid {
		w.t.Errorf("the shell was %d and is %d", pid, now)
	}
}

func rowOddOptions(w *work) {
	for _, option := range []string{"set -n", "set -C", "set -x", "set -v", "set -o posix", "set -f", "set -k",
		"set -h", "set -B", "set -P", "set -E -T", "set -o ignoreeof", "set -o vi", "set -b",
		"shopt -s lastpipe nocaseglob xpg_echo", "shopt -u sourcepath", "shopt -s failglob dotglob", "shopt -s " +
			"extdebug", "set -o history", "set -H", "set -e -u -o pipefail"} {
		own, _ := w.newShell(w.session, body{})
		own.run(option)
		own.alive()
		own.alive()
		if r := own.run("cd /; echo one\necho two"); r.ExitCode != 0 || r.out() != "one\ntwo\n" || r.Cwd != "/" {
			w.t.Errorf("after %s: %+v", option, r)
		}
		if option == "set -x" {
			own.run("echo traced").fails(0, "traced\n", "echo traced")
		}
		if r := own.run("kill -9 $$"); r.ExitCode != 137 {
			w.t.Errorf("after %s: %+v", option, r)
		}
		own.alive() // with what came back of it
	}
	every, _ := w.newShell(w.session, body{})
	every.run("set -Cxv; set -o posix; shopt -s failglob nocaseglob extglob; set -f")
	every.alive()
}

func rowRedefined(w *work) {
	w.run("printf() { :; }; builtin() { :; }; declare() { :; }; command() { :; }; trap() { return 5; }; read() { :; "+
		"}; kill() { :; }; cd() { echo no; }").is(0, "")
	w.run("(exit 3)").is(3, "")
	w.run("f() { return 9; }; f").is(9, "")
	w.alive()
	for _, hostile := range []string{": () { return 44; }", "source() { echo hijacked; }", "function [ { return 1; }",
		"enable -n printf declare", "alias .=false",
		"function set { echo NOT; }; shopt() { :; }; alias() { :; }; umask() { :; }; ulimit() { :; }; export() { :; }",
		"alias '>|'=x declare=false builtin=false command=false", "function eval { :; }; unset() { :; }; function " +
			"true { return 1; }", "test() { return 1; }; wait() { :; }; exec() { :; }"} {
		own, _ := w.newShell(w.session, body{})
		own.run(hostile)
		own.alive()
		own.run("(exit 17)").is(17, "")
		own.run("PATH=$PATH; echo $((6*7))").is(0, "42\n")
	}
	rowWrapperRedefined(w)
}

// wrapperNames are the names that our own lines use, or might, and some that go with them.
var wrapperNames = []string{".", "source", "builtin", "command", "printf", "declare", "eval", "return", "exit", "trap",
	"wait", "kill", "enable", "cd", "export", "unset", "set", "jobs", "exec", "[", ":", "true"}

// reservedWords can be aliases, and no function.
var reservedWords = []string{"{", "}", "if", "then", "else", "fi", "!", "[[", "]]", "case", "esac", "for", "while",
	"do", "done", "function", "time"}

// rowWrapperRedefined: whatever is redefined, each way a name can be, the next commands are run, and in the shell
// itself unless that is impossible.
func rowWrapperRedefined(w *work) {
	for _, name := range wrapperNames {
		w.redefined("function "+name+" { echo HIJACKED; }", true)
		w.redefined("enable -n "+name+" 2>/dev/null", true)
	}
	var all strings.Builder
	for _, name := range append(wrapperNames, reservedWords...) {
		all.WriteString("\\alias " + quote(name) + "='echo HIJACKED '\n")
	}
	w.redefined(all.String(), true)
	for _, word := range []string{"{", "}", "if", "!"} {
		w.redefined("alias "+quote(word)+`='echo "'`, true) // an open quote swallows what follows
	}
	w.redefined("function . { echo HIJACKED; }; enable -n source", true)
	w.redefined("function . { echo HIJACKED; }; function source { echo HIJACKED; }; enable -n builtin", true)
	w.redefined("enable -n . printf mapfile declare builtin", true)
	w.redefined("function . { echo NO; }; function source { echo NO; }; function builtin { echo NO; }; function "+
		"command { echo NO; }; keep=1", false)
	w.redefined("enable -n . source", false)
	w.redefined("enable -n . enable", false)
	w.redefined("enable -n . unset enable printf", false)
}

// redefined runs a hostile command in a shell of its own and then others, of every kind; stays reports whether the
// shell
// has to be the same process after it.
func (w *work) redefined(hostile string, stays bool) {
	own, _ := w.newShell(w.session, body{})
	defer own.deleteShells()
	pid := own.shellPID()
	own.run(hostile)
	r := own.run("echo one\n\"\\builtin\" printf '%s\\n' \"$((6*7))\" 2>/dev/null >/dev/null; /bin/sh -c 'exit 17'")
	if r.ExitCode != 17 || r.out() != "one\n" || r.Recreated == stays || !stays && len(r.Lost) == 0 {
		w.t.Errorf("after %s: %+v", hostile, r)
	}
	if now := own.shellPID(); now == pid != stays {
		w.t.Errorf("after %s: the shell was %d and is %d", hostile, pid, now)
	}
	if hostile == "enable -n cd 2>/dev/null" {
		return // there is no other way to a directory of the command's own
	}
	if r := own.with(body{"command": "/bin/pwd", "cwd": "/usr", "env": map[string]string{"K": "v"}}); r.ExitCode != 0 ||
		r.out() != "/usr\n" {
		w.t.Errorf("after %s, with a directory: %+v", hostile, r)
	}
	if r := own.run("x=5; /bin/pwd"); r.ExitCode != 0 || r.out() == "/usr\n" {
		w.t.Errorf("after %s, back again: %+v", hostile, r)
	}
	if r := own.run("/bin/kill -9 $$"); r.ExitCode != 137 {
		w.t.Errorf("after %s, killed: %+v", hostile, r)
	}
	if r := own.run("echo \"again $x\""); r.ExitCode != 0 || r.out() != "again 5\n" || !r.Recreated {
		w.t.Errorf("after %s, with what came back: %+v", hostile, r)
	}
}

func rowAllClosed(w *work) {
	w.run("for fd in {3..255}; do eval \"exec $fd>&-\"; done; exec 3</dev/null 4>/dev/null")
	w.alive()
	w.run("exec <&- >&- 2>&-")
	w.alive()
	w.run("for fd in {0..1023}; do eval \"exec $fd<&- $fd>&-\"; done")
	w.alive()
}

func rowExecRedirection(w *work) {
	file := w.dir() + "/file"
	w.run("exec >"+quote(file)+"; echo into the file; echo aside >&2").fails(0, "", "aside")
	w.run("echo visible").is(0, "visible\n")
	w.run("cat "+quote(file)).is(0, "into the file\n")
	w.run("exec 2>/dev/null; echo lost >&2").is(0, "")
	w.run("echo seen >&2").fails(0, "", "seen")
	w.run("exec </dev/zero; head -c 3 | od -An -c | tr -d ' '").is(0, "\\0\\0\\0\n")
	w.run("cat").is(0, "")
	w.run("exec 7>"+quote(file)+"; echo seven >&7").is(0, "")
	w.run("echo more >&7; cat "+quote(file)).is(0, "seven\nmore\n")
}
