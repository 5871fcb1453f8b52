package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/snapshot"
	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/wire"
)

const (
	// renderPiece is how much is fed to the emulator at once, in bytes.
	renderPiece = 64 << 10
	// maxSnapshotFile bounds a snapshot file, in bytes.
	maxSnapshotFile = 256 << 20
)

// rendering has the flags of render.
type rendering struct {
	cols, rows, scrollback  int
	format, engine, unicode string
	all                     bool
	resizeAt                []string
}

func (a *app) newRender() *cobra.Command {
	o := rendering{engine: defaultEngine, unicode: string(vt.Unicode11)}
	c := &cobra.Command{
		Use:   "render [FILE|-]",
		Short: "Feed output to the emulator and print the screen",
		Long: `Feeds the bytes of FILE (or standard input) to the emulator and prints what a
terminal would show at the end. A snapshot file of a data directory is printed as
it is. No server is needed.`,
		Example: `  evertty render --cols 120 --rows 40 typescript
  printf 'a\e[31mb' | evertty render --format ansi -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			resizes, err := parseResizes(o.resizeAt)
			if err != nil {
				return usage(err)
			}
			in, name := io.Reader(a.stdin), "standard input"
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("render: %w", err)
				}
				defer f.Close()
				in, name = f, args[0]
			}
			frame, err := o.frame(in, resizes)
			if err != nil {
				return fmt.Errorf("render: %s: %w", name, err)
			}
			return o.print(a.stdout, frame)
		},
	}
	addFlags(c,
		flag{"cols", "", newInt(&o.cols, 80, vt.MinSize, vt.MaxSize), "`columns` of the screen"},
		flag{"rows", "", newInt(&o.rows, 24, vt.MinSize, vt.MaxSize), "`rows` of the screen"},
		flag{"scrollback", "", newInt(&o.scrollback, vt.DefaultScrollback, 0, vt.MaxScrollback),
			"`lines` of history"},
	)
	formatFlag(c, &o.format, client.Text)
	jsonFormat(c, &o.format)
	addFlags(c,
		flag{"all", "", &o.all, "text and html: the history before the screen"},
		flag{"engine", "", newEnum(&o.engine, engineNames()...), "`emulator`"},
		flag{"unicode", "", newEnum(&o.unicode, string(vt.Unicode11), string(vt.Unicode15Graphemes)),
			"`table` of character widths: 11 or 15-graphemes"},
		flag{"resize-at", "", &o.resizeAt,
			"resize when so many bytes were fed, as `OFFSET:COLSxROWS`; may be repeated"},
	)
	return c
}

// frame is the state after all of in.
func (o rendering) frame(in io.Reader, resizes []resize) (*vt.Frame, error) {
	r := bufio.NewReaderSize(in, renderPiece)
	if head, _ := r.Peek(64); snapshot.IsSnapshot(head) {
		b, err := io.ReadAll(io.LimitReader(r, maxSnapshotFile))
		if err != nil {
			return nil, err
		}
		_, f, err := snapshot.Decode(b)
		return f, err
	}
	e := engines[o.engine](vt.Config{Cols: o.cols, Rows: o.rows, Scrollback: o.scrollback,
		Unicode: vt.Unicode(o.unicode)})
	if err := feed(e, r, resizes); err != nil {
		return nil, err
	}
	return e.Freeze(), nil
}

// feed writes all of r to the engine, with the resizes at their places.
func feed(e vt.Engine, r io.Reader, resizes []resize) error {
	buf := make([]byte, renderPiece)
	for at := int64(0); ; {
		for len(resizes) > 0 && resizes[0].at <= at {
			e.Resize(resizes[0].cols, resizes[0].rows)
			resizes = resizes[1:]
		}
		p := buf
		if len(resizes) > 0 {
			p = buf[:min(int64(len(buf)), resizes[0].at-at)]
		}
		n, err := r.Read(p)
		e.Write(p[:n])
		at += int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (o rendering) print(w io.Writer, f *vt.Frame) error {
	lines := 0
	if o.all {
		lines = -1
	}
	out := bufio.NewWriter(w)
	var err error
	switch client.Format(o.format) {
	case client.ANSI:
		if file, ok := w.(*os.File); ok && isTTY(file, file) {
			return printRows(w, f)
		}
		_, err = out.Write(snapshot.ANSI(f, snapshot.Options{Scrollback: -1}))
	case client.Text:
		_, err = out.WriteString(snapshot.Text(f, lines))
	case client.HTML:
		_, err = out.WriteString(snapshot.HTML(f, lines) + "\n")
	case client.JSON:
		var withoutSeq struct {
			wire.ScreenJSON
			Seq *uint64 `json:"seq,omitempty"` // hides the position, which a frame has not
		}
		withoutSeq.ScreenJSON = snapshot.JSON(f, -1)
		err = printJSON(w, withoutSeq)
	}
	return errors.Join(err, out.Flush())
}

// resize is a change of the screen's size after so many bytes.
type resize struct {
	at         int64
	cols, rows int
}

// parseResizes reads OFFSET:COLSxROWS and sorts them by offset.
func parseResizes(words []string) ([]resize, error) {
	var list []resize
	for _, w := range words {
		offset, size, ok := strings.Cut(w, ":")
		cols, rows, ok2 := strings.Cut(size, "x")
		at, err := strconv.ParseInt(offset, 10, 64)
		c, err2 := strconv.Atoi(cols)
		r, err3 := strconv.Atoi(rows)
		if !ok || !ok2 || errors.Join(err, err2, err3) != nil || at < 0 || min(c, r) < vt.MinSize ||
			max(c, r) > vt.MaxSize {
			return nil, fmt.Errorf("--resize-at: got %q, allowed is OFFSET:COLSxROWS with sizes %d to %d", w,
				vt.MinSize, vt.MaxSize)
		}
		list = append(list, resize{at, c, r})
	}
	slices.SortStableFunc(list, func(a, b resize) int { return int(min(max(a.at-b.at, -1), 1)) })
	return list, nil
}
