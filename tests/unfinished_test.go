package tests

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/evertty/evertty/client"
)

// TestUnfinishedCharacter: the bytes of a character that a program did not finish are
// one U+FFFD each when it ends: in the last data, on the screen, in a recording, for
// `wait`, over a restart of the server and for the next generation.
func TestUnfinishedCharacter(t *testing.T) {
	t.Parallel()
	const want = "ab\ufffd\ufffd\ufffd"
	s := start(t, launch{})
	id := s.create("sh", "-c", `read x; printf 'ab\360\237\221'`).ID
	stream, err := s.Stream(s.ctx(), id)
	s.must(err)
	defer stream.Close()
	if e, err := stream.Next(); err != nil || e.Kind != client.KindSnapshot {
		t.Fatalf("the stream begins with %v, %v", e, err)
	} // the output comes as data: it is no part of the snapshot
	s.input(id, "\n")
	if got := outputOf(t, stream); !strings.HasSuffix(got, want) {
		t.Errorf("the viewer got %q, want %q at its end", got, want)
	}
	s.exit(id)
	look := func(when string) {
		t.Helper()
		if got := s.text(id); !strings.Contains(got, want) {
			t.Errorf("%s: the screen is %q", when, got)
		}
		w, err := s.Wait(s.ctx(), id, client.WaitRequest{For: "regex", Pattern: "ab\ufffd{3}", Since: new(uint64)})
		if err != nil || !strings.Contains(w.Text, want) {
			t.Errorf("%s: wait since 0: %v, %q", when, err, w.Text)
		}
		if got := s.says("logs", id, "--follow"); !strings.Contains(got, want) {
			t.Errorf("%s: logs are %q", when, got)
		}
		cast := s.get("/pty/" + id + "/recording?format=asciicast-v3").wants(200).body
		quoted, _ := json.Marshal("\ufffd\ufffd\ufffd")
		if !strings.Contains(cast, string(quoted)) {
			t.Errorf("%s: the recording is %s", when, cast)
		}
	}
	look("after the end")
	s.kill()
	s.again()
	look("after a crash of the server")
	s.restart(id)
	s.input(id, "\n")
	s.exit(id)
	if got := s.text(id); strings.Count(got, want) != 2 {
		t.Errorf("after a restart of the program the screen is %q", got)
	}
	s.kill()
	s.again()
	if got := s.text(id); strings.Count(got, want) != 2 {
		t.Errorf("after both the screen is %q", got)
	}
}

// outputOf is the output that a stream carries up to the exit.
func outputOf(t *testing.T, stream *client.Stream) string {
	t.Helper()
	var out strings.Builder
	for {
		e, err := stream.Next()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == client.KindData {
			out.Write(e.Data)
		}
		if e.Kind == client.KindExit {
			return out.String()
		}
	}
}

// TestUnfinishedCharacterOverACrash: what a program has printed of a character when the server is
// killed, once and again, is the same character when the rest of it comes.
func TestUnfinishedCharacterOverACrash(t *testing.T) {
	t.Parallel()
	s := start(t, launch{})
	id := s.create("sh", "-c", `stty -echo; printf 'ab\360\237'; read x; printf '\230\200cd'; read x`).ID
	s.await(id, "ab")
	for range 2 {
		s.kill()
		s.again()
	}
	s.input(id, "\n")
	s.await(id, "cd")
	if got := s.text(id); !strings.Contains(got, "😀cd") {
		t.Errorf("the screen is %q", got)
	}
	if i := s.info(id); i.Damage != "" {
		t.Errorf("damage: %s", i.Damage)
	}
}
