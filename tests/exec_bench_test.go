package tests

import (
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// p50 is the median.
func p50(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// keeping is a client that keeps its connections, as programs do.
func keeping(tb testing.TB) *http.Client {
	t := &http.Transport{DisableCompression: true}
	tb.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// fetch sends a request and reads the reply to its end.
func fetch(tb testing.TB, c *http.Client, method, address, text string, to io.Writer) {
	req, err := http.NewRequestWithContext(tb.Context(), method, address, strings.NewReader(text))
	if err != nil {
		tb.Fatal(err)
	}
	if text != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	_, err = io.Copy(to, resp.Body)
	_ = resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		tb.Fatalf("%s: %s, %v", address, resp.Status, err)
	}
}

// BenchmarkExecTrue is the time of `true` over HTTP beside that of a new bash for
// it, in turns, so that both see the same machine.
func BenchmarkExecTrue(b *testing.B) {
	s := start(b, launch{})
	w, c := s.in("bench"), keeping(b)
	w.alive()
	const text = `{"command":"true"}`
	var ours, spawned []time.Duration
	for b.Loop() {
		begin := time.Now()
		fetch(b, c, http.MethodPost, s.url+w.at+"/exec", text, io.Discard)
		ours = append(ours, time.Since(begin))
		begin = time.Now()
		if err := exec.Command("bash", "-c", "true").Run(); err != nil {
			b.Fatal(err)
		}
		spawned = append(spawned, time.Since(begin))
	}
	p, q := p50(ours), p50(spawned)
	b.ReportMetric(float64(p.Microseconds()), "exec-p50-µs")
	b.ReportMetric(float64(q.Microseconds()), "bash-p50-µs")
	b.ReportMetric(float64(p)/float64(q), "exec/bash")
	b.ReportMetric(float64(ours[len(ours)*99/100].Microseconds()), "exec-p99-µs")
}

// BenchmarkExecOutput is 100 MB through exec/stream, and into the log and out of it.
func BenchmarkExecOutput(b *testing.B) {
	const size = 100e6
	for _, way := range []string{"stream", "logs"} {
		b.Run(way, func(b *testing.B) {
			s := start(b, launch{})
			w, c := s.in("bench"), keeping(b)
			w.alive()
			grew := watchMemory(s)
			var took time.Duration
			for b.Loop() {
				begin := time.Now()
				var n xs
				if way == "stream" {
					fetch(b, c, http.MethodPost, s.url+w.at+"/exec/stream", asJSON(body{"command": hundredMB}), &n)
				} else {
					id := w.run(hundredMB + " # in the log").CommandID
					fetch(b, c, http.MethodGet, s.url+"/session/bench/commands/"+id+"/logs", "", &n)
				}
				took += time.Since(begin)
				if n < size {
					b.Fatalf("%d bytes came", n)
				}
			}
			b.ReportMetric(size*float64(b.N)/1e6/took.Seconds(), "MB/s")
			b.ReportMetric(float64(grew())/1024, "growth-MiB")
		})
	}
}

// xs counts the letter x.
type xs int

func (e *xs) Write(p []byte) (int, error) {
	*e += xs(bytes.Count(p, []byte("x")))
	return len(p), nil
}

// TestExecIsQuick: F-059, on a machine that does nothing else.
func TestExecIsQuick(t *testing.T) {
	onlyFull(t)
	t.Parallel()
	const limit = 100 * time.Millisecond
	s := start(t, launch{})
	w, c := s.in("quick"), keeping(t)
	w.alive()
	var list []time.Duration
	for range 2000 {
		begin := time.Now()
		fetch(t, c, http.MethodPost, s.url+w.at+"/exec", `{"command":"true"}`, io.Discard)
		list = append(list, time.Since(begin))
	}
	median := p50(list)
	if median > limit {
		t.Errorf("an exec of true takes %v at the median", median)
	}
	figure(t, "exec of true over HTTP: %v at the median of %d, %v at worst", median.Round(10*time.Microsecond),
		len(list), list[len(list)-1].Round(10*time.Microsecond))
}
