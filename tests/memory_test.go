package tests

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/evertty/evertty/wire"
)

// resident is what the server takes of the machine's memory at most since cleared, in
// bytes (proc(5), VmHWM).
func (s *server) resident(cleared bool) int {
	s.t.Helper()
	if cleared {
		s.must(os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.pid()), []byte("5"), 0))
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.pid()))
	s.must(err)
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	s.must(err)
	return n << 10
}

// most is by how much the server may grow in these tests, in bytes: measured, and
// twice that. The race detector takes some times as much.
func most() int {
	if raceEnabled {
		return 1600 << 20
	}
	return 320 << 20
}

// anyText begins a script of awk in which any() is 880 characters that cannot be compressed.
const anyText = `function any(){return substr(text,1+int(rand()*900000),880)}
	BEGIN{"tr -dc a-z0-9 </dev/urandom | head -c 1000000" | getline text;`

// TestOneTerminalDoesNotTakeTheMemory: neither by what it prints nor by what its
// snapshots take, however many ask for one.
func TestOneTerminalDoesNotTakeTheMemory(t *testing.T) {
	s := start(t, launch{})
	before := s.resident(true)
	const links = `for(i=0;i<60000;i++)printf "\033]8;;http://e/%s%d\033\\x",any(),i; print ` +
		`"\033]8;;\033\\\nthe end"; system("sleep 600")}`
	id := s.create("awk", anyText+links).ID
	s.await(id, "^the end$")
	if n := s.info(id).MemoryBytes; n < 16<<20 || n > 32<<20 {
		t.Errorf("the terminal says that it takes %d bytes", n)
	}
	if grown := s.resident(false) - before; grown > most() {
		t.Errorf("60000 links of 900 bytes took %d MiB", grown>>20)
	}
	const cells = `BEGIN{u=sprintf("%0400d",0);for(l=0;l<150;l++){for(c=0;c<1000;c++){printf "\033[38;2;%d;%d;%d;48;` +
		`2;%d;%d;%dm",c%256,l%256,(c+l)%256,l%256,c%200,(c*l)%256; if(c%50==0)printf "\033]8;;` +
		`http://e/%s%d-%d\033\\",u,l,c; printf "x"} printf "\r\n"} print "\033[m\033]8;;\033\\the end"; ` +
		`system("sleep 600")}`
	id = s.createWith(wire.CreateTerminal{Cmd: []string{"awk", cells}, Cols: new(1000), Rows: new(50)}).ID
	s.await(id, "^the end$")
	for _, format := range []string{"html", "json", "ansi"} {
		before := s.resident(true)
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { s.wholeSnapshot(id, format) })
		}
		all.Wait()
		if grown := s.resident(false) - before; grown > most() {
			t.Errorf("20 snapshots as %s took %d MiB", format, grown>>20)
		}
	}
}

// wholeSnapshot reads a snapshot, which must be whole and at most 64 MiB.
func (s *server) wholeSnapshot(id, format string) {
	var r *http.Response
	for again := true; again; { // on a slow machine four at once may take longer than the others are let wait
		var err error
		if r, err = http.Get(s.url + "/pty/" + id + "/snapshot?format=" + format); err != nil {
			s.t.Error(err)
			return
		}
		defer r.Body.Close()
		again = r.StatusCode == http.StatusServiceUnavailable && s.ctx().Err() == nil
	}
	counted := &countingReader{r: r.Body}
	d := json.NewDecoder(counted)
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		s.t.Errorf("%s: %v, %v", format, open, err)
		return
	}
	// In large pieces, and not by io.Discard's own: these are gigabytes.
	_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, counted, make([]byte, 256<<10))
	if tail := string(counted.tail); err != nil || counted.n > 64<<20 || counted.n < 4<<20 ||
		!strings.HasSuffix(tail, "}\n") {
		s.t.Errorf("%s: %d bytes that end in %q: %v", format, counted.n, tail, err)
	}
}

// countingReader counts what it reads and keeps the end of it.
type countingReader struct {
	r    io.Reader
	n    int
	tail []byte
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += n
	c.tail = append(c.tail, p[max(0, n-16):n]...)
	c.tail = append(c.tail[:0], c.tail[max(0, len(c.tail)-16):]...)
	return n, err
}

// TestTerminalMemoryFlag: the bound holds, also for what an earlier server kept under
// a larger one, and what is not allowed is said.
func TestTerminalMemoryFlag(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--terminal-memory", "16MiB"}})
	id := s.create("awk", anyText+`for(i=0;i<12000;i++)printf "\033]8;;http://e/%s%d\033\\line `+
		`%d\r\n",any(),i,i; print "\033]8;;\033\\the end"; getline x}`).ID
	s.await(id, "^the end$")
	large := s.info(id).MemoryBytes
	if large < 3<<20 || large > 16<<20 {
		t.Errorf("%d bytes in 16 MiB", large)
	}
	for range 2 {
		s.kill()
		s.how.flags = []string{"--terminal-memory", "2MiB"}
		s.again()
		if n := s.info(id).MemoryBytes; n > 2<<20 || n < 1<<20 {
			t.Errorf("%d bytes in 2 MiB", n)
		}
		if text := s.text(id); !strings.Contains(text, "line 11999\n") || strings.Contains(text, "line 8000\n") {
			t.Errorf("the history has %d bytes", len(text))
		}
	}
	s.input(id, "\n")
	s.exit(id)
	if n := s.info(id).MemoryBytes; n < 1<<20 || n > 4<<20 {
		t.Errorf("once it has ended %d bytes", n)
	}
	out, err := s.command("serve", "--data-dir", t.TempDir(), "--terminal-memory", "5").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "1MiB to 4GiB") {
		t.Errorf("5 bytes: %v, %s", err, out)
	}
}
