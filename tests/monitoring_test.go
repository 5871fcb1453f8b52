package tests

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evertty/evertty/wire"
)

// metricName is a metric of ours, of the Go runtime or of the process, in an expression or a document.
var metricName = regexp.MustCompile(`\b(?:evertty|go|process)_[a-z0-9_]+`)

// metrics are the metrics of a server by name, without the endings of histograms; and the number of series.
func (s *server) metrics() (names map[string]bool, series int) {
	s.t.Helper()
	names = map[string]bool{}
	for line := range strings.Lines(s.get("/metrics").wants(200).body) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			names[strings.Fields(rest)[0]] = true
		} else if !strings.HasPrefix(line, "#") {
			series++
		}
	}
	return names, series
}

// seen has a viewer look at a terminal once.
func (s *server) seen(id string) {
	s.watch(sse, id).close()
}

// family is the metric that a name in an expression is of.
func family(names map[string]bool, name string) string {
	for _, end := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, end); ok && names[base] {
			return base
		}
	}
	return name
}

// TestDashboardShowsWhatThereIs: every metric of the dashboard, the alerts and the document is one of a server that was
// used, and the document has all of ours. Their number does not grow with the terminals.
func TestDashboardShowsWhatThereIs(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("cat").ID
	for range 2 { // a connect and a reconnect
		s.seen(id)
	}
	s.in("work").run("true")
	has, series := s.metrics()
	document := ""
	for _, file := range []string{"deploy/grafana/evertty.json", "deploy/prometheus/alerts.yml",
		"docs/operate/monitoring.md"} {
		b, err := os.ReadFile(filepath.Join("..", file))
		s.must(err)
		document = string(b)
		for _, name := range metricName.FindAllString(document, -1) {
			if name != "go_" && !has[family(has, name)] {
				t.Errorf("%s has %s, which no server has", file, name)
			}
		}
	}
	for name := range has {
		if strings.HasPrefix(name, "evertty_") && !strings.Contains(document, "`"+name+"`") {
			t.Errorf("docs/operate/monitoring.md has no %s", name)
		}
	}
	b, err := os.ReadFile("../deploy/grafana/evertty.json")
	s.must(err)
	s.must(json.Unmarshal(b, new(map[string]any)))
	for range 5 {
		s.seen(s.create("cat").ID)
	}
	if _, now := s.metrics(); now != series {
		t.Errorf("%d series with one terminal, %d with six", series, now)
	}
}

// TestMetricsOfViewers: a viewer that is sent its screen counts once, one that reads nothing lags.
func TestMetricsOfViewers(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("sh", "-c", "read x; while :; do seq 1 10000; done").ID
	req, err := http.NewRequestWithContext(s.ctx(), http.MethodGet, s.url+"/pty/"+id+"/stream", nil)
	s.must(err)
	resp, err := http.DefaultClient.Do(req)
	s.must(err)
	defer resp.Body.Close()
	_, err = io.ReadFull(resp.Body, make([]byte, 10))
	s.must(err)
	eventually(t, "the viewer is counted", func() bool {
		return s.metric("evertty_viewer_recovery_seconds_count") == 1
	})
	if lag := s.metric("evertty_viewer_lag_bytes"); lag != 0 {
		t.Errorf("%v bytes of lag at rest", lag)
	}
	s.input(id, "\n")
	eventually(t, "the viewer lags", func() bool {
		return s.metric("evertty_viewer_lag_seconds") > 0.1 || s.metric("evertty_viewer_lag_bytes") > 1000
	})
	if n := s.metric("evertty_journal_append_seconds_count"); n == 0 {
		t.Error("nothing was appended")
	}
	if n, up := s.metric("evertty_keeper_programs"), s.metric("evertty_keeper_connected"); n < 1 || up != 1 {
		t.Errorf("the keeper is %v with %v programs", up, n)
	}
	if n := s.metric("evertty_journal_bytes"); n == 0 {
		t.Error("the journal has no bytes")
	}
}

// TestProfiles: with --debug they are on a socket of this user, and nowhere else.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--debug"}})
	socket := s.file("debug.sock")
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	c := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn,
		error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/heap"} {
		resp, err := c.Get("http://x" + path)
		s.must(err)
		b, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || len(b) == 0 {
			t.Errorf("%s: %d, %d bytes, %v", path, resp.StatusCode, len(b), err)
		}
	}
	c.CloseIdleConnections()
	s.get("/debug/pprof/").wants(404)
	s.kill()
	s.again() // in the place of a dead server's socket
	s.stop()
	if _, err := os.Stat(socket); err == nil {
		t.Error("the socket is still there after the end")
	}
	s.how.flags = nil
	s.again()
	if _, err := os.Stat(socket); err == nil {
		t.Error("there is a socket without --debug")
	}
}

// TestMemoryBound: at 90 % new terminals, shells and viewers are refused with a time to come again, and what runs goes
// on; when there is room again they are let in.
func TestMemoryBound(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--memory", "96MiB"}})
	quiet := s.create("cat").ID
	w := s.in("work")
	w.run("true")
	v := s.watch(sse, quiet)
	defer v.close()
	var large []string
	refused := func() bool {
		r := s.post("/session/test/pty", fmt.Sprintf(`{"cmd":["sh","-c",%q],"scrollback":50000}`,
			"head -c 2700000 /dev/urandom | base64 -w 60; echo 'al'l; exec cat")) // which cannot be compressed
		if r.status == 201 {
			var i wire.Terminal
			r.into(&i)
			large = append(large, i.ID)
			return false
		}
		r.refused(503, "NO_MEMORY", "--memory")
		if r.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		return true
	}
	eventually(t, "new terminals are refused", refused)
	s.get("/pty/"+quiet+"/stream").refused(503, "NO_MEMORY")
	s.post("/session/other/shell", `{}`).refused(503, "NO_MEMORY")
	if s.metric("evertty_memory_full") != 1 || s.metric("evertty_memory_refused_total") < 3 ||
		s.metric("evertty_memory_limit_bytes") != 96<<20 {
		t.Error("the metrics do not show it")
	}
	if text := s.get("/healthz").wants(200).body; !strings.Contains(text, "memory:") {
		t.Errorf("/healthz: %s", text)
	}
	s.input(quiet, "still here\n")
	v.sees("still here")
	w.run("echo goes on").is(0, "goes on\n")
	for _, id := range large {
		s.must(s.Delete(s.ctx(), id, true))
	}
	eventually(t, "there is room again", func() bool {
		return s.post("/session/test/pty", `{"cmd":["cat"]}`).status == 201
	})
}
