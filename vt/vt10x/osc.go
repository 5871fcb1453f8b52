package vt10x

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/evertty/evertty/vt"
)

// names are the strings a program gave its terminal.
type names struct{ title, icon, cwd string }

// maxLink is the longest target or ID of a hyperlink in bytes; more is no link.
// Each style of a cell can hold one, so this bounds what a screen of them takes.
const maxLink = 2083

// str applies the string that just ended and tells whether it was cut.
func (e *engine) str() (cut bool) {
	data := e.seq[2:] // an introducer is two bytes long, with ESC and as C1
	switch string(e.seq[:2]) {
	case "\x1b]", "\u009d":
		return e.osc(data)
	case "\x1bP", "\u0090":
		return e.dcs(data)
	}
	return false
}

// osc applies an operating system command (xterm ctlseqs).
func (e *engine) osc(data []byte) (cut bool) {
	num, rest, _ := bytes.Cut(data, []byte(";"))
	n, err := strconv.Atoi(string(num))
	if err != nil || n < 0 || len(num) > 0 && num[0] == '+' {
		return false
	}
	arg := string(rest)
	switch n {
	case 0:
		e.names.icon = arg
		e.setTitle(arg)
	case 1:
		e.names.icon = arg
	case 2:
		e.setTitle(arg)
	case 4:
		return e.setPalette(arg)
	case 7:
		e.workingDirectory(arg)
	case 8:
		e.link(arg)
	case 9, 777:
		e.notify(n, arg)
	case 10, 11, 12:
		return e.setSpecial(n, arg)
	case 104, 110, 111, 112:
		e.colors.reset(n, arg)
	case 50:
		if strings.HasPrefix(arg, "?") { // the font, which nobody is told
			e.cut()
			return true
		}
	case 52:
		return e.clipboard(arg)
	case 133, 633:
		e.mark(n, arg)
	case 1337:
		if dir, ok := strings.CutPrefix(arg, "CurrentDir="); ok {
			e.setCwd(dir)
		}
	}
	return false
}

func (e *engine) setTitle(title string) {
	e.names.title = title
	if f := e.cfg.Effects.Title; f != nil {
		f(title)
	}
}

// workingDirectory takes file://host/path; the host is not looked at.
func (e *engine) workingDirectory(arg string) {
	rest, ok := strings.CutPrefix(arg, "file://")
	if !ok {
		return
	}
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		if path, err := url.PathUnescape(rest[i:]); err == nil {
			e.setCwd(path)
		}
	}
}

func (e *engine) setCwd(path string) {
	if path == "" || strings.ContainsFunc(path, unicode.IsControl) || strings.ToValidUTF8(path, "") != path {
		return
	}
	e.names.cwd = path
	if f := e.cfg.Effects.Cwd; f != nil {
		f(path)
	}
}

// link implements OSC 8: parameters ; target. No target ends the link.
func (e *engine) link(arg string) {
	params, uri, ok := strings.Cut(arg, ";")
	if !ok || uri == "" && strings.TrimSpace(params) != "" {
		return
	}
	l := vt.Link{URI: uri}
	for p := range strings.SplitSeq(params, ":") {
		if id, ok := strings.CutPrefix(strings.TrimSpace(p), "id="); ok {
			l.ID = id
			break
		}
	}
	if len(l.URI) > maxLink || len(l.ID) > maxLink {
		l = vt.Link{}
	}
	s := e.pen.style
	s.Link = l
	e.setPen(s)
}

// notify takes OSC 9 ; text and OSC 777 ; notify ; title ; text. OSC 9 with a
// number is one of ConEmu's commands, for example progress.
func (e *engine) notify(n int, arg string) {
	f := e.cfg.Effects.Notify
	first, rest, more := strings.Cut(arg, ";")
	_, err := strconv.Atoi(first)
	switch {
	case f == nil || arg == "":
	case n == 9 && (err != nil || !more):
		f(vt.Notification{Body: arg})
	case n == 777 && first == "notify":
		title, body, _ := strings.Cut(rest, ";")
		f(vt.Notification{Title: title, Body: body})
	}
}

// clipboard implements OSC 52 ; selection ; base64. Reading is never allowed.
func (e *engine) clipboard(arg string) (cut bool) {
	selection, data, ok := strings.Cut(arg, ";")
	if ok && data == "?" {
		e.cut()
		return true
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if f := e.cfg.Effects.Clipboard; ok && err == nil && f != nil {
		f(selection, raw)
	}
	return false
}

// mark implements OSC 133 (FinalTerm) and OSC 633 (Visual Studio Code).
func (e *engine) mark(n int, arg string) {
	kind, rest, _ := strings.Cut(arg, ";")
	if n == 633 && kind == "P" {
		if dir, ok := strings.CutPrefix(rest, "Cwd="); ok {
			e.setCwd(unescape(dir))
		}
		return
	}
	f := e.cfg.Effects.Prompt
	if f == nil || len(kind) != 1 || kind[0] < 'A' || kind[0] > 'D' {
		return
	}
	m := vt.Mark{Kind: kind[0], Exit: -1}
	if kind == "D" {
		status, _, _ := strings.Cut(rest, ";")
		if v, err := strconv.Atoi(status); err == nil {
			m.Exit = v
		}
	}
	f(m)
}

// unescape undoes OSC 633's escapes: \\ and \xHH.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			if s[i+1] == 'x' && i+3 < len(s) {
				if v, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
					b.WriteByte(byte(v))
					i += 3
					continue
				}
			}
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
