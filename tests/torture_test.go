package tests

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/tests/polling"
	"github.com/evertty/evertty/wire"
)

// full reports whether the tests run in their long form (`make torture`).
func full() bool { return os.Getenv("EVERTTY_TORTURE") != "" }

// times is how many times something is done in the short and in the long form.
func times(short, long int) int {
	if full() {
		return long
	}
	return short
}

// onlyFull skips a test that measures or takes minutes.
func onlyFull(t testing.TB) {
	t.Helper()
	if !full() {
		t.Skip("only in `make torture`")
	}
}

// figure prints a line for docs/operate/durability.md.
func figure(t testing.TB, format string, args ...any) {
	t.Helper()
	t.Logf("figure: "+format, args...)
}

// okBody is the body of a reply that must be 200, read from its connection.
func okBody(t testing.TB, conn net.Conn) io.Reader {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 256<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(resp.Body)
		t.Fatalf("status %s: %.300s", resp.Status, b)
	}
	return resp.Body
}

// raw is the whole raw recording.
func (s *server) raw(id string) []byte {
	s.t.Helper()
	return []byte(s.get("/pty/" + id + "/recording?format=raw").wants(200).body)
}

// follower goes on where the stream before it was cut.
type follower struct {
	f       *numbered
	seq     uint64
	resumed int    // streams that went on without a snapshot
	shots   int    // snapshots
	bytes   uint64 // data that was compared
}

// plainLook is how much output without a single escape sequence may come before a
// position that can be resumed, in bytes: behind more of it a viewer gets a
// snapshot instead.
const plainLook = 64 << 20

// follow reads a stream from the last position until it is cut, and compares
// everything. The first event must be a resume: the journal is long enough.
func (w *follower) follow(stream *strictSSE) error {
	first := true
	for {
		e, err := stream.Next()
		if err != nil {
			return cut(err)
		}
		plain := w.f.kind.name == "plain" && w.seq >= plainLook && e.Kind == client.KindSnapshot &&
			e.Reason == "connect"
		if first && !plain && (e.Kind != "resume" || e.Seq != w.seq || e.Cols != 80 || e.Rows != 24) {
			return fmt.Errorf("%s: since %d began with %s %s at %d, %dx%d", w.f.id, w.seq, e.Kind, e.Reason, e.Seq,
				e.Cols, e.Rows)
		}
		if first && !plain {
			w.resumed++
		}
		first = false
		if err := w.take(e); err != nil {
			return err
		}
	}
}

func (w *follower) take(e client.Event) error {
	switch e.Kind {
	case client.KindSnapshot:
		v := &viewer{events: &oneEvent{e}}
		_, _ = v.next()
		w.seq = e.Seq
		w.shots++
		return w.f.checkText(v.all(), e.Seq)
	case client.KindData:
		if e.Seq < w.seq {
			return fmt.Errorf("%s: %d follows %d", w.f.id, e.Seq, w.seq)
		}
		if want := w.f.kind.output(w.seq, e.Seq); !bytes.Equal(e.Data, want) {
			at := firstDifference(e.Data, want)
			return fmt.Errorf("%s: the event from %d to %d differs after %d: %.40q, want %.40q", w.f.id, w.seq, e.Seq,
				at, e.Data[at:], want[at:])
		}
		w.bytes += e.Seq - w.seq
		w.seq = e.Seq
	case client.KindExit:
		return fmt.Errorf("%s: it ended: %+v", w.f.id, e.Exit)
	}
	return nil
}

// cut is nil for the ways in which a connection to a killed server ends.
func cut(err error) error {
	var broken *net.OpError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &broken) ||
		strings.Contains(err.Error(), "is not the field") { // the last line was cut
		return nil
	}
	return err
}

// oneEvent is a stream of one event.
type oneEvent struct{ e client.Event }

func (o *oneEvent) Next() (client.Event, error) { return o.e, nil }
func (o *oneEvent) Close() error                { return nil }

// still is a terminal that does not change: whatever happens it must show the same.
type still struct {
	id, data string
	pid      int
}

// still starts one with a state that is more than text.
func (s *server) still() still {
	s.t.Helper()
	i := s.create("bash", "-c", `printf '\e]2;a title\amain\n\e[?1049h\e[?1002;1006h\e[?2004h`+
		`\e[5;20r\e[?6h\e(0\e[3;4Hlq\e(B\e[1;31mred \e[38;2;1;2;3mblue'; read -r; echo; exit 3`)
	s.await(i.ID, "red blue")
	shot, err := s.Snapshot(s.ctx(), i.ID, client.ANSI, client.AllHistory)
	s.must(err)
	return still{i.ID, shot.Data, i.PID}
}

func (s *server) checkStill(q still) {
	s.t.Helper()
	shot, err := s.Snapshot(s.ctx(), q.id, client.ANSI, client.AllHistory)
	s.must(err)
	if shot.Data != q.data {
		s.t.Errorf("the still terminal showed\n%q\nand shows\n%q", q.data, shot.Data)
	}
	if i := s.info(q.id); i.State != "running" || i.PID != q.pid || i.Title != "a title" || !i.AltScreen {
		s.t.Errorf("%+v", i)
	}
}

// longJournal keeps everything that a flood writes between two looks at it.
var longJournal = []string{"--journal-terminal-quota", "2GiB", "--journal-quota", "16GiB"}

// TestTortureKillsInAFlood: kill -9 of the server, again and again, in a flood of
// numbered lines. No byte may be lost or doubled, no program die. The answer to a
// query is never given twice; a kill between the note that it is given and the
// write to the terminal loses it.
func TestTortureKillsInAFlood(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), flags: longJournal})
	floods := []*numbered{s.numbered("plain"), s.numbered("styled"), s.numbered("plain")}
	followers := make([]*follower, len(floods))
	for i, f := range floods {
		followers[i] = &follower{f: f}
	}
	quiet := s.still()
	stop := filepath.Join(t.TempDir(), "stop")
	asker := s.create(program(t, "asker", stop)...)
	kills, early := times(8, 200), 0
	var slowest time.Duration
	for round := range kills {
		follow := s.followAll(followers)
		instant(time.Duration(rand.IntN(300)) * time.Millisecond)
		s.kill()
		s.must(follow())
		if round%4 == 3 { // a server that dies on its way up
			s.begin(s.serveFlags())
			instant(time.Duration(rand.IntN(150)) * time.Millisecond)
			s.must(s.cmd.Process.Kill())
			<-s.exited
			early++
		}
		begin := time.Now()
		s.again()
		slowest = max(slowest, time.Since(begin))
		for i, f := range floods {
			f.checkScreen(followers[i].seq)
			if end := f.checkRecording(); end < followers[i].seq {
				t.Errorf("round %d: %s: the recording ends at %d, seen was %d", round, f.id, end, followers[i].seq)
			}
			if is := s.info(f.id); is.State != "running" || is.PID != f.pid || !alive(f.pid) {
				t.Fatalf("round %d: %+v", round, is)
			}
		}
		s.checkStill(quiet)
		if t.Failed() {
			return
		}
	}
	var total, compared uint64
	resumed, shots := 0, 0
	for i, f := range floods {
		total += s.checkEndOfFlood(f)
		compared += followers[i].bytes
		resumed, shots = resumed+followers[i].resumed, shots+followers[i].shots
	}
	s.must(os.WriteFile(stop, nil, 0o600))
	answers := regexp.MustCompile(`asked \d+ lost \d+ wrong \d+`).FindString(s.await(asker.ID,
		`^asked \d+ lost \d+ wrong \d+$`))
	var asked, lost, wrong int
	if _, err := fmt.Sscanf(answers, "asked %d lost %d wrong %d", &asked, &lost, &wrong); err != nil || wrong != 0 ||
		lost > 1+(kills+early)/10 {
		t.Errorf("answers to queries: %s: %v", answers, err)
	}
	figure(t, "%d kills of the server in a flood (%d more on its way up): %.1f MB of output, 0 bytes lost, "+
		"0 doubled, 0 programs dead; slowest start %v; %d streams resumed with %.1f MB of data "+
		"and %d snapshots, all exact; queries: %s",
		kills, early, float64(total)/1e6, slowest.Round(time.Millisecond), resumed, float64(compared)/1e6, shots,
		answers)
}

// instant waits for no fact: the moment at which it returns is what is tried.
func instant(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
}

// followAll starts the followers and returns what waits for their ends.
func (s *server) followAll(list []*follower) (wait func() error) {
	s.t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, len(list))
	for i, w := range list {
		stream := s.rawStream(fmt.Sprintf("/pty/%s/stream?since=%d", w.f.id, w.seq), 0)
		wg.Go(func() { errs[i] = w.follow(stream) })
	}
	return func() error { wg.Wait(); return errors.Join(errs...) }
}

// checkEndOfFlood ends a flood and checks all of it: the recording, the exact
// screen as `evertty render` makes it from the recording, and the true exit.
func (s *server) checkEndOfFlood(f *numbered) (seq uint64) {
	s.t.Helper()
	seq = f.quiet()
	if end := f.checkRecording(); end != seq {
		s.t.Errorf("%s: the recording ends at %d, the terminal at %d", f.id, end, seq)
	}
	shot, err := s.Snapshot(s.ctx(), f.id, client.ANSI, client.AllHistory)
	s.must(err)
	c := call(s.t, nil, "render", "--cols", "80", "--rows", "24", "--scrollback", fmt.Sprint(f.history), "--format",
		"ansi", "--all", "-")
	c.Stdin = bytes.NewReader(f.kind.tail(seq, f.history))
	if want := run(s.t, c).stdout; shot.Data != want {
		at := firstDifference([]byte(shot.Data), []byte(want))
		s.t.Errorf("%s: the screen differs from the rendered recording at %d: %.60q, want %.60q", f.id, at,
			shot.Data[at:], want[at:])
	}
	s.input(f.id, "\n")
	if exit := s.exit(f.id); exit.Code == nil || *exit.Code != 5 || exit.Reason != "exit" {
		s.t.Errorf("%s: %+v", f.id, exit)
	}
	return seq
}

// TestTortureKillsWhileCreating: kill -9 of the server while terminals are started
// and deleted. What was answered is so; no program runs that nobody can reach.
func TestTortureKillsWhileCreating(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), errors: true})
	kills := times(6, 100)
	promised, ended, unanswered := map[string]int{}, map[string]bool{}, 0
	for round := range kills {
		var mu sync.Mutex
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(func() {
				for {
					i, err := s.Create(t.Context(), "test", wire.CreateTerminal{Cmd: []string{"cat"}})
					if err != nil {
						return
					}
					mu.Lock()
					promised[i.ID] = i.PID
					victim := ""
					if len(promised) > 20 {
						for victim = range promised {
							break
						}
						delete(promised, victim)
					}
					mu.Unlock()
					if victim == "" {
						continue
					}
					err = s.Delete(t.Context(), victim, false)
					mu.Lock()
					ended[victim] = err == nil
					mu.Unlock()
					if err != nil {
						return
					}
				}
			})
		}
		instant(time.Duration(5+rand.IntN(200)) * time.Millisecond)
		s.kill()
		clients.Wait()
		s.again()
		for id, pid := range promised {
			if i := s.info(id); i.State != "running" || i.PID != pid || !alive(pid) {
				t.Errorf("round %d: %s with process %d was answered: %+v", round, id, pid, i)
			}
		}
		for id, answered := range ended {
			if i := s.info(id); answered && (i.State == "running" || i.Exit == nil) {
				t.Errorf("round %d: %s was deleted: %+v", round, id, i)
			}
			delete(ended, id)
		}
		unanswered = s.everyProgramIsListed(len(promised))
		if t.Failed() {
			return
		}
	}
	figure(t, "%d kills while terminals were started and deleted: all that was answered is so; "+
		"%d programs whose start was not answered can be reached", kills, unanswered)
}

// everyProgramIsListed checks that each living program is one that a user can see,
// and returns how many more than known there are.
func (s *server) everyProgramIsListed(known int) int {
	s.t.Helper()
	var stray []string
	running := map[string]bool{}
	ok := polling.Until(patience, func() bool {
		list, err := s.List(s.ctx(), "")
		s.must(err)
		running, stray = map[string]bool{}, nil
		for _, i := range list {
			if i.State == "running" {
				running[fmt.Sprint(i.PID)] = true
			}
		}
		for _, p := range marked(s.mark) {
			pid, line, _ := strings.Cut(p, ":")
			if strings.TrimSpace(line) == "cat" && !running[pid] {
				stray = append(stray, pid)
			}
		}
		return len(stray) == 0
	})
	if !ok {
		s.t.Errorf("programs that nobody can reach: %v", stray)
	}
	return len(running) - known
}

// startsPerKill bounds what each client starts while a keeper is killed and another one comes, which
// may take long on a slow machine.
const startsPerKill = 50

// TestTortureKeeperKillsWhileCreating: kill -9 of the keeper alone while terminals
// are started and deleted. A start is answered with the truth: it runs, or a
// refusal that says why; whatever was answered before goes on.
func TestTortureKeeperKillsWhileCreating(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t), errors: true})
	kills := times(4, 50)
	promised, refused := map[string]int{}, 0
	for round := range kills {
		var mu sync.Mutex
		var clients sync.WaitGroup
		killed := make(chan struct{})
		for range 4 {
			clients.Go(func() {
				for range startsPerKill {
					i, err := s.Create(t.Context(), "test", wire.CreateTerminal{Cmd: []string{"cat"}})
					mu.Lock()
					var problem *client.Error
					switch {
					case err == nil:
						promised[i.ID] = i.PID
					case errors.As(err, &problem) && problem.Status == http.StatusServiceUnavailable:
						refused++
					default:
						t.Errorf("round %d: %v", round, err)
					}
					mu.Unlock()
					select {
					case <-killed:
						return
					default:
					}
				}
			})
		}
		instant(time.Duration(rand.IntN(100)) * time.Millisecond)
		old := s.keeperPID()
		s.killKeeper()
		s.newKeeper(old)
		close(killed)
		clients.Wait()
		for id, pid := range promised {
			if i := s.info(id); i.State != "running" || i.PID != pid || !alive(pid) {
				t.Errorf("round %d: %s with process %d was answered: %+v", round, id, pid, i)
			}
			if len(promised) > 30 {
				s.must(s.Delete(s.ctx(), id, true))
				delete(promised, id)
			}
		}
		s.everyProgramIsListed(len(promised))
		if t.Failed() {
			return
		}
	}
	figure(t, "%d kills of the keeper while terminals were started: all that was answered is so; "+
		"%d starts were refused with the reason", kills, refused)
}
