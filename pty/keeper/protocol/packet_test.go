package protocol

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/evertty/evertty/internal/proc"
)

// update writes the golden files anew. A line that changes is a change of the protocol: see Version.
var update = flag.Bool("update", false, "write testdata anew")

// fromServer and fromKeeper are every packet of the protocol, with every field it may have.
var (
	fromServer = []Packet{
		{Op: OpHello, Version: 1, Release: "v1.2.3"},
		{Op: OpTake, Number: 1},
		{Op: OpStart, Number: 2, ID: "0f9d2a4c", Files: 5},
		{Op: OpStart, Number: 10, ID: "0f9d2a4c.2", Tag: 1<<62 - 1, Files: 5},
		{Op: OpAdopt, Number: 3, ID: "0f9d2a4c", PID: 4711, Files: 4},
		{Op: OpAdopt, Number: 4, ID: "0f9d2a4c", PID: 4711, Exit: &Exit{Code: 143, Signal: "TERM"}, Files: 4},
		{Op: OpRun, Number: 7, ID: "shell.build.1", Files: 5},
		{Op: OpRun, Number: 9, ID: "shell.build.2", Tag: 1<<62 - 1, Files: 5},
		{Op: OpAdopt, Number: 8, ID: "shell.build.1", Kind: KindProgram, PID: 4712, Files: 2},
		{Op: OpAdopt, ID: "shell.build.c.1", Kind: KindFiles, PID: 4700, Files: 3},
		{Op: OpRelease, Number: 5, ID: "0f9d2a4c"},
		{Op: OpUpgrade, Number: 6, Argv: []string{"/usr/bin/evertty", "keeper", "--data-dir", "/var/lib/evertty"}},
	}
	fromKeeper = []Packet{
		{Op: OpWelcome, Version: 1, Release: "v1.2.3", PID: 4700, Born: 1767225600000000000},
		{Op: OpWelcome, Version: 1, Release: "v1.2.3", PID: 4700, Programs: true, Born: 1767225600000000000},
		{Op: OpBusy, Version: 1, PID: 4600},
		{Op: OpKept, Number: 1, ID: "0f9d2a4c", PID: 4711, Files: 4},
		{Op: OpKept, Number: 1, ID: "0f9d2a4c", PID: 4711, Exit: &Exit{Code: 0}, Files: 4},
		{Op: OpKept, Number: 1, ID: "0f9d2a4c", PID: 4711, Adopted: true, Files: 4},
		{Op: OpKept, Number: 1, ID: "shell.build.1", Kind: KindProgram, PID: 4712, Exit: &Exit{Code: 0}, Files: 2},
		{Op: OpKept, Number: 1, ID: "shell.build.c.1", Kind: KindFiles, PID: 4700, Files: 3},
		{Op: OpDone, Number: 1},
		{Op: OpDone, Number: 2, PID: 4711, Files: 1},
		{Op: OpFailed, Number: 2, Failure: &Failure{Kind: "no_command", Errno: 2,
			Text: "pty: start \"x\": command cannot be run"}},
		{Op: OpExited, ID: "0f9d2a4c", Exit: &Exit{Code: 143, Signal: "TERM"}},
	}
)

// TestGolden: every packet is on the wire what it always was, and is understood.
func TestGolden(t *testing.T) {
	for _, side := range []struct {
		name       string
		fromKeeper bool
		list       []Packet
	}{{"server", false, fromServer}, {"keeper", true, fromKeeper}} {
		var wire bytes.Buffer
		said := map[string]bool{}
		for _, p := range side.list {
			data, err := encode(p)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&wire, "%s\n", data)
			said[p.Op] = true
		}
		for op, s := range shapes {
			if s.fromKeeper == side.fromKeeper && !said[op] {
				t.Errorf("%s is not in the list", op)
			}
		}
		path := filepath.Join("testdata", side.name+".golden")
		if *update {
			if err := os.WriteFile(path, wire.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if wire.String() != string(golden) {
			t.Errorf("%s: the protocol has changed:\n%s\nwas\n%s", path, wire.String(), golden)
		}
		lines := bufio.NewScanner(bytes.NewReader(golden))
		for _, want := range side.list {
			if !lines.Scan() {
				t.Fatalf("%s is too short", path)
			}
			p, err := decode(lines.Bytes(), side.fromKeeper)
			if err != nil || !reflect.DeepEqual(p, want) {
				t.Errorf("%s: %+v, %v", lines.Text(), p, err)
			}
			if _, err := decode(lines.Bytes(), !side.fromKeeper); !errors.Is(err, ErrNonsense) {
				t.Errorf("%s from the other side: %v", lines.Text(), err)
			}
		}
	}
}

// TestNewerPeer: fields that this release does not know are ignored.
func TestNewerPeer(t *testing.T) {
	p, err := decode([]byte(`{"op":"take","n":1,"color":"blue"}`), false)
	if err != nil || p.Op != OpTake {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestFailures(t *testing.T) {
	for kind, want := range kinds {
		f := FailureOf(fmt.Errorf("start: %w: %w", want, unix.ENOENT))
		if f.Kind != kind || !errors.Is(f, want) || !errors.Is(f, unix.ENOENT) {
			t.Errorf("%s: %+v", kind, f)
		}
	}
	f := FailureOf(errors.New(strings.Repeat("x", 2*maxText)))
	if len(f.Text) > maxText || f.Unwrap() != nil {
		t.Errorf("%+v", f)
	}
}

func TestPlanFile(t *testing.T) {
	for _, want := range []proc.Plan{
		{Path: "/bin/sh", Dir: "/", Argv: []string{"sh"}, Env: []string{}},
		{Path: "/b\xff", Dir: "/tmp/a b", Argv: []string{"", "", "x\ny"}, Env: []string{"A=\xfe", "B="}},
	} {
		f, err := WritePlan(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadPlan(int(f.Fd()))
		_ = f.Close()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	for _, bad := range []string{"", "\x00", "/bin/sh", "/\x00/\x00", "/\x00/\x000\x00", "/\x00/\x002\x00sh\x00",
		"/\x00/\x00x\x00sh\x00", "/\x00/\x001\x00sh"} {
		if p, err := parsePlan([]byte(bad)); !errors.Is(err, ErrNonsense) {
			t.Errorf("%q is %+v, %v", bad, p, err)
		}
	}
}

// FuzzPacket: any bytes are a packet that has what its op needs, or ErrNonsense; and a packet survives being written
// again.
func FuzzPacket(f *testing.F) {
	for _, p := range append(fromServer, fromKeeper...) {
		data, err := encode(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, fromKeeper := range []bool{false, true} {
			p, err := decode(data, fromKeeper)
			if err != nil {
				if !errors.Is(err, ErrNonsense) {
					t.Errorf("%v", err)
				}
				continue
			}
			s := shapes[p.Op]
			if s.number && p.Number == 0 || s.id && p.ID == "" || s.pid && p.PID <= 0 || s.exit && p.Exit == nil ||
				s.failure && p.Failure == nil ||
				s.words && len(p.Argv) == 0 || p.Files < s.minFiles || p.Files > s.maxFiles {
				t.Errorf("%q is %+v", data, p)
			}
			again, err := encode(p)
			if err != nil {
				continue // escapes make it longer
			}
			if q, err := decode(again, fromKeeper); err != nil || q.Op != p.Op || q.ID != p.ID || q.Number != p.Number {
				t.Errorf("%s is %+v, was %+v, %v", again, q, p, err)
			}
		}
	})
}

// FuzzPlan: any bytes are a plan that is written the same, or ErrNonsense.
func FuzzPlan(f *testing.F) {
	f.Add([]byte("/bin/sh\x00/\x001\x00sh\x00A=b\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parsePlan(data)
		if err != nil {
			if !errors.Is(err, ErrNonsense) {
				t.Error(err)
			}
			return
		}
		file, err := WritePlan(p)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if q, err := ReadPlan(int(file.Fd())); err != nil || !reflect.DeepEqual(p, q) {
			t.Errorf("%+v is %+v, %v", data, q, err)
		}
	})
}
