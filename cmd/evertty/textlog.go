package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

// textLog writes the output as plain lines.
type textLog struct {
	app   *app
	load  func() (wire.ScreenJSON, error) // history and screen
	lines *vt.PlainText
	seq   uint64 // position of the last event
	known uint64 // output up to here was on the screen that was loaded
}

func (l *textLog) event(e client.Event) error {
	switch e.Kind {
	case client.KindSnapshot:
		return l.begin(e)
	case client.KindData:
		return l.data(e)
	}
	return nil
}

// begin writes history and screen. They are loaded by a request of their own, which may
// be later than the event, so data before known is not written again. A later snapshot
// means that output came faster than it could be written.
func (l *textLog) begin(e client.Event) error {
	if l.lines != nil {
		if missed := max(l.seq, l.known); e.Seq > missed {
			fmt.Fprintf(l.app.stderr, "evertty: logs: %d bytes of output were too fast and are left out\n",
				e.Seq-missed)
		}
		l.seq = e.Seq
		return nil
	}
	s, err := l.load()
	if err != nil {
		return err
	}
	l.lines, l.seq, l.known = vt.NewPlainText(l.app.stdout, s.Alt), e.Seq, s.Seq
	return l.lines.Start(logLines(s))
}

// logLines are the lines as the program wrote them. Wrapped rows are joined, and blank rows
// below the last text and the cursor are left out. The last line reaches to the cursor. The
// screen of a full-screen program is no log.
func logLines(s wire.ScreenJSON) []string {
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
			lines[len(lines)-1] += strings.TrimPrefix(continuedText(before, l, s.Cols), before.Text) + text
			continue
		}
		lines = append(lines, text)
	}
	return lines[:min(last+1, len(lines))]
}

// data writes the new part of the event.
func (l *textLog) data(e client.Event) error {
	p := e.Data
	switch {
	case e.Seq <= l.known:
		p = nil
	case l.seq < l.known:
		// Text and output are of equal length but for queries and invalid bytes.
		p = p[len(p)-int(min(e.Seq-l.known, uint64(len(p)))):]
		for len(p) > 0 && !utf8.RuneStart(p[0]) {
			p = p[1:]
		}
	}
	l.seq = e.Seq
	_, err := l.lines.Write(p)
	return err
}

func (l *textLog) pause() error {
	if l.lines == nil {
		return nil
	}
	return l.lines.Flush()
}

func (l *textLog) end() error {
	if l.lines == nil {
		return nil
	}
	return l.lines.End()
}
