package tests

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertty/evertty/wire"
)

// crowdSize is how many watch one terminal, of every kind, role, size and speed.
const crowdSize = 100

// crowdTime is how long: the requirement says 60 s.
func crowdTime() time.Duration {
	if full() {
		return time.Minute
	}
	return 6 * time.Second
}

// TestTortureViewers: a hundred viewers of one terminal that prints and is resized, some slow, some that come and go,
// with the keyboard locked and given away: at the end all show the same screen and history as the server.
func TestTortureViewers(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	info := s.createWith(wire.CreateTerminal{Cols: new(80), Rows: new(24), SizePolicy: "latest", Cmd: []string{"bash",
		"--norc", "-c", `while [ ! -e stop ]; do n=$((n+1)); printf '\033[3%dmline %d é漢\033[m\r\n' $((n%8)) $n; ` +
			`sleep 0.01; done; echo the end; exec cat`}, Cwd: t.TempDir()})
	tickets := []string{"", "&ticket=" + s.ticket(info.ID, "read"), "&ticket=" + s.ticket(info.ID, "write")}
	over := time.Now().Add(crowdTime())
	var crowd sync.WaitGroup
	viewers := make([]*viewer, crowdSize)
	for i := range viewers {
		crowd.Go(func() { viewers[i] = s.inCrowd(info.ID, i, tickets[i%len(tickets)], over) })
	}
	s.quarrel(info.ID, over)
	s.must(os.WriteFile(filepath.Join(info.Cwd, "stop"), nil, 0o600))
	crowd.Wait()
	want := ""
	for i, v := range viewers {
		if v == nil {
			t.Errorf("viewer %d did not come to the end", i)
			continue
		}
		switch got := v.all(); {
		case want == "":
			want = got
		case got != want || v.cols != viewers[0].cols || v.rows != viewers[0].rows:
			t.Errorf("viewer %d (%s, %dx%d) ends otherwise than the first one (%dx%d)", i, v.kind, v.cols, v.rows,
				viewers[0].cols, viewers[0].rows)
		}
	}
	if got := s.text(info.ID); !strings.Contains(want, "the end") || !strings.Contains(want, strings.TrimSpace(got)) {
		t.Errorf("the viewers end with\n%s\nand the server with\n%s", want, got)
	}
}

// inCrowd is viewer number i: it connects again all the time, reads as fast or slow as it is, and follows to the end
// behind over; nil when it could not.
func (s *server) inCrowd(id string, i int, ticket string, over time.Time) *viewer {
	random := rand.New(rand.NewPCG(uint64(i), 1))
	for {
		v, err := s.crowdViewer(id, i, ticket, random)
		if err != nil {
			s.t.Errorf("viewer %d: %v", i, err)
			return nil
		}
		stay := time.Now().Add(time.Duration(random.IntN(2000)) * time.Millisecond)
		last := stay.After(over)
		for last || time.Now().Before(stay) {
			if last && strings.Contains(v.all(), "the end") && v.calm() {
				return v
			}
			if _, err := v.next(); err != nil {
				s.t.Errorf("viewer %d: %v", i, err)
				return nil
			}
			if i%10 == 0 && !last {
				time.Sleep(5 * time.Millisecond) // a slow one
			}
		}
		v.close()
	}
}

// calm reports whether the viewer has a size that does not change any more: nobody asks for another one at the end.
func (v *viewer) calm() bool { return v.cols == crowdCols }

// crowdCols is the width that the terminal gets at the end.
const crowdCols = 77

func (s *server) crowdViewer(id string, i int, ticket string, random *rand.Rand) (*viewer, error) {
	query := fmt.Sprintf("?name=v%d&cols=%d&rows=%d%s", i, 40+random.IntN(80), 10+random.IntN(30), ticket)
	v := &viewer{t: s.t, kind: transports[i%2]}
	if ticket != "" {
		v.kind = wsJSON
	}
	var err error
	if v.kind == sse {
		v.events, err = s.Stream(s.ctx(), id)
	} else {
		v.events, err = s.dialJSON(s.ctx(), "/pty/"+id+"/ws"+query)
	}
	if err == nil {
		s.t.Cleanup(v.close)
		_, err = v.next()
	}
	return v, err
}

// quarrel locks, hands over and unlocks the keyboard, and removes nobody, until over. Then the terminal has a fixed
// size.
func (s *server) quarrel(id string, over time.Time) {
	random := rand.New(rand.NewPCG(1, 2))
	for time.Now().Before(over) {
		list, err := s.API().ListViewers(s.ctx(), wire.TerminalRef{ID: id})
		if err != nil || len(list.Viewers) == 0 {
			continue
		}
		one := list.Viewers[random.IntN(len(list.Viewers))]
		for _, action := range []string{"lock", "request", "grant", "unlock"} {
			_, _ = s.API().ControlTerminal(s.ctx(), wire.ControlTerminal{TerminalRef: wire.TerminalRef{ID: id},
				Action: action, Viewer: one.ID}) // who has left, looks only or does not hold it is refused
		}
		time.Sleep(20 * time.Millisecond)
	}
	s.call(http.MethodPatch, "/pty/"+id, `{"size_policy":"fixed","cols":77,"rows":30}`).wants(200)
}
