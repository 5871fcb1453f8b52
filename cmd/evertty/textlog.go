package main

import (
	"fmt"
	"strings"

	"github.com/evertty/evertty/client"
)

// textLog writes the output as plain lines.
type textLog struct {
	app   *app
	load  func() (screenView, error) // history and screen
	lines *plainLines
	seq   uint64 // output up to here was written
}

func (l *textLog) event(e client.Event) error {
	switch e.Kind {
	case client.KindSnapshot:
		return l.begin(e)
	case client.KindData:
		return l.data(e)
	case client.KindExit:
		return l.lines.end()
	}
	return nil
}

// begin writes what there is already. It comes from a look of its own, which may
// be later than the event; data up to there is not written again. A snapshot in
// the middle means that output came faster than it could be written.
func (l *textLog) begin(e client.Event) error {
	if l.lines != nil {
		if e.Seq > l.seq {
			fmt.Fprintf(l.app.stderr, "evertty: logs: %d bytes of output were too fast and are left out\n", e.Seq-l.seq)
			l.seq = e.Seq
		}
		return nil
	}
	s, err := l.load()
	if err != nil {
		return err
	}
	l.lines, l.seq = &plainLines{w: l.app.stdout, alt: s.Alt}, s.Seq
	return l.lines.start(logLines(s))
}

// logLines are the lines as the program wrote them: those that the screen broke
// are put together, what is below the last text and the cursor is left out, and the
// last one reaches to the cursor. What a full-screen program shows is no log.
func logLines(s screenView) []string {
	all := s.Scrollback
	if !s.Alt {
		all = append(all, s.Lines...)
	}
	var lines []string
	last := 0
	for i, l := range all {
		text := l.Text
		if at := i - len(s.Scrollback); at == s.Cursor.Y && at >= 0 {
			text += strings.Repeat(" ", max(0, s.Cursor.X-len([]rune(text))))
			last = len(lines)
		}
		if text != "" {
			last = len(lines)
		}
		if l.Wrapped && len(lines) > 0 {
			last = min(last, len(lines)-1)
			before := all[i-1]
			lines[len(lines)-1] += strings.TrimPrefix(before.full(s.Cols), before.Text) + text
			continue
		}
		lines = append(lines, text)
	}
	return lines[:min(last+1, len(lines))]
}

// data writes what of the event is new.
func (l *textLog) data(e client.Event) error {
	if e.Seq <= l.seq {
		return nil
	}
	// Text and output are of equal length but for queries and invalid bytes.
	p := e.Data[max(0, len(e.Data)-int(min(e.Seq-l.seq, uint64(len(e.Data))))):]
	l.seq = e.Seq
	return l.lines.write(p)
}

func (l *textLog) pause() error {
	if l.lines == nil {
		return nil
	}
	return l.lines.flush()
}
