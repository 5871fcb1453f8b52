package pty_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty"
)

// reexec runs a mode in a process of its own; change may alter the command before it starts.
func reexec(t *testing.T, mode string, change func(*exec.Cmd)) string {
	t.Helper()
	cmd := exec.CommandContext(limited(t, 5*patience), os.Args[0])
	if change != nil {
		change(cmd)
	}
	cmd.Env = append(os.Environ(), modeVar+"="+mode, "GORACE=atexit_sleep_ms=0") // do not dawdle under -race
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("mode %s: %v: %s", mode, err, errs.String())
	}
	return out.String()
}

// shown runs a command on a terminal and returns its words.
func shown(argv ...string) ([]string, error) {
	p, err := pty.Start(pty.Spec{Argv: argv, Cols: 80, Rows: 24})
	if err != nil {
		return nil, err
	}
	defer p.Close()
	out, err := io.ReadAll(p)
	return strings.Fields(string(out)), err
}

func TestChildDescriptors(t *testing.T) {
	words, err := shown("ls", "/proc/self/fd")
	if err != nil || !slices.Equal(words, []string{"0", "1", "2", "3"}) { // 3 is the directory itself
		t.Errorf("%q, %v", words, err)
	}
}

// inheritMode runs in a process that has inherited descriptors.
func inheritMode() error {
	words, err := shown("ls", "/proc/self/fd")
	if err != nil || len(words) < 10 {
		return fmt.Errorf("the inherited descriptors are missing, the test proves nothing: %q, %w", words, err)
	}
	if err := proc.CloseInherited(); err != nil {
		return err
	}
	words, err = shown("ls", "/proc/self/fd")
	if err != nil || !slices.Equal(words, []string{"0", "1", "2", "3"}) {
		return fmt.Errorf("%q, %w", words, err)
	}
	if _, err := unix.FcntlInt(5, unix.F_GETFD, 0); err != nil {
		return fmt.Errorf("descriptor 5 was closed: %w", err)
	}
	return nil
}

func TestCloseInherited(t *testing.T) {
	reexec(t, "inherit", func(cmd *exec.Cmd) {
		for range 8 {
			cmd.ExtraFiles = append(cmd.ExtraFiles, os.Stdin)
		}
	})
}

// signalsMode runs in a process that ignores and blocks signals.
func signalsMode() error {
	signal.Ignore(syscall.SIGUSR1, syscall.SIGPIPE)
	for range 2 {
		words, err := shown("grep", "-E", "Sig(Ign|Blk)", "/proc/self/status")
		if err != nil || len(words) != 4 || words[1] != "0000000000000000" || !nothingIgnored(words[3]) {
			return fmt.Errorf("%q, %w", words, err)
		}
	}
	// What was ignored still does nothing here.
	for _, sig := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGHUP, syscall.SIGINT} {
		if err := unix.Kill(os.Getpid(), sig); err != nil {
			return err
		}
	}
	return nil
}

// nothingIgnored reads a mask of signals; 32 and 33 are the C library's, and whoever started the tests may have left
// them ignored.
func nothingIgnored(mask string) bool {
	m, err := strconv.ParseUint(mask, 16, 64)
	return err == nil && m&^(3<<31) == 0
}

func TestDefaultSignals(t *testing.T) {
	reexec(t, "signals", func(cmd *exec.Cmd) {
		sh, err := exec.LookPath("env")
		if err != nil {
			t.Fatal(err)
		}
		cmd.Args = []string{"env", "--ignore-signal=HUP,INT,QUIT,TSTP,TTIN,TTOU", "--block-signal=TERM,CHLD,USR2",
			cmd.Path}
		cmd.Path = sh
	})
}
