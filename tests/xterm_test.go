package tests

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// xvfb starts an X server for this test and returns its display, or skips.
func xvfb(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"Xvfb", "xterm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("needs Xvfb and xterm as the user's terminal")
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1024x768x24", "-nolisten", "tcp")
	x.ExtraFiles = []*os.File{w}
	err = x.Start()
	_ = w.Close()
	if err != nil {
		t.Skip("no Xvfb here: ", err)
	}
	t.Cleanup(func() {
		_ = x.Process.Kill()
		_ = x.Wait()
	})
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Skip("Xvfb has no display: ", err)
	}
	return ":" + strings.TrimSpace(number)
}

// asks is a bash function that writes all that xterm sends when it is asked for its modes and settings.
const asks = `ask() {
	for q in '\e[?'{1,2,5,6,7,8,9,25,38,40,45,47,66,67,69,80,100{0,1,2,3,4,5,6,7},101{5,6}}'$p' \
		'\e[?'{1034,1035,1036,1039,1050,1051,1060,1061,2004}'$p' '\e['{2,4,12,20}'$p' '\e[?1;1;0S' '\e[?4m' '\e[2$w' \
		'\eP$q'{r,m,'"q','"p'}'\e\\' '\e]4;1;?\a' '\e]10;?\a' '\e]11;?\a' '\e[20t' '\e[21t'; do
		printf "$q\e[5n" >/dev/tty
		r=; while IFS= read -rsn1 -t 60 c; do r+=$c; [[ $r == *$'\e[0n' ]] && break; done
		printf '%s %q\n' "$q" "$r"
	done
}
`

// evilForXterm act on an xterm that allows everything, stay there, or have it answer.
const evilForXterm = `\eP0;1|17/6c730a\e\\\e[?1061h\e[?38h\e[?2l\e[?1;1;0S\e[1$w\e[1;1;1;1#|\e[#R\e[c\e[5n\e[6n\e[>q` +
	`\e]4;1;?\a\e]10;?\a\e]50;?\a\e]52;c;?\a\eP$qm\e\\\eP+q544e\e\\\e[18t\e[21t\e[8;50;100t\e[?3h\e[?40h\e[?3h` +
	`\e[?69h\e[5i\e[4i\e[61"p\e G\e[?1005h\e[?1015h\e[?1034l\e[?1036h\e[?1050h\e[2h\e[>4;2m\e[?80h\e[?66h\e[?1h` +
	`\e[?1003h\e[?1006h\e[?2004h\e[?1004h` +
	`\e[?5h\e[?7l\e[?6h\e[2;5r\e[4h\e[20h\e(0\e)0\x0e\e[5 q\e[1"q\e[1;5;31m\e]4;1;#123456\a\e]10;#654321\a` +
	`\e]2;evil\a\e]1;evil\a\e[3g\e[?1049h\e[?25l\e[?45h`

// TestXtermStaysAsItWas: a real xterm that allows everything is as before when a program that attach shows has ended,
// when attach leaves, and after play; nothing that it has sent is left for the shell.
func TestXtermStaysAsItWas(t *testing.T) {
	t.Parallel()
	display := xvfb(t)
	s := start(t, launch{})
	dir := t.TempDir()
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name))
		return string(text)
	}
	create := func(end string) string {
		return s.create("bash", "-c", `stty -echo; head -n1 >/dev/null; printf '`+evilForXterm+
			`\x0f\e(Bshown\x0e\e(0'; `+end).ID
	}
	ends, stays := create("exit"), create("sleep 1000")
	evil := strings.NewReplacer(`\e`, "\x1b", `\a`, "\a", `\x0e`, "\x0e", `\\`, `\`).Replace(evilForXterm)
	cast, err := json.Marshal(evil)
	s.must(err)
	s.must(os.WriteFile(filepath.Join(dir, "evil.cast"),
		[]byte(`{"version":2,"width":80,"height":24}`+"\n[0,\"o\","+string(cast)+"]\n"), 0o600))
	show := func(id string) string {
		return "(echo $BASHPID >pid-" + id + "; exec " + binary + " attach " + id + " --data-dir " + s.how.dir +
			"); stty raw -echo\n"
	}
	script := asks + "cd " + dir + "; stty raw -echo\nask >0-before\n" + show(ends) + "ask >1-ended\n" + show(stays) +
		"ask >2-left\n" + binary + " play evil.cast --no-wait </dev/null; stty raw -echo; ask >3-played\n" +
		"while IFS= read -rsn1 -t 1 c; do printf %q \"$c\" >>typed; done; touch done\n"
	s.must(os.WriteFile(filepath.Join(dir, "script"), []byte(script), 0o600))
	args := []string{"-geometry", "80x24"}
	for _, allowed := range []string{"Window", "Tcap", "Color", "Title", "Font"} {
		args = append(args, "-xrm", "*allow"+allowed+"Ops: true")
	}
	args = append(args, "-xrm", "*c132: true", "-xrm", "*decTerminalID: 420", "-e", "bash", filepath.Join(dir,
		"script"))
	x := exec.Command("xterm", args...)
	x.Env = append(os.Environ(), "DISPLAY="+display, "LC_ALL=C.UTF-8")
	s.must(x.Start())
	t.Cleanup(func() {
		_ = x.Process.Kill()
		_ = x.Wait()
	})
	for _, id := range []string{ends, stays} {
		eventually(t, "xterm shows "+id, func() bool { return s.info(id).Viewers == 1 })
		s.input(id, "\n")
	}
	s.await(stays, "shown")
	pid, err := strconv.Atoi(strings.TrimSpace(read("pid-" + stays)))
	s.must(err)
	s.must(syscall.Kill(pid, syscall.SIGTERM))
	eventually(t, "xterm has answered", func() bool {
		_, err := os.Stat(filepath.Join(dir, "done"))
		return err == nil
	})
	before := strings.Replace(read("0-before"), "/81", "", 1) // nothing sets a stop beyond the window without DECST8C
	if strings.Count(before, "$y") < 30 {
		t.Fatalf("xterm says little of itself:\n%s", before)
	}
	for _, name := range []string{"1-ended", "2-left", "3-played"} {
		if after := read(name); after != before {
			t.Errorf("%s:\n%s\nbefore:\n%s", name, after, before)
		}
	}
	if typed := read("typed"); typed != "" {
		t.Errorf("left for the shell: %s", typed)
	}
}
