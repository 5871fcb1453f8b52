package snapshot

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// sayable makes equal what a frame cannot say or what has no effect. These are
// all the liberties an engine has:
//
//   - Of an erased cell that shows no more than its background only that counts.
//   - The first line's wrap flag: there is nothing it could continue.
//   - The main screen's cursor while the other is shown: xterm.js takes the
//     cursor along when the program leaves the other screen.
//   - A character to repeat that is in no cell before the cursor any more: REP
//     would print nothing.
//   - A character that a viewer would repeat because it never got the query after
//     it: the engine has to make it forget before something is printed or repeated.
//   - The text of a cluster after the columns changed: reflow in xterm.js gives
//     cells the clusters of others.
//   - The saved cursor outside the screen: it is restored inside.
//   - A cursor that blinks without a style (DECSCUSR 7 and more): a frame says
//     both in one number.
//   - What xterm.js does not have at all: kitty keyboard, ?5, ?2031, UTF-8 and
//     URXVT mouse encodings (expected leaves them out).
func sayable(got, want xstate) (xstate, xstate) {
	want.Parser, want.Data, want.Bells, want.Colors = "", nil, 0, nil
	want.PendingParser, want.Repeat = "", ""
	if want.Modes.CursorStyle == "" && want.Modes.CursorBlink {
		want.Modes.CursorStyle, want.Modes.CursorBlink = got.Modes.CursorStyle, got.Modes.CursorBlink
	}
	got.Charsets, got.Charset = sameSets.Replace(got.Charsets), sameSets.Replace(got.Charset)
	if got.Hidden != nil && want.Hidden != nil {
		g, w := *got.Hidden, *want.Hidden
		g.Charset, g.Y, w.Y = sameSets.Replace(g.Charset), min(g.Y, want.Rows-1), min(w.Y, want.Rows-1)
		got.Hidden, want.Hidden = &g, &w
	}
	got.Main, want.Main = sayableBuffers(got.Main, want.Main, want.Cols)
	if got.Other != nil && want.Other != nil {
		g, w := sayableBuffers(*got.Other, *want.Other, want.Cols)
		got.Other, want.Other = &g, &w
		got.Main.X, got.Main.Y = want.Main.X, want.Main.Y
	}
	return got, want
}

// sameSets are the finals that name the same table in xterm.js: Finnish,
// Norwegian and Danish, Swedish.
var sameSets = strings.NewReplacer("5", "C", "6", "E", "7", "H")

func sayableBuffers(got, want xbuffer, cols int) (xbuffer, xbuffer) {
	want.Wider = false
	got.Saved.Charset = sameSets.Replace(got.Saved.Charset)
	got.Saved.X, got.Saved.Y = inside(got, want)
	want.Saved.X, want.Saved.Y = inside(want, want)
	if len(got.Lines) != len(want.Lines) {
		return got, want
	}
	got.Lines, want.Lines = slices.Clone(got.Lines), slices.Clone(want.Lines)
	for i := range want.Lines {
		g, w := &got.Lines[i], &want.Lines[i]
		w.Wrapped, g.Wrapped = w.Wrapped && i > 0, g.Wrapped && i > 0
		g.Cells, w.Cells = sayableCells(g.Cells, w.Cells)
	}
	return got, want
}

// inside is b's saved cursor on the screen.
func inside(b, screen xbuffer) (x, y int) {
	rows := len(screen.Lines) - screen.Base
	return max(b.Saved.X, 0), min(max(b.Saved.Y, 0), max(rows-1, 0))
}

// anyClusters is want with the engine's text where both have a cluster.
func anyClusters(got, want xbuffer) xbuffer {
	cluster := func(c xcell) bool { return utf8.RuneCountInString(c.Text) > 1 }
	want.Lines = slices.Clone(want.Lines)
	for i := range want.Lines[:min(len(want.Lines), len(got.Lines))] {
		g, w := got.Lines[i].Cells, &want.Lines[i].Cells
		*w = slices.Clone(*w)
		for k := range (*w)[:min(len(*w), len(g))] {
			if cluster(g[k]) && cluster((*w)[k]) {
				(*w)[k].Text = g[k].Text
			}
		}
	}
	return want
}

// sayableCells takes the engine's word for what cannot be said of xterm.js's cells.
func sayableCells(got, want []xcell) (g, w []xcell) {
	got, want = slices.Clone(got), slices.Clone(want)
	for i, c := range want {
		for len(got) <= i {
			got = append(got, xcell{Width: 1})
		}
		erased := c.Text == "" && c.Width == 1 && got[i].Text == "" && got[i].Width == 1
		if erased && erasedKey(got[i].Style) == erasedKey(c.Style) {
			got[i] = c
		}
	}
	return got, want
}

// erasedKey is what counts of the style of an erased cell: all of it, or the background
// when no more than that shows and selective erasure does not spare it.
func erasedKey(key string) string {
	part := strings.Split(key, "\t")
	if len(part) == 1 || strings.ContainsAny(part[2], "rsop") || part[3] != "0" || part[6] != "" {
		return key
	}
	if part[1] == "" {
		return ""
	}
	return strings.Join([]string{"", part[1], "", "0", "", "", ""}, "\t")
}
