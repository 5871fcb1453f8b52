package tests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// flood is a program whose output is known byte by byte: numbered lines of
// floodLine bytes, until it is told to stop.
type flood struct {
	s    *server
	id   string
	stop string // the file whose existence ends it
}

const (
	// floodLine is the length of a line with its CR LF, in bytes.
	floodLine = 10
	// floodHistory is the history of its terminal, in lines: each snapshot is
	// compared whole.
	floodHistory = 300
)

// flood starts one that looks for the end after each piece of so many lines.
func (s *server) flood(piece int) *flood {
	s.t.Helper()
	dir := s.t.TempDir()
	history := floodHistory
	i := s.createWith(wire.CreateTerminal{Cwd: dir, Cols: new(80), Rows: new(24), Scrollback: &history,
		Cmd: []string{"bash", "-c", fmt.Sprintf(`n=1; while [ ! -e stop ]; do seq -f %%08.0f $n $((n+%d-1)); `+
			`n=$((n+%[1]d)); done`, piece)}})
	return &flood{s, i.ID, filepath.Join(dir, "stop")}
}

func (f *flood) end() { f.s.must(os.WriteFile(f.stop, nil, 0o600)) }

// floodBytes is the output from byte from up to byte to.
func floodBytes(from, to uint64) []byte {
	first := from / floodLine
	b := make([]byte, 0, to-first*floodLine+floodLine)
	for n := first; n*floodLine < to; n++ {
		digits := strconv.AppendUint(nil, n+1, 10)
		b = append(b, "00000000"[len(digits):]...)
		b = append(append(b, digits...), "\r\n"...)
	}
	return b[from-first*floodLine : to-first*floodLine]
}

// floodText is what its terminal shows after seq bytes, without blank rows at the
// end.
func floodText(seq uint64) string {
	const kept = floodHistory + 24
	line := seq / floodLine // the cursor's, from 0
	var b []byte
	for n := max(line, kept-1) - (kept - 1); n < line; n++ {
		b = fmt.Appendf(b, "%08d\n", n+1)
	}
	return string(append(b, fmt.Appendf(nil, "%08d", line+1)[:min(seq%floodLine, 8)]...))
}

// exact follows a viewer to the exit and checks every byte of every event.
// Each event is counted.
func (v *viewer) exact(events *atomic.Int64) error {
	for v.exit == nil {
		before := v.seq
		e, err := v.next()
		if err != nil {
			return err
		}
		if err := v.checkFlood(before, e); err != nil {
			return err
		}
		events.Add(1)
	}
	if _, err := v.events.Next(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after the exit: %w", err)
	}
	return nil
}

func (v *viewer) checkFlood(before uint64, e client.Event) error {
	switch e.Kind {
	case client.KindSnapshot:
		if got, want := strings.TrimRight(v.all(), "\n"), strings.TrimRight(floodText(e.Seq), "\n"); got != want {
			return fmt.Errorf("the %s snapshot at %d shows\n…%s\nwant\n…%s", e.Reason, e.Seq,
				got[max(0, len(got)-300):], want[max(0, len(want)-300):])
		}
	case client.KindData:
		if e.Seq < before {
			return fmt.Errorf("%d follows %d", e.Seq, before)
		}
		if want := floodBytes(before, e.Seq); !bytes.Equal(e.Data, want) {
			return fmt.Errorf("from %d to %d: %d bytes, want %d: %.60q, want %.60q", before, e.Seq, len(e.Data),
				len(want), e.Data, want)
		}
	case client.KindExit:
		if e.Seq != v.seq {
			return fmt.Errorf("the exit at %d comes after output up to %d", e.Seq, v.seq)
		}
	}
	return nil
}

// TestJoiningAFloodHasNoGapAndNoRepeat: F-008.
func TestJoiningAFloodHasNoGapAndNoRepeat(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	f := s.flood(1000)
	joining := 20
	if raceEnabled {
		joining = 8 // everything is ten times slower
	}
	type result struct {
		v   *viewer
		err error
	}
	results := make(chan result, joining)
	counts := make([]atomic.Int64, joining)
	for i := range joining {
		v, err := s.connect(transports[i%len(transports)], f.id)
		s.must(err)
		s.must(v.checkFlood(0, v.first))
		v.blind = i >= len(transports) // some draw everything
		go func() { results <- result{v, v.exact(&counts[i])} }()
		eventually(t, "the viewer follows", func() bool { return counts[i].Load() > 3 || len(results) > 0 })
	}
	eventually(t, "all viewers follow", func() bool {
		for i := range counts {
			if counts[i].Load() < 30 {
				return len(results) > 0
			}
		}
		return true
	})
	f.end()
	var total uint64
	for range joining {
		r := <-results
		if r.err != nil {
			t.Errorf("%s: %v", r.v.kind, r.err)
			continue
		}
		if total == 0 {
			total = r.v.seq
		}
		if r.v.seq != total || *r.v.exit.Code != 0 {
			t.Errorf("%s ended at %d, another at %d: %+v", r.v.kind, r.v.seq, total, r.v.exit)
		}
		// The viewer's own history is longer than the terminal's.
		if !r.v.blind && !strings.HasSuffix(strings.TrimRight(r.v.all(), "\n"),
			strings.TrimRight(floodText(total), "\n")) {
			t.Errorf("%s shows\n%s", r.v.kind, r.v.screen())
		}
	}
	if got := s.text(f.id); strings.TrimRight(got, "\n") != strings.TrimRight(floodText(total), "\n") {
		t.Errorf("after %d bytes the server shows\n%s", total, got[max(0, len(got)-300):])
	}
}

// TestASlowViewerStopsNobody: F-031. One viewer reads nothing until the program
// has ended.
func TestASlowViewerStopsNobody(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	f := s.flood(20000)
	dialer := &websocket.Dialer{NetDialContext: dialSmall}
	socket, err := s.dialWith(s.ctx(), dialer, "/pty/"+f.id+"/ws", nil)
	s.must(err)
	slow := []*viewer{
		{t: t, kind: wsJSON, events: socket, blind: true},
		{t: t, kind: sse, events: s.rawStream("/pty/"+f.id+"/stream", small), blind: true},
	}
	for _, v := range slow {
		t.Cleanup(v.close)
	}
	healthy := s.watch(wsBinary, f.id)
	healthy.blind = true
	// More than the server queues and the kernel buffers for one viewer.
	const enough = 6 << 20
	for first := healthy.seq; healthy.seq < first+enough; {
		before := healthy.seq
		e, err := healthy.next()
		if err != nil {
			t.Fatalf("at %d of %d: %v; the server is at %d", healthy.seq, first+enough, err, s.info(f.id).Seq)
		}
		s.must(healthy.checkFlood(before, e))
	}
	f.end()
	var events atomic.Int64
	s.must(healthy.exact(&events))
	if rss := status(t, s.pid(), "VmRSS"); !raceEnabled && rss > 200<<10 {
		t.Errorf("the server takes %d kB", rss)
	}
	for _, v := range slow {
		if err := v.exact(&events); err != nil {
			t.Errorf("%s: %v", v.kind, err)
		}
		if v.seq != healthy.seq || len(v.shots) < 2 || v.shots[len(v.shots)-1] != "lag" {
			t.Errorf("%s: ended at %d of %d with snapshots %v", v.kind, v.seq, healthy.seq, v.shots)
		}
	}
}

// TestTheEndWaitsForItsReader: a viewer that has not read everything yet when
// the program ends, and says something meanwhile, gets the rest and the exit.
func TestTheEndWaitsForItsReader(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	const lines = 60_000
	id := s.create("bash", "-c", fmt.Sprintf("read -r; seq -f %%08.0f %d", lines)).ID
	dialer := &websocket.Dialer{NetDialContext: dialSmall}
	socket, err := s.dialWith(s.ctx(), dialer, "/pty/"+id+"/ws", nil)
	s.must(err)
	v := &viewer{t: t, kind: wsJSON, events: socket, blind: true}
	t.Cleanup(v.close)
	v.until("snapshot", func() bool { return len(v.shots) == 1 })
	s.input(id, "\n")
	s.exit(id)
	for range 3 {
		s.must(socket.send(map[string]any{"type": "ping", "t": 1}))
		s.must(socket.send(map[string]any{"type": "input", "data": "too late"}))
	}
	if exit := v.end(); *exit.Code != 0 || v.seq != 2+lines*floodLine { // the echo of the Enter key first
		t.Errorf("%+v at %d", exit, v.seq)
	}
}

// small is the receive buffer of a slow viewer, in bytes: more than a segment of
// the loopback, or the kernel sends a piece only when its persist timer fires.
const small = 128 << 10

func dialSmall(_ context.Context, network, address string) (net.Conn, error) {
	conn, err := net.Dial(network, address)
	if err == nil {
		err = conn.(*net.TCPConn).SetReadBuffer(small)
	}
	return conn, err
}

// TestTheLastBytesBeforeTheExitArrive: what a program writes just before it ends
// reaches those who watch and the screen, every time.
func TestTheLastBytesBeforeTheExitArrive(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for i := range 20 {
		id := s.create("bash", "-c", "read -r; seq 1 500; printf LAST-BYTES; exit 7").ID
		v := s.watch(transports[i%len(transports)], id)
		s.input(id, "\n")
		exit := v.end()
		if *exit.Code != 7 || exit.Signal != "" || exit.Reason != "exit" {
			t.Errorf("%d: %+v", i, exit)
		}
		if !bytes.HasSuffix(v.text, []byte("500\r\nLAST-BYTES")) || v.last.Seq != v.seq {
			t.Errorf("%d, %s: ends with %q at %d of %d", i, v.kind, v.text[max(0, len(v.text)-20):], v.seq, v.last.Seq)
		}
		if !strings.Contains(s.text(id), "\n500\nLAST-BYTES\n") {
			t.Errorf("%d: the screen:\n%s", i, s.text(id))
		}
	}
	for range 20 { // nobody watches, and the program is fast
		id := s.create("printf", "done").ID
		if exit := s.exit(id); *exit.Code != 0 {
			t.Errorf("%+v", exit)
		}
		if text := s.text(id); !strings.HasPrefix(text, "done\n") {
			t.Errorf("the screen:\n%s", text)
		}
	}
}
