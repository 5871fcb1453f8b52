package tests

import (
	"strings"
	"sync"
	"testing"
)

// woken are the ways to need a parked terminal; each is carried out on a parked one and on a twin that never was.
var woken = map[string]func(s *server, id string){
	"text":   func(s *server, id string) { s.get("/pty/" + id + "/snapshot?format=text").wants(200) },
	"ansi":   func(s *server, id string) { s.get("/pty/" + id + "/snapshot?format=ansi&scrollback=-1").wants(200) },
	"html":   func(s *server, id string) { s.get("/pty/" + id + "/snapshot?format=html").wants(200) },
	"sse":    func(s *server, id string) { s.watch(sse, id).close() },
	"ws":     func(s *server, id string) { s.watch(wsBinary, id).close() },
	"wait":   func(s *server, id string) { s.await(id, "here") },
	"idle":   func(s *server, id string) { s.post("/pty/"+id+"/wait", `{"for":"idle","idle_ms":1}`).wants(200) },
	"resize": func(s *server, id string) { s.post("/pty/"+id+"/resize", `{"cols":60,"rows":30}`).wants(200) },
	"input":  func(s *server, id string) { s.input(id, "typed\n"); s.twice(id, "typed") },
	"keys": func(s *server, id string) {
		s.post("/pty/"+id+"/keys", `{"keys":["k","Enter"]}`).wants(200)
		s.twice(id, "k")
	},
	"paste": func(s *server, id string) {
		s.post("/pty/"+id+"/paste", `{"data":"glue\n"}`).wants(200)
		s.twice(id, "glue")
	},
	"several": severalLooks,
}

// twice waits until a line is there as it was typed and as cat printed it.
func (s *server) twice(id, line string) {
	s.t.Helper()
	eventually(s.t, line+" is there twice", func() bool { return strings.Count(s.text(id), line+"\n") == 2 })
}

// severalLooks look at a terminal, and type, at the same time.
func severalLooks(s *server, id string) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { s.get("/pty/" + id + "/snapshot?format=json") })
		wg.Go(func() { s.watch(sse, id).close() })
		wg.Go(func() { s.post("/pty/"+id+"/park", "{}") })
	}
	wg.Go(func() { s.input(id, "typed\n") })
	wg.Wait()
	s.twice(id, "typed")
}

// TestParkedWakesExactly: whatever needs a parked terminal finds what it would find at one that never was parked. What
// only reads files leaves it parked.
func TestParkedWakesExactly(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const program = `printf '\e]0;work\a\e[31;1mred\e[?2004h\e[2;9r\e[4;4Hhe\e[5;5Hhere\r\n'; exec cat`
	for what, use := range woken {
		id, twin := s.create("bash", "-c", program).ID, s.create("bash", "-c", program).ID
		s.await(id, "here")
		s.await(twin, "here")
		s.parks(id)
		if !s.info(id).Parked {
			t.Errorf("%s: an info wakes it", what)
		}
		use(s, id)
		use(s, twin)
		want := strings.ReplaceAll(s.whole(twin), twin, id)
		eventually(t, what+" leaves equal screens", func() bool { return s.whole(id) == want })
		if i := s.info(id); i.Damage != "" || i.State != "running" {
			t.Errorf("%s: %+v", what, i)
		}
	}
	id := s.create("bash", "-c", program).ID
	s.await(id, "here")
	s.parks(id)
	s.get("/pty/" + id + "/recording?format=raw").wants(200)
	s.get("/pty").wants(200)
	s.get("/metrics").wants(200)
	if !s.info(id).Parked {
		t.Error("a recording, a list or metrics wake it")
	}
}

// TestParkKilledMeanwhile: kill -9 while terminals are being parked loses nothing of any; each is parked or awake then.
func TestParkKilledMeanwhile(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	n := times(8, 64)
	ids := s.printers(n, 200)
	want := make([]string, n)
	for i, id := range ids {
		want[i] = s.whole(id)
	}
	for range times(3, 40) {
		first := make(chan struct{}, n)
		var wg sync.WaitGroup
		for _, id := range ids {
			wg.Go(func() {
				resp, err := plain.Post(s.url+"/pty/"+id+"/park", "application/json", strings.NewReader("{}"))
				if err == nil { // else it was killed before
					_ = resp.Body.Close()
					first <- struct{}{}
				}
			})
		}
		<-first
		s.kill()
		wg.Wait()
		s.again()
		for i, id := range ids {
			if got := s.whole(id); got != want[i] {
				t.Fatalf("after kill -9 %s has\n%s\nwant\n%s", id, got, want[i])
			}
			if i := s.info(id); i.State != "running" || i.Damage != "" {
				t.Errorf("after kill -9: %+v", i)
			}
		}
	}
}
