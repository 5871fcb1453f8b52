package vt

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// labels are what operating system commands set (xterm ctlseqs, OSC): the names
// and colours of a terminal. The zero value is a terminal without names and with
// its own colours.
type labels struct {
	Title, Icon string
	Host, Cwd   string // of the working directory
	colors      colors
}

// maxLink is the longest target or ID of a hyperlink in bytes; more is no link.
// Each style of a cell can hold one, so this bounds what a screen of them takes.
const maxLink = 2083

// OSC applies an operating system command with this text. Queries are answered
// and cut from the viewers' text by s; fx gets what leaves the terminal.
// A hyperlink (OSC 8) belongs to the pen: it comes back as link when set.
func (l *labels) OSC(s *stream, text []byte, fx *Effects) (link Link, set bool) {
	num, rest, _ := bytes.Cut(text, []byte(";"))
	n, err := strconv.Atoi(string(num))
	if err != nil || n < 0 || len(num) > 0 && num[0] == '+' {
		return Link{}, false
	}
	arg := string(rest)
	switch n {
	case 0:
		l.Icon = arg
		l.setTitle(arg, fx)
	case 1:
		l.Icon = arg
	case 2:
		l.setTitle(arg, fx)
	case 4, 5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 104, 105, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119:
		l.colors.osc(s, n, arg, fx)
	case 7:
		l.workingDirectory(arg, fx)
	case 8:
		l, ok := hyperlink(arg)
		if ok && strings.Contains(arg, "\x7f") && l == (Link{}) {
			s.Replace([]byte("\x1b]8;;\x1b\\")...) // viewers get none either
		}
		return l, ok
	case oscClipboard:
		fx.clipboard(arg)
	case 9, 777:
		if dir, ok := strings.CutPrefix(arg, "9;"); ok && n == 9 { // ConEmu's directory
			l.setCwd("", strings.Trim(dir, `"`), fx)
			break
		}
		fx.notify(n, arg)
	case 133, 633:
		l.mark(n, arg, s.end, fx)
	case 1337:
		if dir, ok := strings.CutPrefix(arg, "CurrentDir="); ok {
			l.setCwd("", dir, fx)
		}
	}
	return Link{}, false
}

// Memory is what the labels take, in bytes. Title and Icon often share theirs.
func (l *labels) Memory() int {
	n := len(l.Icon) + len(l.Host) + len(l.Cwd) + len(l.colors.set)*colorSize
	if l.Title != l.Icon {
		n += len(l.Title)
	}
	return n
}

// colorSize is what a changed colour takes, in bytes.
const colorSize = 16

func (l *labels) setTitle(title string, fx *Effects) {
	l.Title = title
	if fx.Title != nil {
		fx.Title(title)
	}
}

// workingDirectory takes file://host/path and file:/path (RFC 8089), and kitty's
// kitty-shell-cwd://host/path, whose path has no percent-encoding.
func (l *labels) workingDirectory(arg string, fx *Effects) {
	scheme, path, _ := strings.Cut(arg, ":")
	var host string
	if rest, ok := strings.CutPrefix(path, "//"); ok {
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return
		}
		host, path = rest[:i], rest[i:]
	}
	switch strings.ToLower(scheme) { // RFC 3986 3.1
	case "file":
		var err error
		if path, err = url.PathUnescape(path); err != nil {
			return
		}
	case "kitty-shell-cwd":
	default:
		return
	}
	l.setCwd(host, path, fx)
}

// maxHost is the longest name of a host, in bytes (RFC 1035 2.3.4).
const maxHost = 255

func (l *labels) setCwd(host, path string, fx *Effects) {
	if !strings.HasPrefix(path, "/") || !reportable(path) || !reportable(host) || len(host) > maxHost {
		return
	}
	l.Host, l.Cwd = strings.Clone(host), strings.Clone(path) // of the text around them nothing is kept
	if fx.Cwd != nil {
		fx.Cwd(l.Host, l.Cwd)
	}
}

// reportable reports whether s can be part of a report: UTF-8 without controls.
func reportable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// hyperlink reads OSC 8: parameters ; target. No target ends the link.
func hyperlink(arg string) (l Link, ok bool) {
	params, uri, ok := strings.Cut(arg, ";")
	if !ok || uri == "" && strings.TrimSpace(params) != "" {
		return Link{}, false
	}
	for p := range strings.SplitSeq(strings.TrimSpace(params), ":") {
		if id, ok := strings.CutPrefix(p, "id="); ok {
			l.ID = id
			break
		}
	}
	if l.URI = uri; uri == "" || !linkable(l.URI) || !linkable(l.ID) {
		return Link{}, true
	}
	if len(arg) > len(l.URI)+2*len(l.ID)+linkSize { // nothing shall keep other parameters in memory
		l = Link{ID: strings.Clone(l.ID), URI: strings.Clone(l.URI)}
	}
	return l, true
}

// linkable reports whether s can be part of a link: a line holds no controls, and
// DEL is the only one that gets into a string.
func linkable(s string) bool { return len(s) <= maxLink && !strings.Contains(s, "\x7f") }

// mark implements OSC 133 (FinalTerm) and OSC 633 (Visual Studio Code).
func (l *labels) mark(n int, arg string, end int, fx *Effects) {
	kind, rest, _ := strings.Cut(arg, ";")
	if n == 633 && kind == "P" {
		if dir, ok := strings.CutPrefix(rest, "Cwd="); ok {
			l.setCwd("", unescape(dir), fx)
		}
		return
	}
	if fx.Prompt == nil || len(kind) != 1 || kind[0] < 'A' || kind[0] > 'D' {
		return
	}
	m := PromptMark{Kind: kind[0], Exit: -1, End: end}
	if kind == "D" {
		status, _, _ := strings.Cut(rest, ";")
		if v, err := strconv.Atoi(status); err == nil {
			m.Exit = v
		}
	}
	fx.Prompt(m)
}

// notify takes OSC 9 ; text and OSC 777 ; notify ; title ; text. OSC 9 with a
// number is one of ConEmu's commands, for example progress.
func (fx *Effects) notify(n int, arg string) {
	first, rest, more := strings.Cut(arg, ";")
	_, err := strconv.Atoi(first)
	switch {
	case fx.Notify == nil || arg == "":
	case n == 9 && (err != nil || !more):
		fx.Notify(Notification{Body: arg})
	case n == 777 && first == "notify":
		title, body, _ := strings.Cut(rest, ";")
		fx.Notify(Notification{Title: title, Body: body})
	}
}

// reply gives an answer to the program.
func (fx *Effects) reply(p []byte) {
	if fx.Reply != nil {
		fx.Reply(p)
	}
}

// clipboard implements a write by OSC 52 ; selection ; base64 (xterm ctlseqs).
// Reading is never allowed, so "?" does nothing, like everything else that is not
// base64, with or without its padding.
func (fx *Effects) clipboard(arg string) {
	selection, data, ok := strings.Cut(arg, ";")
	if !ok || fx.Clipboard == nil || len(selection) > len(selections) || strings.Trim(selection, selections) != "" {
		return
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
	if err == nil && len(raw) <= MaxClipboard {
		fx.Clipboard(selection, raw)
	}
}

// selections are the names of what OSC 52 can write to: clipboard, primary,
// secondary, select, and the cut buffers.
const selections = "cpqs01234567"

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
