package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// reached waits for a position, which is the last one: the program prints just so much.
func (s *server) reached(id string, want uint64) uint64 {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%s is at %d", id, want), func() bool { return s.info(id).Seq >= want })
	if seq := s.info(id).Seq; seq != want {
		s.t.Errorf("%s is at %d, not at %d", id, seq, want)
	}
	return want
}

// TestPositionsOnAFullDisk: output that was shown and not kept counts also for the servers after a kill, and the gap is
// told by the terminal, by the server and in the recording; a since of before matches no other bytes.
func TestPositionsOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "1m")
	s := start(t, disk.launch("--snapshot-interval", "100ms"))
	id := s.create("bash", "-c", `while read n; do seq -f 'line %08g of the flood' $n; done`).ID
	s.input(id, "60000\n")
	const line = 28 // bytes with CR LF
	shown := s.reached(id, uint64(len("60000\r\n")+60000*line))
	s.degraded("disk is full")
	s.how.shell = fmt.Sprintf(`exec nsenter -t %d -m "$0" "$@"`, s.keeperPID())
	for round := range 3 {
		s.kill()
		s.again()
		i := s.info(id)
		if i.Seq < shown || i.State != "running" {
			t.Fatalf("round %d: position %d was %d, %s", round, i.Seq, shown, i.State)
		}
		if damage := s.damage(id); !strings.Contains(damage, "missing") {
			t.Errorf("round %d: the terminal says %q", round, damage)
		}
		if cast := s.get("/pty/" + id + "/recording").wants(200).body; !strings.Contains(cast, "bytes lost") {
			t.Errorf("round %d: the recording does not tell of the gap", round)
		}
		var health wire.Health
		if s.get("/healthz").wants(200).into(&health); health.Status != "degraded" || *health.Damaged != 1 {
			// the journal may have got a page that somebody else gave back
			t.Errorf("round %d: the server says %+v", round, health)
		}
		s.input(id, "2000\n")
		shown = s.reached(id, i.Seq+uint64(len("2000\r\n")+2000*line))
	}
	disk.inside(s.pid(), "mount -o remount,size=512m "+disk.dir)
	s.lossless()
	s.input(id, "10\n")
	shown = s.reached(id, shown+uint64(len("10\r\n")+10*line))
	s.kill()
	s.again()
	if i := s.info(id); i.Seq != shown {
		t.Errorf("position %d was %d", i.Seq, shown)
	}
	if cast := s.get("/pty/" + id + "/recording").body; strings.Count(cast, "bytes lost") == 0 ||
		!strings.Contains(cast, "line 00000010") {
		t.Error("the recording has not the gap and what came after it")
	}
}

// TestPositionsOfATerminalMadeOnAFullDisk: nothing of it can be written down, and still no position comes twice.
func TestPositionsOfATerminalMadeOnAFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "1m")
	s := start(t, disk.launch("--snapshot-interval", "100ms"))
	full := s.create("bash", "-c", "seq -w 300000; read x").ID
	s.reached(full, 300000*8)
	s.degraded("disk is full")
	id := s.create("bash", "-c", "while read n; do seq $n; done").ID
	s.input(id, "1000\n")
	const printed = 6 + 3893 + 1000 // the echo, what seq prints, and CR
	shown := s.reached(id, printed)
	s.how.shell = fmt.Sprintf(`exec nsenter -t %d -m "$0" "$@"`, s.keeperPID())
	for range 2 {
		s.kill()
		s.again()
		i := s.info(id)
		if i.Seq < shown || i.State != "running" || !strings.Contains(s.damage(id), "missing") {
			t.Fatalf("position %d was %d: %+v, %s", i.Seq, shown, i, s.damage(id))
		}
		v := &viewer{t: t, kind: sse, events: s.rawStream(fmt.Sprintf("/pty/%s/stream?since=%d", id, shown), 0)}
		e, err := v.next()
		kept := e.Kind == client.KindResume && e.Seq == shown && i.Seq == shown // there was room for so few bytes
		if err != nil || !kept && (e.Kind != client.KindSnapshot || e.Seq < i.Seq) {
			t.Errorf("who has seen %d gets %s at %d, %v", shown, e.Kind, e.Seq, err)
		}
		v.close()
		s.input(id, "1000\n")
		shown = s.reached(id, i.Seq+printed)
	}
	disk.inside(s.pid(), "mount -o remount,size=512m "+disk.dir)
	s.lossless()
	s.input(id, "1000\n")
	shown = s.reached(id, shown+printed)
	s.kill()
	s.again()
	if i := s.info(id); i.Seq != shown {
		t.Errorf("position %d was %d", i.Seq, shown)
	}
}

// TestDataThatAreGone: files that somebody removed are told, and positions do not go back.
func TestDataThatAreGone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, files string }{
		{"data", "data.*"}, {"data and screens", "data.*|screen.*"}, {"journal", "data.*|index.*"},
		{"all but the record",
			"data.*|index.*|screen.*|positions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{listen: freePort(t), flags: []string{"--snapshot-interval", "200ms"}})
			runs := s.create("bash", "-c", "seq 50000; read x; exit 3").ID
			ended := s.create("bash", "-c", "seq 50000").ID
			s.exit(ended)
			const printed = 338894
			seqs := map[string]uint64{runs: s.reached(runs, printed), ended: s.reached(ended, printed)}
			// Records are written behind the output, also the last one of a terminal that ended.
			for id, seq := range seqs {
				eventually(t, "a record with the position", func() bool {
					b, err := os.ReadFile(filepath.Join(s.how.dir, "terminals", id, "meta"))
					return err == nil && strings.Contains(string(b), fmt.Sprintf(`"seq":%d`, seq))
				})
			}
			s.kill()
			for id := range seqs {
				for pattern := range strings.SplitSeq(c.files, "|") {
					files, _ := filepath.Glob(filepath.Join(s.how.dir, "terminals", id, pattern))
					for _, f := range files {
						s.must(os.Remove(f))
					}
				}
			}
			s.again()
			for id, was := range seqs {
				eventually(t, "the damage is told", func() bool { return s.damage(id) != "" })
				before := s.info(id).Seq
				s.text(id)
				if after := s.info(id).Seq; before < was || after < was {
					t.Errorf("position %d, with its screen %d, was %d", before, after, was)
				}
			}
			s.input(runs, "\n")
			if e := s.exit(runs); *e.Code != 3 {
				t.Errorf("%+v", e)
			}
			if i := s.restart(ended); i.Seq < seqs[ended] {
				t.Errorf("after a restart position %d was %d", i.Seq, seqs[ended])
			}
			s.exit(ended)
		})
	}
}

// TestDamageInARecordingIsTold: what the recording says is damaged the terminal and the server say, too.
func TestDamageInARecordingIsTold(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	id := s.create("bash", "-c", "seq 1000").ID
	s.exit(id)
	s.stop()
	path := filepath.Join(s.how.dir, "terminals", id, "data.0")
	b, err := os.ReadFile(path)
	s.must(err)
	b[100] ^= 1
	s.must(os.WriteFile(path, b, 0o600))
	s.again()
	if cast := s.get("/pty/" + id + "/recording").wants(200).body; !strings.Contains(cast, "damaged from here") {
		t.Fatal("the recording does not tell")
	}
	if damage := s.damage(id); !strings.Contains(damage, "damaged") {
		t.Errorf("the terminal says %q", damage)
	}
	var health wire.Health
	if s.get("/healthz").wants(200).into(&health); *health.Damaged != 1 || health.Status != "ok" {
		t.Errorf("the server says %+v", health)
	}
}
