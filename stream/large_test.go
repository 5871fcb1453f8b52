package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// largeHub has a screen whose snapshot is large in every format: some of it in a new
// style for each character, and so much plain text that it is large without a style.
func largeHub(l *Large) *Hub {
	styled, plain := 30_000, largeSize+largeSize/16 // characters, bytes
	h := New(Options{ID: "x", Engine: vt.NewEngine, Large: l,
		Config: vt.Config{Cols: 500, Rows: 50, Scrollback: 12_000}})
	var b bytes.Buffer
	for i := range styled {
		fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dmx", i%256, i/256%256, i%199)
	}
	b.WriteString("\x1b[m\r\n")
	for line := bytes.Repeat([]byte("large \" text"), 38); plain > 0; plain -= len(line) + 2 {
		b.Write(append(line, "\r\n"...))
	}
	h.Write(b.Bytes())
	return h
}

// busy is a writer that notes how many write at once. The first one waits for a second: large
// snapshots are written at once, whatever the scheduler does.
type busy struct {
	now, most *atomic.Int64
	second    chan struct{} // closed when two were writing
	once      *sync.Once
}

func newBusy() busy {
	return busy{now: new(atomic.Int64), most: new(atomic.Int64), second: make(chan struct{}), once: new(sync.Once)}
}

func (b busy) Write(p []byte) (int, error) {
	n := b.now.Add(1)
	for m := b.most.Load(); n > m && !b.most.CompareAndSwap(m, n); m = b.most.Load() {
	}
	if n > 1 {
		b.once.Do(func() { close(b.second) })
	}
	select {
	case <-b.second:
	case <-time.After(time.Minute): // most says that there was none
	}
	b.now.Add(-1)
	return len(p), nil
}

// TestFewLargeSnapshotsAtOnce: at most maxLarge, over all hubs of a server. Who waits
// can leave, and the hub works on.
func TestFewLargeSnapshotsAtOnce(t *testing.T) {
	l := NewLarge()
	hubs := []*Hub{largeHub(l), largeHub(l)}
	w := newBusy()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			format := []string{wire.FormatANSI, wire.FormatHTML, wire.FormatJSON, wire.FormatANSI}[i%4]
			if err := hubs[i%2].WriteSnapshot(t.Context(), w, format, -1); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if w.most.Load() > maxLarge || w.most.Load() < 2 {
		t.Errorf("%d large snapshots were written at once", w.most.Load())
	}
	for range maxLarge {
		l.slots <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { left <- hubs[0].WriteSnapshot(ctx, w, wire.FormatHTML, -1) }()
	hubs[0].Write([]byte("goes on"))
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	small := New(Options{ID: "y", Engine: vt.NewEngine, Large: l, Config: vt.Config{Cols: 80, Rows: 24}})
	for _, f := range []string{wire.FormatANSI, wire.FormatHTML, wire.FormatJSON, wire.FormatText} {
		if err := small.WriteSnapshot(t.Context(), w, f, -1); err != nil {
			t.Errorf("a small one as %s waits: %v", f, err)
		}
	}
}

// stopped is a writer that says that it was given something and takes nothing until it
// is told.
type stopped struct{ given, go_ chan struct{} }

func (s stopped) Write(p []byte) (int, error) {
	select {
	case s.given <- struct{}{}:
	case <-s.go_:
	}
	<-s.go_
	return len(p), nil
}

// TestSlowReaderKeepsNobodyWaiting: who does not read lets others encode.
func TestSlowReaderKeepsNobodyWaiting(t *testing.T) {
	l := NewLarge()
	h := largeHub(l)
	s := stopped{make(chan struct{}), make(chan struct{})}
	var slow sync.WaitGroup
	for range maxLarge {
		slow.Go(func() {
			if err := h.WriteSnapshot(t.Context(), s, wire.FormatHTML, -1); err != nil {
				t.Error(err)
			}
		})
	}
	for range maxLarge {
		<-s.given // each has its turn, and keeps it
	}
	if err := h.WriteSnapshot(t.Context(), io.Discard, wire.FormatJSON, -1); err != nil {
		t.Error(err)
	}
	close(s.go_)
	slow.Wait()
	if n := len(l.slots); n != 0 {
		t.Errorf("%d slots are never given back", n)
	}
}

// TestLargeRepliesAreWhole: a large reply in pieces is what it is made at once.
func TestLargeRepliesAreWhole(t *testing.T) {
	h := largeHub(nil)
	f := h.Snapshot().Frame
	for format, want := range map[string]string{wire.FormatANSI: string(h.Snapshot().ANSI()),
		wire.FormatHTML: snapshot.HTML(f, -1), wire.FormatText: snapshot.Text(f, -1)} {
		var b bytes.Buffer
		if err := h.WriteSnapshot(t.Context(), &b, format, -1); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Data, Text, HTML string
			Cols, Rows       int
		}
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.Data+got.Text+got.HTML != want ||
			got.Cols != 500 || got.Rows != 50 {
			t.Errorf("%s: %v, %d bytes, want %d", format, err, len(got.Data+got.Text+got.HTML), len(want))
		}
	}
	var b bytes.Buffer
	var got, want wire.ScreenJSON
	if err := h.WriteSnapshot(t.Context(), &b, wire.FormatJSON, 3); err != nil {
		t.Fatal(err)
	}
	p, _ := json.Marshal(snapshot.JSON(f, 3))
	err := errors.Join(json.Unmarshal(b.Bytes(), &got), json.Unmarshal(p, &want))
	want.Seq = got.Seq // a frame has none
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("json differs: %v", err)
	}
}

// TestLargeEvent: a viewer gets a large snapshot whole.
func TestLargeEvent(t *testing.T) {
	h := largeHub(nil)
	want := h.Snapshot().ANSI()
	h.Finish(Exit{Reason: "exit"})
	sub := h.Subscribe(SubscribeOptions{Scrollback: -1})
	defer sub.Close()
	batch, err := sub.Poll()
	if err != nil || len(batch) == 0 || !batch[0].IsLarge() {
		t.Fatalf("the first event is not large: %d events, %v", len(batch), err)
	}
	var w strings.Builder
	if err := batch[0].WriteLargeSSE(t.Context(), &w); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(w.String(), "\ndata: ")
	line, _, _ := strings.Cut(rest, "\n\n")
	var e struct {
		Data   string
		Reason string
	}
	engine := func(text string) *vt.Frame {
		e := vt.NewEngine(vt.Config{Cols: 500, Rows: 50, Scrollback: 5000})
		e.Write([]byte(text))
		return e.Freeze()
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil || len(e.Data) < largeSize || e.Reason != "connect" {
		t.Fatalf("%v: %d bytes, %q", err, len(e.Data), e.Reason)
	}
	if a, b := snapshot.Text(engine(e.Data), -1), snapshot.Text(engine(string(want)), -1); a != b {
		t.Error("it shows something else")
	}
}
