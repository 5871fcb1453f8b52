package state

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evertty/evertty/internal/shell/shelldir"
)

const (
	// windowSize is how much of a capture is in memory at a time, in bytes.
	windowSize = 64 << 10
	// longDefinition is the length from which the definition of a variable is copied as bash
	// printed it, in bytes; shorter ones are parsed and written anew.
	longDefinition = 1 << 20
	// maxSection bounds a section that is read into memory, in bytes: options, traps, aliases,
	// names of functions, completions. Variables, functions and arguments are in other sections.
	maxSection = 4 << 20
)

// capture is a capture in a file, read piece by piece: the memory for it is bounded.
type capture struct {
	window
	sections  [sectionsFixed]span
	rest      span // the positional parameters, then the texts of functions, each with a NUL at the end
	arguments int
	long      int64 // longDefinition but in tests
}

// span is a part of a file, in bytes.
type span struct{ at, size int64 }

// openCaptured finds the sections of a capture. Errors: ErrDamaged, fs.ErrNotExist before the first
// capture, the file's.
func openCaptured(file io.ReaderAt, size int64) (*capture, error) {
	c := &capture{window: window{file: file, end: size, buffer: make([]byte, windowSize)}, long: longDefinition}
	const last = "\x00" + captureEnd + "\x00"
	if size > maxState {
		return nil, fmt.Errorf("%w: more than %d bytes", shelldir.ErrDamaged, maxState)
	}
	if size == int64(len(notCaptured)) && c.read(span{0, size}) == notCaptured {
		return nil, fs.ErrNotExist
	}
	if size < int64(len(last)) || c.read(span{size - int64(len(last)), int64(len(last))}) != last {
		return nil, c.damage("a capture without an end")
	}
	size -= int64(len(last)) - 1 // the NUL ends the text before it
	at := int64(0)
	for n := range c.sections {
		end, ok := c.find(at, size, 0)
		if !ok {
			return nil, c.damage("a capture without all of its sections")
		}
		c.sections[n] = span{at, end - at}
		at = end + 1
	}
	if magic, err := c.section(sectionMagic); err != nil || magic != captureMagic {
		return nil, c.damage("not a capture of this version")
	}
	c.rest = span{at, size - at}
	count, err := c.section(sectionCount)
	if err != nil {
		return nil, err
	}
	if n, err := strconv.Atoi(count); err == nil && n >= 0 && n <= c.count(c.rest) {
		c.arguments = n
	}
	return c, c.failed
}

// damage is ErrDamaged, or the error of the file.
func (c *capture) damage(what string) error {
	if c.failed != nil {
		return c.failed
	}
	return fmt.Errorf("%w: %s", shelldir.ErrDamaged, what)
}

// section reads a section that is not large. Errors: ErrDamaged of one of more than maxSection.
func (c *capture) section(n int) (string, error) {
	s := c.sections[n]
	if n == sectionJobs {
		s.size = min(s.size, maxSection) // it is for people alone
	}
	if s.size > maxSection {
		return "", fmt.Errorf("%w: a section of %d bytes, at most %d are read", shelldir.ErrDamaged, s.size, maxSection)
	}
	return c.read(s), c.failed
}

// image is the part of a capture for memory.
func (c *capture) image() (*Snapshot, error) {
	var parts [sectionsFixed]string
	for n := range parts {
		if n == sectionVariables {
			continue
		}
		var err error
		if parts[n], err = c.section(n); err != nil {
			return nil, err
		}
	}
	i := &Snapshot{}
	i.parseOptions(parts[:])
	i.parseAliases(parts[sectionAliases])
	errTrap, builtin := trapsOf(parts[sectionBuiltin])
	i.parseFunctions(parts[sectionFunctions], builtin)
	i.directory = strings.TrimSuffix(parts[sectionCwd], "\n")
	i.umask = strings.TrimSpace(parts[sectionUmask])
	i.jobs = jobsOf(parts[sectionJobs])
	i.traps, _ = trapsOf(parts[sectionTraps])
	if len(errTrap) > 0 && !slices.Contains(i.traps, errTrap[0]) {
		i.traps = append(i.traps, errTrap[0])
	}
	limits, last, _ := strings.Cut(parts[sectionLimits], captureLast)
	i.limits = limitsOf(strings.ReplaceAll(limits, "\v", "\n"))
	i.parseLast(last)
	i.parseFiles(parts[sectionFiles]) // completions are read again when they are restored
	c.definitions(func(d definition) {
		switch v := d.variable; {
		case v == nil:
		case v.has("x") && !v.array() && isKept(v.name) && len(v.value) <= longestKept:
			i.variables = append(i.variables, *v)
		case v.name == "PWD" && filepath.IsAbs(v.value):
			i.pwd = v.value
		}
	})
	if i.directory == "" {
		i.directory = i.pwd // it has been removed
	}
	return i, c.failed
}

// definition is one line of declare -p.
type definition struct {
	name string
	// variable is nil for a long definition: then the span is copied as bash printed it, with the
	// newline.
	variable *variable
	span
}

// definitions calls f for each definition in order. It skips invalid text up to the next line that
// begins like a definition.
func (c *capture) definitions(f func(d definition)) {
	s := c.sections[sectionVariables]
	end := s.at + s.size
	for at := s.at; at < end && c.failed == nil; {
		d, ok := c.definition(at, end)
		if ok {
			f(d)
			at += d.size
			continue
		}
		const begin = "\ndeclare -"
		for at++; at < end; at++ {
			if at, ok = c.find(at, end, '\n'); !ok {
				return
			}
			if n := int64(len(begin)); at+n <= end && c.read(span{at, n}) == begin {
				at++
				break
			}
		}
	}
}

// definition reads the definition at a position.
func (c *capture) definition(at, end int64) (d definition, ok bool) {
	next, ok := c.passLine(at, end)
	if !ok {
		return d, false
	}
	d.span = span{at, next - at}
	head := &scanner{text: c.read(span{at, min(d.size, longestHead)})}
	v, err := head.head()
	if d.name = v.name; err != nil {
		return d, false
	}
	if d.size > c.long { // longer than a name with attributes
		tail := c.read(span{next - 2, 2})
		return d, v.assigned && (tail == ")\n" || !v.array() && (tail == "\"\n" || tail == "'\n"))
	}
	if v, err = (&scanner{text: c.read(d.span)}).declaration(); err != nil {
		return d, false
	}
	d.variable = &v
	return d, true
}

// longestHead bounds the beginning of a definition, up to the value, in bytes.
const longestHead = 64 << 10

// passLine finds the end of the line at a position, outside of quotes. ok is false when a quote is
// unclosed.
func (c *capture) passLine(at, end int64) (next int64, ok bool) {
	var q quoting
	for piece := range c.pieces(span{at, end - at}) {
		for n, b := range piece {
			if q.pass(b) {
				return at + int64(n) + 1, true
			}
		}
		at += int64(len(piece))
	}
	return at, at == end && q.open == 0
}

// quoting is the state of quotes at a position in the output of bash.
type quoting struct {
	open    byte // the quote that is open: 0, ", ', or $ for $'
	before  byte
	escaped bool
}

// pass takes a byte and reports whether it ends the line.
func (q *quoting) pass(b byte) (ends bool) {
	switch {
	case q.escaped:
		q.escaped = false
	case b == '\\' && q.open != '\'':
		q.escaped = true
	case q.open == '$' && b == '\'', q.open != '$' && q.open == b:
		q.open = 0
	case q.open != 0:
	case b == '\n':
		return true
	case b == '\'' && q.before == '$':
		q.open = '$'
	case b == '"' || b == '\'':
		q.open = b
	}
	q.before = b
	return false
}

// readImage reads the part of a capture for memory. Errors: ErrDamaged, fs.ErrNotExist.
func readImage(path string) (*Snapshot, error) {
	file, c, err := openCapture(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	i, err := c.image()
	if err != nil {
		return nil, fmt.Errorf("%q: %w", path, err)
	}
	// Commands of ours in the background have records of their own, which outlive the shell.
	ours := strings.TrimSuffix(Quote(filepath.Join(filepath.Dir(path), shelldir.CommandsDir)), "'") + "/"
	i.jobs = slices.DeleteFunc(i.jobs, func(job string) bool { return strings.Contains(job, ours) })
	return i, nil
}

// openCapture opens a capture. Errors: ErrDamaged, fs.ErrNotExist.
func openCapture(path string) (*os.File, *capture, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	var c *capture
	if err == nil {
		c, err = openCaptured(file, info.Size())
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, fmt.Errorf("%q: %w", path, err)
	}
	return file, c, nil
}

// window is a file of which one part is in memory. It is not read as a whole, nor mapped: a capture
// may have maxState bytes, and the user can truncate it, which would be SIGBUS.
type window struct {
	file   io.ReaderAt
	end    int64
	buffer []byte
	from   int64 // where the part begins
	filled int
	failed error // the first one; all reads are empty after it
}

// part returns the bytes in memory from a position on, none at the end and after an error. They are
// valid until the next call.
func (w *window) part(at int64) []byte {
	if at < w.from || at >= w.from+int64(w.filled) {
		w.from, w.filled = at, 0
		if w.failed != nil || at >= w.end {
			return nil
		}
		n, err := w.file.ReadAt(w.buffer[:min(int64(len(w.buffer)), w.end-at)], at)
		if w.filled = n; n == 0 {
			w.failed = err
		}
	}
	return w.buffer[at-w.from : w.filled]
}

// find returns the position of the first such byte before end.
func (w *window) find(at, end int64, b byte) (int64, bool) {
	for piece := range w.pieces(span{at, end - at}) {
		if n := bytes.IndexByte(piece, b); n >= 0 {
			return at + int64(n), true
		}
		at += int64(len(piece))
	}
	return end, false
}

// count is the number of NULs in a span.
func (w *window) count(s span) (n int) {
	for piece := range w.pieces(s) {
		n += bytes.Count(piece, []byte{0})
	}
	return n
}

// read is a span as text, "" after an error.
func (w *window) read(s span) string {
	text := make([]byte, 0, s.size)
	for piece := range w.pieces(s) {
		text = append(text, piece...)
	}
	if w.failed != nil {
		return ""
	}
	return string(text)
}

// pieces are the pieces of a span, in order, up to the end or an error of the file. Each is valid
// until the next one.
func (w *window) pieces(s span) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for s.size > 0 {
			piece := w.part(s.at)
			piece = piece[:min(int64(len(piece)), s.size)]
			if len(piece) == 0 || !yield(piece) {
				return
			}
			s.at += int64(len(piece))
			s.size -= int64(len(piece))
		}
	}
}
