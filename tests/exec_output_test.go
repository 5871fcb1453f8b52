package tests

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

func rowNoNewline(w *work) {
	for _, text := range []string{"abc", "", "x\n\n", "\n", "a\r\n", "\r", " ", "{ not ours }", "\x01\x01\x01", "ä漢😀"} {
		w.run("printf %s "+quote(text)).is(0, text)
		if r := w.run("printf %s " + quote(text) + " >&2"); r.err() != text || r.out() != "" || r.ExitCode != 0 {
			w.t.Errorf("stderr of %q: %+v", text, r)
		}
	}
}

func rowBytes(w *work) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	r := w.run(`for i in {0..255}; do printf "\\x$(printf %x $i)"; done`).is(0, string(all))
	if r.StdoutB64 == "" || !strings.ContainsRune(r.Stdout, '\ufffd') && r.Stdout != "" {
		w.t.Errorf("what is not UTF-8 has to be base64, and readable besides: %+v", r)
	}
	if out, _ := w.logs(r.CommandID); out != string(all) {
		w.t.Errorf("the log has %q", out)
	}
	w.run(`printf '\0\377\1\1\1\2\2\2'; printf '\0' >&2`).fails(0, "\x00\xff\x01\x01\x01\x02\x02\x02", "\x00")
	if r := w.run(`printf 'a\0b\1\1\1'`).is(0, "a\x00b\x01\x01\x01"); r.StdoutB64 != "" {
		w.t.Errorf("UTF-8 text is base64: %+v", r)
	}
	// A character that comes in two pieces is whole in a stream.
	e := w.stream(body{"command": `printf '\xe6'; sleep 0.1; printf '\xbc\xa2 \xff'`})
	var out, errs bytes.Buffer
	if e.all(&out, &errs); out.String() != "漢 \xff" {
		w.t.Errorf("the stream has %q", out.String())
	}
}

func rowBothOutputs(w *work) {
	const size = 1_300_000
	r := w.run(fmt.Sprintf(`head -c %d /dev/zero | tr '\0' e >&2 & head -c %d /dev/zero | tr '\0' o; wait`, size, size))
	if r.ExitCode != 0 || r.out() != strings.Repeat("o", size) || r.err() != strings.Repeat("e", size) {
		w.t.Errorf("code %d, %d and %d bytes", r.ExitCode, len(r.out()), len(r.err()))
	}
	r = w.run(`for ((i = 0; i < 20000; i++)); do echo "o$i"; echo "e$i" >&2; done`)
	var out, errs strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&out, "o%d\n", i)
		fmt.Fprintf(&errs, "e%d\n", i)
	}
	if r.out() != out.String() || r.err() != errs.String() {
		w.t.Errorf("alternating: %d and %d bytes, want %d and %d", len(r.out()), len(r.err()), out.Len(), errs.Len())
	}
}

// maxGrowth is how much a server's memory may grow by output that it passes on, in kB.
const maxGrowth = 32 << 10

// hundredMB is a command that prints 100 MB of x.
const hundredMB = `head -c 100000000 /dev/zero | tr '\0' x`

func rowHundredMegabytes(w *work) {
	s := start(w.t, launch{}) // its memory is measured
	own := s.in("big")
	own.run("true")
	grew := watchMemory(s)
	var n counter
	done := own.stream(body{"command": hundredMB}).all(&n, io.Discard)
	if n.Load() != 100_000_000 || done.ExitCode != 0 || done.kind != "complete" || done.Truncated {
		w.t.Errorf("%d bytes were streamed, %+v", n.Load(), done)
	}
	r := own.run(hundredMB)
	if out := r.out(); r.ExitCode != 0 || !r.Truncated || len(out) == 0 || strings.Trim(out, "x") != "" {
		w.t.Errorf("the answer to 100 MB: code %d, truncated %v, %d bytes", r.ExitCode, r.Truncated, len(r.out()))
	}
	n.Store(0)
	if own.follow(r.CommandID).all(&n, io.Discard); n.Load() != 100_000_000 {
		w.t.Errorf("the log has %d bytes", n.Load())
	}
	if kb := grew(); kb > maxGrowth && !raceEnabled {
		w.t.Errorf("the server grew by %d kB", kb)
	}
	capped := own.run(hundredMB+"; echo end >&2; (exit 3)", body{"max_output_bytes": 1000})
	if capped.ExitCode != 3 || capped.out() != strings.Repeat("x", 1000) || capped.err() != "end\n" ||
		!capped.Truncated {
		w.t.Errorf("with a cap of 1000: code %d, truncated %v, %d bytes, stderr %q", capped.ExitCode, capped.Truncated,
			len(capped.out()), capped.err())
	}
	exact := own.run("printf %01000d 0", body{"max_output_bytes": 1000})
	if exact.is(0, strings.Repeat("0", 1000)); exact.Truncated {
		w.t.Error("exactly the cap is called truncated")
	}
}

// watchMemory returns what tells how many kB the server's memory has grown at most since now.
func watchMemory(s *server) (grew func() int) {
	before := status(s.t, s.pid(), "VmRSS")
	// 5 resets the peak (proc(5)); where that is forbidden the old one counts too.
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.pid()), []byte("5"), 0)
	return func() int { return status(s.t, s.pid(), "VmHWM") - before }
}

// counter counts bytes.
type counter struct{ atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) { c.Add(int64(len(p))); return len(p), nil }

func rowNoStdin(w *work) {
	w.run(`read -r x; echo "rc $? [$x]"`).is(0, "rc 1 []\n")
	w.run("cat; wc -c; echo over").is(0, "0\nover\n")
	w.run("bash -c 'cat; read x; echo $?'").is(0, "1\n")
	w.run("while read -r l; do echo $l; done").is(0, "")
}

func rowStdin(w *work) {
	for _, text := range []string{"a line\n", "no newline", "\x00\x01\n\n\r\n漢", ""} {
		w.run("cat", body{"stdin": text}).is(0, text)
	}
	w.run(`read -r x; echo "$x"`, body{"stdin": "first\nsecond\n"}).is(0, "first\n")
	w.run("cat").is(0, "") // nothing of the one before
	w.run(`read -r x; bash -c cat`, body{"stdin": "first\nsecond\n"}).is(0, "second\n")
	big := strings.Repeat("0123456789abcde\n", 60_000) // nearly 1 MB
	w.run("sha256sum", body{"stdin": big}).is(0, sha256Of(big)+"  -\n")
	w.run("true", body{"stdin": big}).is(0, "")
	w.run("head -n 1", body{"stdin": big}).is(0, "0123456789abcde\n")
	// Open: more comes while it runs.
	e := w.stream(body{"command": `while read -r l; do echo "got $l"; done; echo end`, "stdin": "early\n",
		"stdin_open": true})
	id := e.until("start").CommandID
	input := func(text string) reply { return w.post("/session/"+w.session+"/commands/"+id+"/input", text) }
	if v := e.until("stdout"); v.data(w.t) != "got early\n" {
		w.t.Errorf("%q", v.data(w.t))
	}
	input(`{"data":"later\n"}`).wants(200)
	if v := e.until("stdout"); v.data(w.t) != "got later\n" {
		w.t.Errorf("%q", v.data(w.t))
	}
	input(`{"data":"last\n","eof":true}`).wants(200)
	var out bytes.Buffer
	if done := e.all(&out, io.Discard); out.String() != "got last\nend\n" || done.ExitCode != 0 {
		w.t.Errorf("%q, %+v", out.String(), done)
	}
	if r := input(`{"data":"too late"}`); r.status != 410 && r.status != 409 {
		w.t.Errorf("input after the end: %d %s", r.status, r.body)
	}
	w.post("/session/"+w.session+"/commands/"+w.run("true").CommandID+"/input", `{"data":"x"}`).refused(409, "NO_STDIN")
}

func rowLateOutput(w *work) {
	g := newGate(w.t)
	first := w.run("{ "+g.wait()+"; echo late; echo late error >&2; } & echo now").is(0, "now\n")
	if !first.Background {
		w.t.Errorf("%+v", first)
	}
	w.run("echo other").is(0, "other\n")
	file := filepath.Join(w.dir(), "seen")
	third := w.later(body{"command": "until [ -e " + quote(file) + " ]; do sleep 0.02; done; echo third"})
	g.open()
	w.logged(first.CommandID, "now\nlate\n") // while another exec runs
	eventually(w.t, "the late error is logged", func() bool {
		_, errs := w.logs(first.CommandID)
		return errs == "late error\n"
	})
	w.must(os.WriteFile(file, nil, 0o600))
	third.result().is(0, "third\n")
	w.run("echo fourth").is(0, "fourth\n")
	if p := w.command(first.CommandID); p.StdoutBytes != int64(len("now\nlate\n")) || !p.ended("done", 0) {
		w.t.Errorf("%v", p)
	}
}

func rowSubstitution(w *work) {
	r := w.run("echo a > >(sleep 0.2; sed s/a/b/); echo c")
	if out := r.out(); r.ExitCode != 0 || out != "c\n" && out != "c\nb\n" && out != "b\nc\n" {
		w.t.Errorf("%+v", r)
	}
	w.logged(r.CommandID, "c\nb\n")
	w.run("cat <(echo in) <(echo put)").is(0, "in\nput\n")
	r = w.run("echo quick | tee >(cat >&2) >/dev/null")
	if r.ExitCode != 0 {
		w.t.Errorf("%+v", r)
	}
}

func rowLongCommand(w *work) {
	var b strings.Builder
	for b.Len() < 1_000_000 {
		b.WriteString("n=$((n+1)) # a line..\n")
	}
	lines := strings.Count(b.String(), "\n")
	b.WriteString(`echo "$n"`)
	w.run(b.String()).is(0, fmt.Sprintf("%d\n", lines))
	text := strings.Repeat("é'\"$\\\n", 10_000)
	sum := sha256.Sum256([]byte(text))
	w.run("sha256sum <<'E O F'\n"+text+"E O F").is(0, fmt.Sprintf("%x  -\n", sum))
	w.run("echo "+strings.Repeat("x", 500_000)).is(0, strings.Repeat("x", 500_000)+"\n")
}
