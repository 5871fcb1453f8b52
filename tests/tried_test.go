package tests

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// TestLinksOfPrograms: security row 13. Snapshots offer links of http, https and mailto alone.
func TestLinksOfPrograms(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `for l in "javascript:alert(1)" file:///etc/passwd "data:text/html,x" `+
		`"JAVASCRIPT:x" "https://good.example/a" "https://bad.example/`+strings.Repeat("a", 3000)+`"; do `+
		`printf '\e]8;;%s\e\\link\e]8;;\e\\\n' "$l"; done; echo al''l; read -r`).ID
	s.await(id, "^all$")
	for _, format := range []string{"json", "html"} {
		body := s.get("/pty/" + id + "/snapshot?format=" + format).wants(200).body
		if lower := strings.ToLower(body); strings.Contains(lower, "javascript:") || strings.Contains(lower, "file:") ||
			strings.Contains(lower, "data:text") || strings.Contains(lower, "bad.example") ||
			!strings.Contains(lower, "https://good.example/a") {
			t.Errorf("%s offers\n%s", format, body)
		}
	}
}

// TestHugeCounts: security row 18. Counts of 2^31 are cut to the screen, for each sequence that has one.
func TestHugeCounts(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const rounds, most = 100, 3 * time.Second // of the processor, for some 1600 sequences and the test's own requests
	id := s.create("bash", "-c", `read -r; for ((i = 0; i < `+strconv.Itoa(rounds)+`; i++)); do `+
		`for c in A B C D E F G I L M P S T X Z @ b; do printf 'x\e[2147483647%s' $c; done; done; `+
		`printf '\e[H\e[2Jal''l'; read -r`).ID
	before := s.metric("process_cpu_seconds_total")
	s.input(id, "\n")
	s.await(id, "^all$")
	if took := s.metric("process_cpu_seconds_total") - before; !raceEnabled && took > most.Seconds() {
		t.Errorf("the server worked for %.2f s", took)
	}
}

// TestEndlessSequences: security row 16. A sequence without an end takes no memory, and the terminal goes on behind it.
func TestEndlessSequences(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--journal-quota", "64MiB"}})
	const most = 32 << 10 // kB, with the buffers of the flood and what is collected later
	size := times(16<<20, 1<<30)
	for _, begin := range []string{`\e]0;`, `\e[1`} {
		id := s.create("bash", "-c", `printf '`+begin+`'; head -c `+strconv.Itoa(size)+
			` /dev/zero | tr '\0' 1; printf '\e\\\e[H\e[2Jal''l'; read -r`).ID
		before := status(t, s.pid(), "VmRSS")
		s.await(id, "^all$")
		if grown := status(t, s.pid(), "VmRSS") - before; !raceEnabled && grown > most {
			t.Errorf("%s takes %d kB", begin, grown)
		}
		s.must(s.Delete(s.ctx(), id, true))
	}
}

// TestDearPatternsOverHTTP: security rows D26, D27. A pattern that is too large is refused, one that costs much ends
// with the wait's timeout, and others are answered meanwhile.
func TestDearPatternsOverHTTP(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `head -c 2000000 /dev/zero | tr '\0' a; echo; echo al''l; read -r`).ID
	s.await(id, "^all$")
	s.post("/pty/"+id+"/wait", `{"for":"regex","pattern":"(a{100}){500}","timeout_ms":1}`).refused(400, "VALIDATION")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s.post("/pty/"+id+"/wait", `{"for":"regex","pattern":"(a?){900}b","timeout_ms":200}`).refused(408, "TIMEOUT")
		})
	}
	s.get("/pty").wants(200)
	wg.Wait()
}

// TestFilesOfProcessesAreRefused: security row D32. The file calls read nothing that processes have in /proc,
// whatever way leads there.
func TestFilesOfProcessesAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	link, own := t.TempDir()+"/link", t.TempDir()+"/own"
	s.must(os.Symlink("/proc/self", link))
	s.must(os.WriteFile(own, nil, 0o600))
	s.book.add("default") // where calls without a session are
	for _, path := range []string{"/proc/self/environ", "/proc/self", "/proc/thread-self", "/dev/fd", "/dev/fd/1",
		"/proc/self/mem", "/proc/thread-self/environ", "/dev/fd/0",
		link + "/environ", "/proc/" + strconv.Itoa(s.pid()) + "/environ",
		"/proc/" + strconv.Itoa(s.keeperPID()) + "/fd/0"} {
		for _, r := range []struct{ method, call, body string }{
			{"POST", "read", `{"path":"PATH"}`}, {"POST", "write", `{"path":"PATH","content":"x"}`},
			{"POST", "mkdir", `{"path":"PATH/new"}`}, {"POST", "delete", `{"path":"PATH"}`},
			{"DELETE", "delete", `{"path":"PATH"}`}, {"POST", "list", `{"path":"PATH"}`},
			{"POST", "exists", `{"path":"PATH"}`},
			{"POST", "rename", `{"oldPath":"PATH","newPath":"/tmp/nothing"}`},
			{"POST", "rename", `{"oldPath":"OWN","newPath":"PATH"}`},
			{"POST", "move", `{"sourcePath":"PATH","destinationPath":"/tmp/nothing"}`},
			{"POST", "move", `{"sourcePath":"OWN","destinationPath":"PATH"}`},
		} {
			r.body = strings.NewReplacer("PATH", path, "OWN", own).Replace(r.body)
			s.call(r.method, "/api/file/"+r.call, r.body).refused(403, "PERMISSION_DENIED")
		}
	}
}

// TestNoControlsInJSON: --json on a terminal has DEL and C1 controls escaped, whatever a title is.
func TestNoControlsInJSON(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("bash", "-c", `printf '\e]0;a\177b\302\233c\302\235d\a'; echo al''l; read -r`).ID
	s.await(id, "^all$")
	list := s.createWith(wire.CreateTerminal{Cmd: []string{binary, "ls", "--json"}, Env: map[string]string{
		"EVERTTY_DATA_DIR": s.how.dir}}).ID
	s.exit(list)
	raw := s.get("/pty/" + list + "/recording?format=raw").wants(200).body
	if !strings.Contains(raw, id) || strings.ContainsAny(raw, "\x7f\u009b\u009d") {
		t.Errorf("it printed %q", raw)
	}
}

// TestLogoutOfAllAtOnce: no request that comes while all are logged out is admitted behind the reply.
func TestLogoutOfAllAtOnce(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	for range times(5, 100) {
		l := s.logIn()
		done := make(chan struct{})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for after := false; !after; {
					select {
					case <-done:
						after = true
					default:
					}
					if r := s.by(l, "GET", "/pty", ""); after && r.status != 401 {
						t.Errorf("admitted after the logout: %d", r.status)
					}
				}
			})
		}
		s.with("POST", "/logout?all=1", "", "Authorization", s.bearer()).wants(200)
		close(done)
		wg.Wait()
	}
}
