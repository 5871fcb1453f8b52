package tests

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// screenWithin is how much later than a round trip a screen may be there, and screenBytes how large it may be with its
// event around it.
const (
	screenWithin = 50 * time.Millisecond
	screenBytes  = 10 << 10
)

// TestScreenWithinARoundTrip: on a line with a round trip of 500 ms and 1 MB/s a viewer with history=lazy sees the
// screen of a terminal with a full history within a round trip, by both transports.
func TestScreenWithinARoundTrip(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	info := s.create("bash", "--norc", "-c",
		`for i in $(seq 6000); do printf '\e[3%dm%d\e[m %070d\n' $((i%8)) $i $i; done; exec cat`)
	eventually(t, "all lines", func() bool { return strings.Contains(s.text(info.ID), "0006000") })
	slow := slowLine(t, strings.TrimPrefix(s.url, "http://"), lineDelay, slowRate)
	for name, first := range map[string]func(ctx context.Context, addr string) ([]byte, error){
		"websocket": func(ctx context.Context, addr string) ([]byte, error) {
			far := *s
			far.url = "http://" + addr
			conn, err := far.dialJSON(ctx, "/pty/"+info.ID+"/ws?history=lazy")
			if err != nil {
				return nil, err
			}
			defer conn.Close()
			_, b, err := conn.read()
			return b, err
		},
		"stream": func(ctx context.Context, addr string) ([]byte, error) {
			url := "http://" + addr + "/pty/" + info.ID + "/stream?history=lazy"
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return nil, err
			}
			req.Header.Set("Authorization", s.bearer())
			resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
			if err != nil {
				return nil, err
			}
			defer resp.Body.Close()
			return untilBlankLine(resp.Body)
		},
	} {
		var took time.Duration
		var size int
		for range 3 { // the best of three: the machine may be busy
			begin := time.Now()
			b, err := first(s.ctx(), slow)
			if err != nil || !bytes.Contains(b, []byte("006000")) {
				t.Fatalf("%s: %.200s, %v", name, b, err)
			}
			if now := time.Since(begin); took == 0 || now < took {
				took, size = now, len(b)
			}
		}
		t.Logf("%s: %d bytes after %v, a round trip is %v", name, size, took, 2*lineDelay)
		if took > 2*lineDelay+screenWithin || size > screenBytes {
			t.Errorf("%s: %d bytes after %v", name, size, took)
		}
	}
}

// untilBlankLine reads the first event of a stream.
func untilBlankLine(r io.Reader) (b []byte, err error) {
	part := make([]byte, 4<<10)
	for err == nil && !bytes.Contains(b, []byte("\n\n")) {
		var n int
		n, err = r.Read(part)
		b = append(b, part[:n]...)
	}
	return b, err
}

// TestFloodSeenOnASlowLine: on a line with a round trip of 500 ms and 1 MB/s (the long form) a viewer sees a new screen
// of a terminal that prints without end at least once a second, and gets at most 20 KB for that. On slower lines it
// still sees one a second, though not evenly: now and then the server tries whether the line takes everything.
func TestFloodSeenOnASlowLine(t *testing.T) {
	t.Parallel()
	const most, warm = 20_000, 4 * time.Second // until it is behind
	s := start(t, launch{})
	id := s.create("bash", "--norc", "-c", `while :; do seq -f 'line %050.0f of a flood' 1000000; done`).ID
	type slow struct {
		rate int
		gap  time.Duration
	}
	lines := []slow{{100_000, 4 * time.Second}} // a busy machine prints no more than 1 MB/s
	if full() {
		lines = []slow{{slowRate, time.Second}, {20_000, 5 * time.Second}}
	}
	for _, line := range lines {
		far := *s
		far.url = "http://" + slowLine(t, strings.TrimPrefix(s.url, "http://"), lineDelay, line.rate)
		conn, err := far.dialJSON(s.ctx(), "/pty/"+id+"/ws?history=lazy")
		s.must(err)
		var gap time.Duration
		var all, screens int
		begin := time.Now()
		last := begin
		for end := begin.Add(warm + time.Duration(times(8, 30))*time.Second); time.Now().Before(end); {
			f, b, err := conn.read()
			s.must(err)
			switch {
			case time.Since(begin) < warm:
				last = time.Now()
				continue
			case f.Event == "snapshot":
				screens++
				gap, last = max(gap, time.Since(last)), time.Now()
			}
			all += len(b)
		}
		_ = conn.Close()
		seconds := time.Since(begin.Add(warm)).Seconds()
		t.Logf("%d bytes/s: %.1f screens a second, at most %v apart, %d bytes each", line.rate,
			float64(screens)/seconds, gap.Round(time.Millisecond), all/max(screens, 1))
		if float64(screens) < seconds || gap > line.gap || all/screens > most {
			t.Errorf("that is not good enough")
		}
	}
}
