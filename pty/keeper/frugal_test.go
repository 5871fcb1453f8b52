package keeper

import (
	"bufio"
	"os"
	"reflect"
	"strings"
	"testing"
)

// smaps is what the kernel says of a program: text, constants, relocated constants, data, and memory.
const smaps = `00400000-00500000 r-xp 00000000 fe:00 123456                             /usr/bin/evertty
Size:               1024 kB
Rss:                 512 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
00500000-00600000 r--p 00100000 fe:00 123456                             /usr/bin/evertty
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me
00600000-00601000 r--p 00200000 fe:00 123456                             /usr/bin/evertty
Anonymous:             4 kB
Swap:                  0 kB
VmFlags: rd mr mw me ac
00601000-00602000 r--p 00201000 fe:00 123456                             /usr/bin/evertty
Anonymous:             0 kB
Swap:                  4 kB
VmFlags: rd mr mw me ac
00602000-00700000 rw-p 00202000 fe:00 123456                             /usr/bin/evertty
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac
c000000000-c000400000 r--p 00000000 00:00 0
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me ac
`

func TestIdleMappings(t *testing.T) {
	want := []mapping{{0x400000, 0x500000}, {0x500000, 0x600000}}
	if got := idleMappings(bufio.NewScanner(strings.NewReader(smaps))); !reflect.DeepEqual(got, want) {
		t.Errorf("%x", got)
	}
}

// TestShrink: the program goes on as it was, and its own file is among what it gave back.
func TestShrink(t *testing.T) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if len(idleMappings(bufio.NewScanner(f))) == 0 {
		t.Error("nothing to give back")
	}
	for range 3 {
		shrink()
	}
	TestGolden(t)
}
