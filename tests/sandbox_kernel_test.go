package tests

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/wire"
)

// withoutLandlock is the word that makes of the test binary a program which runs another on a kernel without Landlock.
const withoutLandlock = "without-landlock"

// execWithoutLandlock runs a program for which landlock_create_ruleset(2) fails with ENOSYS, and for all that it
// starts.
func execWithoutLandlock(argv []string) error {
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_LANDLOCK_CREATE_RULESET},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	if err != nil {
		return err
	}
	return syscall.Exec(argv[0], argv, os.Environ())
}

// TestSandboxWithoutLandlock: a kernel without Landlock refuses sandboxes with 501, and nothing else.
func TestSandboxWithoutLandlock(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, launch{shell: fmt.Sprintf(`exec %s %s "$0" "$@"`, self, withoutLandlock)})
	for _, mode := range []string{"workspace", "read-only"} {
		s.post("/session/a/pty", `{"sandbox":"`+mode+`"}`).refused(501, "CAPABILITY", "Landlock")
		s.post("/session/a/shell", `{"sandbox":"`+mode+`"}`).refused(501, "CAPABILITY", "Landlock")
	}
	if list := s.get("/pty").wants(200).body; strings.Contains(list, `"id"`) {
		t.Errorf("something was started: %s", list)
	}
	s.await(s.create("bash", "-c", "echo he're'; read -r").ID, "^here$")
}

// TestShellFilesNameNoOther: the id of another terminal in the files of a shell, which a program of the shell can
// write, does not reach that terminal: of another session, of its own, or of a command of another shell.
func TestShellFilesNameNoOther(t *testing.T) {
	t.Parallel()
	for name, session := range map[string]string{"another session": "test", "its session": "mine",
		"another shell": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{errors: true})
			s.book.add("mine")
			const secret = "echo secr'et'; read -r; exec cat"
			var other string
			if session == "" {
				s.post("/session/mine/shell", `{"id":"second"}`).wants(201)
				other = s.onTerminal("/session/mine/shell/second/exec", secret).PTY
			} else {
				var made wire.Terminal
				s.post("/session/"+session+"/pty", asJSON(object{"cmd": []string{"bash", "-c", secret}})).
					wants(201).into(&made)
				other = made.ID
			}
			s.await(other, "^secret$")
			command := s.onTerminal("/session/mine/exec", "read -r x")
			eventually(t, "the files name the terminal", func() bool {
				return s.renameInShells(command.PTY, command.PTY) > 0
			})
			s.kill()
			s.renameInShells(command.PTY, other)
			s.again()
			eventually(t, "the command is known to have ended", func() bool {
				body := s.get("/session/mine/commands/" + command.ID).wants(200).body
				return strings.Contains(body, `"status":"failed"`)
			})
			if logs := s.get("/session/mine/commands/" + command.ID + "/logs").body; strings.Contains(logs, "secret") {
				t.Errorf("the other's output is in the log: %s", logs)
			}
			s.input(other, "\nstill here\n")
			s.await(other, "^still here$")
		})
	}
}

// terminalCommand is a command with its terminal.
type terminalCommand struct {
	ID   string `json:"command_id"`
	PTY  string
	Text string `json:"command"`
}

// onTerminal runs a command on a terminal, and waits until it is there. Its reply is lost.
func (s *server) onTerminal(path, text string) (command terminalCommand) {
	s.t.Helper()
	go func() {
		resp, err := plain.Post(s.url+path, "application/json",
			strings.NewReader(asJSON(object{"command": text, "tty": true})))
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
	eventually(s.t, "the command has a terminal", func() bool {
		var list struct{ Commands []terminalCommand }
		s.get("/session/mine/commands").wants(200).into(&list)
		for _, command = range list.Commands {
			if command.Text == text && command.PTY != "" {
				return true
			}
		}
		return false
	})
	return command
}

// renameInShells puts another terminal in the place of one in the records of shells, with right checksums, and returns
// in how many lines it was.
func (s *server) renameInShells(id, other string) (n int) {
	s.t.Helper()
	records, err := filepath.Glob(s.file("shells/*/c/*/record.json"))
	s.must(err)
	for _, path := range records {
		b, err := os.ReadFile(path)
		s.must(err)
		var changed []byte
		for line := range bytes.Lines(b) {
			text, _, ok := bytes.Cut(line, []byte("\tcrc32c "))
			if ok && bytes.Contains(text, []byte(id)) {
				n++
				text = bytes.ReplaceAll(text, []byte(id), []byte(other))
				sum := crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))
				line = fmt.Appendf(nil, "%s\tcrc32c %08x\n", text, sum)
			}
			changed = append(changed, line...)
		}
		if id != other {
			s.must(os.WriteFile(path, changed, 0o600))
		}
	}
	return n
}
