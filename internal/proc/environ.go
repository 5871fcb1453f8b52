package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// inherited are the names a child takes over from this process; Inherited adds two patterns. Everything else stays
// here: the server's own settings, tokens, and what a service manager meant for the server alone (NOTIFY_SOCKET,
// LISTEN_FDS).
var inherited = map[string]bool{
	"PATH": true, "HOME": true, "USER": true, "LOGNAME": true, "SHELL": true,
	"LANG": true, "LANGUAGE": true, "TZ": true, "TMPDIR": true, "XDG_RUNTIME_DIR": true,
}

// runtimeNames are variables beside those of a child that a process of ours may keep: they set up Go's runtime and are
// no secrets.
var runtimeNames = map[string]bool{
	"GODEBUG": true, "GOGC": true, "GOMAXPROCS": true, "GOMEMLIMIT": true, "GORACE": true, "GOTRACEBACK": true,
	"GOCOVERDIR": true,
}

// Inherited reports whether a child may inherit the variable.
func Inherited(name string) bool {
	return inherited[name] || strings.HasPrefix(name, "LC_") ||
		strings.HasPrefix(name, "XDG_") && strings.HasSuffix(name, "_HOME")
}

// plain reports whether anybody may see a variable (NAME=VALUE).
func plain(pair string) bool {
	name, _, ok := strings.Cut(pair, "=")
	return ok && (Inherited(name) || runtimeNames[name])
}

// PlainEnviron is the part of env (NAME=VALUE) that anybody may see: what children inherit, and settings of Go's
// runtime. It is for helpers of ours, which need nothing else of the server's variables.
func PlainEnviron(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return !plain(pair) })
}

// Private keeps what this process knows from other processes of its user. Its initial environment, which
// /proc/PID/environ shows, is overwritten but for what PlainEnviron lets through, so that not even root reads a secret
// there; os.Getenv goes on to know all of it. And the process is not dumpable (PR_SET_DUMPABLE(2const)): no process of
// the same user without CAP_SYS_PTRACE reads its memory, descriptors or environment, and it leaves no core. execve(2)
// undoes both, so every program calls it for itself, first thing. Errors: the kernel's; then as much as possible was
// done.
func Private() error {
	if err := errors.Join(overwriteEnviron(), Undumpable()); err != nil {
		return fmt.Errorf("proc: private: %w", err)
	}
	return nil
}

// Undumpable is the second half of Private, for a process whose environment others look for.
func Undumpable() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_DUMPABLE: %w", err)
	}
	return nil
}

// ForgetEnviron makes os.Environ of this process what PlainEnviron lets through.
func ForgetEnviron() {
	list := PlainEnviron(os.Environ())
	os.Clearenv()
	for _, pair := range list {
		name, value, _ := strings.Cut(pair, "=")
		_ = os.Setenv(name, value) // has been one
	}
}

// overwriteEnviron fills the initial environment of this process with zeros where PlainEnviron lets nothing through. Go
// has copied it, C keeps pointers into it and finds empty texts.
func overwriteEnviron() error {
	start, end, err := environRange()
	if err != nil || start == end {
		return err
	}
	text := make([]byte, end-start)
	local := []unix.Iovec{{Base: &text[0], Len: uint64(len(text))}}
	remote := []unix.RemoteIovec{{Base: start, Len: len(text)}}
	if n, err := unix.ProcessVMReadv(os.Getpid(), local, remote, 0); err == nil && n == len(text) {
		if blank(text) {
			n, err = unix.ProcessVMWritev(os.Getpid(), local, remote, 0)
		}
		if err == nil && n == len(text) {
			return nil
		}
	}
	return overwriteMemory(text, int64(start)) // where a filter of system calls forbids these
}

// overwriteMemory is the same through /proc/self/mem; text is room for the environment.
func overwriteMemory(text []byte, start int64) error {
	f, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("overwrite the environment: %w", err)
	}
	defer f.Close()
	_, err = f.ReadAt(text, start)
	if err == nil && blank(text) {
		_, err = f.WriteAt(text, start)
	}
	if err != nil {
		return fmt.Errorf("overwrite the environment: %w", err)
	}
	return nil
}

// blank fills with zeros what of an environment (entries that end with NUL) PlainEnviron does not let through, and
// reports whether there was any.
func blank(text []byte) (changed bool) {
	for rest := text; len(rest) > 0; {
		entry, after, _ := bytes.Cut(rest, []byte{0})
		if len(entry) > 0 && !plain(string(entry)) {
			clear(entry)
			changed = true
		}
		rest = after
	}
	return changed
}

// environRange is where the kernel keeps the initial environment of this process.
func environRange() (start, end uintptr, err error) {
	fields, ok := statFields(line(os.Getpid()), fieldEnviron, 2)
	if !ok || fields[1] < fields[0] || fields[1]-fields[0] > maxEnviron {
		return 0, 0, fmt.Errorf("/proc/self/stat: the environment is at %v", fields)
	}
	return uintptr(fields[0]), uintptr(fields[1]), nil
}
