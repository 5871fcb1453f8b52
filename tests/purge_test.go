package tests

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// atOnce makes requests at the same time and returns the codes of their answers.
func (s *server) atOnce(requests ...request) []int {
	codes := make([]int, len(requests))
	var ready, done sync.WaitGroup
	ready.Add(len(requests))
	for i, r := range requests {
		done.Go(func() {
			ready.Done()
			ready.Wait()
			codes[i] = s.do(r).status
		})
	}
	done.Wait()
	return codes
}

// TestPurgeBesideRestart: whoever comes first, nothing is half: a terminal that lives on has its journal, one
// that was purged has no file, no record and no process.
func TestPurgeBesideRestart(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	const tries = 60
	for i := range tries {
		id := s.create("sh", "-c", `seq 50; [ -e "$0" ] || exec sleep 0.01`, filepath.Join(s.how.dir, "no such file")).ID
		s.exit(id)
		list := []request{{"DELETE", "/pty/" + id + "?purge=1", "", nil}, {"POST", "/pty/" + id + "/restart", "{}", map[string]string{"Content-Type": "application/json"}}, {"DELETE", "/session/test/pty?purge=1", "", nil}}
		codes := s.atOnce(list[i%2], list[1-i%2], list[min(2, i%6)])
		for _, c := range codes {
			if c != 200 && c != 404 && c != 409 {
				t.Errorf("try %d: the answers are %v", i, codes)
			}
		}
		if left, _ := os.ReadDir(filepath.Join(s.how.dir, "terminals", id)); s.get("/pty/"+id).status != 404 || len(left) > 0 {
			t.Fatalf("try %d: answered %v, the terminal is there: %s, its files: %v", i, codes, s.get("/pty/"+id).body, left)
		}
	}
	if left, err := os.ReadDir(filepath.Join(s.how.dir, "terminals")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
}

// TestDeleteBesideRestart: a deleted terminal is one of which no program runs, and whose screen is there.
func TestDeleteBesideRestart(t *testing.T) {
	t.Parallel()
	s := start(t, launch{listen: freePort(t)})
	const tries = 30
	var ids []string
	for i := range tries {
		id := s.create("sh", "-c", "echo generation; exec cat <&-").ID
		s.exit(id)
		list := []request{{"DELETE", "/pty/" + id, "", nil}, {"POST", "/pty/" + id + "/restart", "{}", map[string]string{"Content-Type": "application/json"}}}
		s.atOnce(list[i%2], list[1-i%2])
		if now := s.info(id); now.State == "running" || !strings.Contains(s.text(id), "generation") {
			t.Errorf("try %d: it is %s", i, now.State)
		}
		ids = append(ids, id)
	}
	seqs := map[string]uint64{}
	for _, id := range ids {
		seqs[id] = s.info(id).Seq
	}
	s.kill()
	s.again()
	for _, id := range ids {
		if i := s.info(id); i.Seq < seqs[id] || s.damage(id) != "" {
			t.Errorf("position %d was %d; %s", i.Seq, seqs[id], s.damage(id))
		}
	}
}

// TestPurgeTwiceAtOnce is no error, whoever is faster.
func TestPurgeTwiceAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	for range 40 {
		id := s.create("sh", "-c", "seq 5").ID
		purge := request{"DELETE", "/pty/" + id + "?purge=1", "", nil}
		for _, c := range s.atOnce(purge, purge, purge) {
			if c != 200 && c != 404 {
				t.Fatalf("an answer is %d", c)
			}
		}
		s.get("/pty/" + id).wants(404)
	}
}

// TestPurgeBesideReaders: who follows the output of a terminal that is purged sees its end, and who reads its
// recording gets all of it or is told that it is gone; the server goes on.
func TestPurgeBesideReaders(t *testing.T) {
	t.Parallel()
	s := start(t, launch{flags: []string{"--snapshot-interval", "50ms"}})
	for i := range 20 {
		id := s.create("sh", "-c", "seq 20000; exec cat").ID
		s.await(id, "^20000$")
		v := s.watch(transports[i%len(transports)], id)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if r := s.get("/pty/" + id + "/recording?follow=1"); r.status != 200 && r.status != 404 {
					t.Errorf("the recording: %d %.200s", r.status, r.body)
				}
			})
		}
		s.call("DELETE", "/pty/"+id+"?purge=1", "").wants(200)
		wg.Wait()
		v.end()
		s.get("/pty/" + id).wants(404)
		if _, err := os.Stat(filepath.Join(s.how.dir, "terminals", id)); err == nil {
			t.Errorf("files of %s are left", id)
		}
	}
}
