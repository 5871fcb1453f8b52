package stream_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/evertty/evertty/stream"
	"github.com/evertty/evertty/vt"
)

// TestEverythingAtOnce: a hub is asked for all it has, by viewers that come, change and go, while it is written to and
// resized. The race detector watches.
func TestEverythingAtOnce(t *testing.T) {
	const rounds = 60
	hub := newHub(t, 80, 24)
	watch, stop := hub.Watch()
	defer stop()
	var all sync.WaitGroup
	all.Go(func() {
		for i := range rounds {
			hub.Write([]byte("line\r\n\x1b]2;title\x07\x1b]7;file:///x\x07\x1b]133;A\x07"))
			hub.Write([]byte("\x07\x1b[?1049h\x1b[?1049l\x1b[6n"))
			hub.Resize(80+i%2, 24)
			select {
			case <-watch:
			default:
			}
		}
	})
	for n := range 3 {
		all.Go(func() {
			for i := range rounds {
				s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
				for c := range uint8(20) {
					s.SetTheme(vt.Theme{Foreground: vt.RGBColor(c, 0, 0)})
				}
				s.RequestSize(70+n, 20+i%3)
				s.Hide(i%2 == 0)
				if _, err := s.Next(t.Context()); err != nil {
					t.Error(err)
				}
				if _, err := s.Poll(); err != nil {
					t.Error(err)
				}
				s.Close()
			}
		})
	}
	all.Go(func() {
		for range rounds {
			hub.EffectiveSize()
			hub.Snapshot().ANSI()
			hub.Modes()
			hub.Stats()
			hub.AtRest()
			hub.Policy()
			hub.Flush()
			for _, format := range []string{"text", "ansi", "json"} {
				if err := hub.WriteSnapshot(context.Background(), io.Discard, format, -1); err != nil {
					t.Error(err)
				}
			}
		}
	})
	all.Wait()
	code := 0
	s := hub.Subscribe(stream.SubscribeOptions{Scrollback: -1})
	defer s.Close()
	all.Go(func() { hub.Finish(stream.Exit{Code: &code, Reason: "exit"}) })
	all.Go(func() { s.SetTheme(vt.Theme{}) })
	all.Go(func() { hub.Resize(90, 30) })
	all.Wait()
	for {
		if _, err := s.Poll(); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Error(err)
			}
			break
		}
	}
	if st := hub.Stats(); !st.Finished || st.Title != "title" || st.Bells != rounds || st.Attached > 1 {
		t.Errorf("%+v", st)
	}
}
