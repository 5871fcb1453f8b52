package tests

import (
	"os"
	"path/filepath"
	"strings"
)

func rowCd(w *work) {
	dir := w.dir()
	inner := filepath.Join(dir, "with space 'and' quotes")
	w.must(os.Mkdir(inner, 0o700))
	if r := w.run("cd "+quote(inner)).is(0, ""); r.Cwd != inner {
		w.t.Errorf("cwd %q, want %q", r.Cwd, inner)
	}
	if r := w.run("pwd").is(0, inner+"\n"); r.Cwd != inner {
		w.t.Errorf("cwd %q, want %q", r.Cwd, inner)
	}
	if r := w.run("cd ..; (cd /)").is(0, ""); r.Cwd != dir {
		w.t.Errorf("cwd %q, want %q", r.Cwd, dir)
	}
	// Of one command alone.
	w.run("pwd", body{"cwd": inner}).is(0, inner+"\n")
	w.run("pwd").is(0, dir+"\n")
	if list := w.shells(w.session); len(list) != 1 || list[0].Cwd != dir {
		w.t.Errorf("the shells are %+v", list)
	}
}

func rowExport(w *work) {
	const value = "a\n\"b\" 'c' $HOME `id` $(id) \\ \\n \x01\x7f 😀 \t end\n"
	w.run("export V="+quote(value)).is(0, "")
	w.run(`printf %s "$V"`).is(0, value)
	w.run("printenv V").is(0, value+"\n")
	w.run(`bash -c 'printf %s "$V"'`).is(0, value)
	w.run("export V=first; export V=last; export W='of its own'").is(0, "")
	w.run("printenv V W").is(0, "last\nof its own\n")
	w.run(`export V=$'\xff\xfe\n'`).is(0, "")
	w.run(`bash -c 'printf %s "$V"'`).is(0, "\xff\xfe\n")
	w.run("unset V").is(0, "")
	w.run("printenv V").is(1, "")
	// Of one command alone.
	w.run("printenv V W", body{"env": body{"V": value, "W": ""}}).is(0, value+"\n\n")
	w.run(`printenv W; echo "${V-none}"`).is(0, "of its own\nnone\n")
}

func rowVariables(w *work) {
	w.run("x='one two'; a=(1 'two words' 3); declare -A m=([k]=v ['a b']='c d'); declare -i n=41; declare -r "+
		"fixed=9").is(0, "")
	w.run(`n+=1; echo "$x|${a[1]}|${#a[@]}|${m[k]}|${m["a b"]}|$n|$fixed"`).is(0, "one two|two words|3|v|c d|42|9\n")
	w.run(`bash -c 'echo "${x-none} ${n-none} ${fixed-none}"'; env | grep -cE '^(x|a|m|n|fixed)='`).is(1,
		"none none none\n0\n")
}

func rowFunctions(w *work) {
	w.run("greet() { echo \"hi $1\"; }\nalias ll='echo aliased'\nshopt -s extglob nullglob\nset -o pipefail").is(0, "")
	w.run("greet you; ll again; shopt -q extglob nullglob; echo $?; echo none*such").is(0,
		"hi you\naliased again\n0\n\n")
	w.run("false | true").is(1, "")
	w.run("unset -f greet; unalias ll; set +o pipefail").is(0, "")
	w.run("greet you").fails(127, "", "greet")
	w.run("false | true").is(0, "")
}

func rowExportedFunction(w *work) {
	w.run(`f() { echo "exported $1"; }; export -f f`).is(0, "")
	w.run("bash -c 'f 7'; f 8").is(0, "exported 7\nexported 8\n")
	w.run("kill -9 $$").is(137, "")
	w.run("bash -c 'f 7'; f 8").is(0, "exported 7\nexported 8\n")
}

func rowPrompts(w *work) {
	w.run("PS1='prompt> '; PS2='more> '; PS4='four '; PROMPT_COMMAND='echo from the prompt; false'").is(0, "")
	w.run("echo x; (exit 4)").is(4, "x\n")
	w.run("for i in 1 2\ndo\necho $i\ndone").is(0, "1\n2\n")
	w.run("PROMPT_COMMAND=(false 'echo again'); export PS1").is(0, "")
	w.run("printf y").is(0, "y")
}

func rowRcFiles(w *work) {
	home := w.says("echo $HOME")
	w.must(os.WriteFile(filepath.Join(home, ".bashrc"), []byte("RC=bashrc\necho from .bashrc\n"), 0o600))
	w.must(os.WriteFile(filepath.Join(home, ".bash_profile"),
		[]byte("PROFILE=read\nexport EXPORTED=too\necho from .bash_profile\n"), 0o600))
	plain, _ := w.newShell(w.session,
		body{"env": body{"BASH_ENV": filepath.Join(home, ".bashrc"), "ENV": filepath.Join(home, ".bashrc")}})
	plain.run(`echo "${RC-none} ${PROFILE-none}"`).is(0, "none none\n")
	login, _ := w.newShell(w.session, body{"login": true})
	login.run(`echo "${PROFILE-none}"; printenv EXPORTED`).is(0, "read\ntoo\n")
	login.run("kill -9 $$")
	login.run(`printenv EXPORTED; pwd >/dev/null`).is(0, "too\n")
	login.alive()
}

func rowUmask(w *work) {
	w.run("umask 027; ulimit -n 200; ulimit -S -c 0").is(0, "")
	w.run("umask; ulimit -n; ulimit -c; bash -c 'umask; ulimit -n'").is(0, "0027\n200\n0\n0027\n200\n")
	dir := w.dir()
	w.run("touch "+quote(dir)+"/f; stat -c %a "+quote(dir)+"/f").is(0, "640\n")
	w.run("kill -9 $$").is(137, "")
	r := w.run("umask; ulimit -n")
	if mask, files, _ := strings.Cut(strings.TrimSpace(r.out()), "\n"); mask != "0027" || files == "200" ||
		!r.Recreated {
		w.t.Errorf("after a restart: %+v", r)
	}
	if !strings.Contains(strings.Join(r.Lost, "; "), "limit") {
		w.t.Errorf("what is lost does not name the limits: %q", r.Lost)
	}
}

func rowUnset(w *work) {
	dir := w.dir()
	w.run("unset PWD OLDPWD PATH IFS; readonly __evt_rc=9 rc=9 status=9 REPLY=9 i=9 x=9").is(0, "")
	if r := w.run("cd "+quote(dir)+"; (exit 3)").is(3, ""); r.Cwd != dir {
		w.t.Errorf("cwd %q, want %q", r.Cwd, dir)
	}
	for _, ifs := range []string{"IFS=/", "IFS=0123456789", "IFS=$'cdout. \\n'", "IFS="} {
		if r := w.run(ifs+"; (exit 201)").is(201, ""); r.Cwd != dir {
			w.t.Errorf("%s: cwd %q, want %q", ifs, r.Cwd, dir)
		}
		w.run("echo a b; (exit 120)").is(120, "a b\n")
	}
	w.run("readonly PWD PATH=/nothere IFS").is(0, "")
	w.run("cd /; (exit 6)")
	if r := w.run("(exit 7)").is(7, ""); r.Cwd != "/" {
		w.t.Errorf("cwd %q, want /", r.Cwd)
	}
	w.run("kill -9 $$").is(137, "")
}

func rowOddDirectories(w *work) {
	dir := w.dir()
	odd := filepath.Join(dir, "new\nline \xff end\n")
	w.must(os.Mkdir(odd, 0o700))
	w.run("cd "+quote(dir)+" && cd new*").is(0, "")
	w.run("printf %s \"$PWD\"").is(0, odd)
	w.run("kill -9 $$").is(137, "")
	w.run("printf %s \"$PWD\"").is(0, odd)
	// A directory with a newline alone is JSON.
	line := filepath.Join(dir, "a\nb")
	if r := w.run("mkdir ../$'a\\nb' && cd ../$'a\\nb'").is(0, ""); r.Cwd != line {
		w.t.Errorf("cwd %q, want %q", r.Cwd, line)
	}
	gone := filepath.Join(dir, "gone", "deeper")
	w.must(os.MkdirAll(gone, 0o700))
	w.run("cd "+quote(gone)).is(0, "")
	w.must(os.RemoveAll(filepath.Dir(gone)))
	w.run("echo still here").is(0, "still here\n")
	w.run("(exit 9)").is(9, "")
	w.run("kill -9 $$").is(137, "")
	if r := w.run("pwd").is(0, dir+"\n"); r.Cwd != dir || r.CwdFallback != gone || !r.Recreated {
		w.t.Errorf("after a restart without its directory: %+v", r)
	}
	w.run("pwd").is(0, dir+"\n")
}
