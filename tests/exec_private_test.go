package tests

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/tests/polling"
)

// modesBelow are the files, directories and FIFOs of shells that somebody else than their owner could use, and the
// FIFOs.
func modesBelow(t *testing.T, dir string) (open, fifos []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(dir, "shells"), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // it went meanwhile
		}
		if info.Mode().Perm()&0o077 != 0 {
			open = append(open, strings.TrimPrefix(path, dir)+" "+info.Mode().String())
		}
		if info.Mode()&fs.ModeNamedPipe != 0 {
			fifos = append(fifos, strings.TrimPrefix(path, dir))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return open, fifos
}

// TestExecFilesAreOurs: modes of a shell's files depend neither on the server's umask nor on the user's, and the user's
// is as it was.
func TestExecFilesAreOurs(t *testing.T) {
	t.Parallel()
	for _, mask := range []string{"000", "077"} {
		s := start(t, launch{shell: "umask " + mask})
		w := s.in("own")
		w.run("umask").is(0, "0"+mask+"\n")
		w.run("umask 000; f() { :; }; export A=b").is(0, "")
		w.send(body{"command": "pwd", "cwd": "/usr", "env": body{"X": "y"}, "stdin": "in"}).wants(200)
		w.send(body{"command": "echo out; echo err >&2; sleep 0.1 &", "timeout_ms": 5000}).wants(200)
		w.send(body{"argv": []string{"sh", "-c", "umask; echo err >&2"}, "isolated": true}).wants(200)
		w.send(body{"command": "sleep 100", "timeout_ms": 50}).wants(200)
		var b struct {
			ID string `json:"command_id"`
		}
		w.send(body{"command": "cat; exit 3", "stdin_open": true, "background": true}).wants(202).into(&b)
		s.post("/session/own/commands/"+b.ID+"/input", `{"data":"x","eof":true}`).wants(200)
		w.run("kill -9 $$")
		w.run("umask").is(0, "0000\n")
		var fifos []string
		eventually(t, "nothing but the owner's is left, nor the empty file by which bash tells where it is",
			func() bool {
				var open []string
				open, fifos = modesBelow(t, s.how.dir)
				return len(open) == 0
			})
		for _, f := range fifos {
			next, _ := regexp.MatchString(`^/shells/[^/]+/(out|err)$`, f) // of the next command
			if filepath.Base(f) != "ctl" && !next {
				t.Errorf("umask %s: left %v", mask, f)
			}
		}
	}
}

// TestExecForgetsValues: the values of a command's variables are on disk no longer than the command needs them.
func TestExecForgetsValues(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	w := s.in("values")
	const value = "s3cret-value"
	more := body{"env": body{"TOKEN": value}}
	w.run("echo ${#TOKEN}", more).is(0, "12\n")
	w.run("set -x; true", more)
	w.run("true\nset +x", more)
	w.run(": $TOKEN", more) // which is $_ for the next one
	w.run("true $_")
	w.with(body{"command": "true", "tty": true, "env": body{"TOKEN": value}})
	w.with(body{"argv": []string{"true"}, "isolated": true, "env": body{"TOKEN": value}})
	var started past
	w.send(body{"command": "true", "background": true, "env": body{"TOKEN": value}}).wants(202).into(&started)
	w.finished(started.CommandID)
	w.later(body{"command": "sleep 0.5; false", "env": body{"TOKEN": value}})
	id := w.find("sleep 0.5; false", "running").CommandID
	s.kill()
	s.again()
	w.finished(id)
	w.run("echo $? $TOKEN").is(0, "1\n")
	eventually(t, "no file has the value", func() bool {
		out, err := exec.Command("grep", "-rlI", value, s.how.dir).Output()
		if err == nil {
			t.Logf("%s", out)
		}
		return err != nil && len(out) == 0
	})
}

// TestExecFIFOsOfTheDead: no FIFO is left of a shell whose server, keeper, launcher and bash were killed.
func TestExecFIFOsOfTheDead(t *testing.T) {
	t.Parallel()
	s := start(t, launch{errors: true})
	w := s.in("main")
	w.run("V=1")
	hung := w.later(body{"command": "sleep 1000"})
	s.lastCommand("running")
	bash := s.shells("main")[0].PID
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(bash) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	launcher, _ := strconv.Atoi(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[1])
	keeper := s.keeperPID()
	s.kill()
	<-hung.done
	for _, pid := range []int{keeper, launcher, bash} {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	s.again()
	if _, fifos := modesBelow(t, s.how.dir); len(fifos) > 0 {
		t.Errorf("left %v", fifos)
	}
	s.in("main").run("echo hi").is(0, "hi\n")
}

// TestExecFilesCannotBeMade: a directory of shells that is of no use is 503 FIFO_CREATE_FAILED, of a shell that is
// there and of a new one; mended, both work.
func TestExecFilesCannotBeMade(t *testing.T) {
	t.Parallel()
	s := start(t, launch{errors: true})
	w := s.in("old")
	w.run("V=kept").is(0, "")
	place := filepath.Join(s.how.dir, "shells")
	if !polling.Until(patience, func() bool { // what the command has left is read after its answer
		states, _ := filepath.Glob(filepath.Join(place, "*", "state"))
		return slices.ContainsFunc(states, func(f string) bool {
			text, _ := os.ReadFile(f)
			return strings.Contains(string(text), "kept")
		})
	}) {
		t.Fatal("the state is not captured")
	}
	s.must(os.Rename(place, place+".away"))
	s.must(os.WriteFile(place, nil, 0o600))
	w.send(body{"command": "true"}).refused(503, "FIFO_CREATE_FAILED")
	s.in("new").send(body{"command": "true"}).refused(503, "FIFO_CREATE_FAILED")
	s.post("/session/old/shell", `{}`).refused(503, "FIFO_CREATE_FAILED")
	s.must(os.Remove(place))
	s.must(os.Rename(place+".away", place))
	w.run("echo $V").is(0, "kept\n")
	s.in("new").alive()
}
