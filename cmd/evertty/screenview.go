package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/evertty/evertty/client"
)

// screenView is the part of a screen as JSON that the command line looks at.
type screenView struct {
	Cols   int    `json:"cols"`
	Alt    bool   `json:"alt"`
	Seq    uint64 `json:"seq"`
	Cursor struct {
		X int `json:"x"`
		Y int `json:"y"`
	} `json:"cursor"`
	Lines      []lineView `json:"lines"`
	Scrollback []lineView `json:"scrollback"`
}

type lineView struct {
	Wrapped bool   `json:"wrapped"` // it continues the line before
	Text    string `json:"text"`    // without the blanks at the end
	Runs    []struct {
		Text  string `json:"text"`
		Cells int    `json:"cells"`
	} `json:"runs"`
}

// full is the line's text with the blanks up to the last column.
func (l lineView) full(cols int) string {
	text, cells := "", 0
	for _, r := range l.Runs {
		text, cells = text+r.Text, cells+r.Cells
	}
	return text + strings.Repeat(" ", max(0, cols-cells))
}

// upTo is the line's text when the next one continues it: with the blanks up to the
// last column, but not the one that a character of two cells left there.
func (l lineView) upTo(next lineView, cols int) string {
	text := l.full(cols)
	if len(next.Runs) == 0 || l.cells() != cols-1 {
		return text
	}
	if first := next.Runs[0]; first.Cells > len([]rune(first.Text)) {
		return strings.TrimSuffix(text, " ")
	}
	return text
}

func (l lineView) cells() (n int) {
	for _, r := range l.Runs {
		n += r.Cells
	}
	return n
}

// screenOf asks for the screen and the last lines of its history.
func screenOf(ctx context.Context, server *client.Client, id string, scrollback int) (screenView, error) {
	var v screenView
	s, err := server.Snapshot(ctx, id, client.JSON, scrollback)
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(s.Raw, &v)
}
