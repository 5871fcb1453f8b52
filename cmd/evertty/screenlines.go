package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

// fullText is the line's text with the blanks up to the last column.
func fullText(l wire.Line, cols int) string {
	text, cells := "", 0
	for _, r := range l.Runs {
		text, cells = text+r.Text, cells+r.Cells
	}
	return text + strings.Repeat(" ", max(0, cols-cells))
}

// continuedText is the line's text when the next line continues it: with the blanks up to the last
// column, but not the blank that a character of two cells left there.
func continuedText(l, next wire.Line, cols int) string {
	text := fullText(l, cols)
	if len(next.Runs) == 0 || cellsOf(l) != cols-1 {
		return text
	}
	if first := next.Runs[0]; first.Cells > len([]rune(first.Text)) {
		return strings.TrimSuffix(text, " ")
	}
	return text
}

func cellsOf(l wire.Line) (n int) {
	for _, r := range l.Runs {
		n += r.Cells
	}
	return n
}

// screenOf asks for the screen and the last lines of its history.
func screenOf(ctx context.Context, server *client.Client, id string, scrollback int) (wire.ScreenJSON, error) {
	var v wire.ScreenJSON
	s, err := server.Snapshot(ctx, id, client.JSON, scrollback)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(s.Raw, &v)
}
