package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// restricted is a value of a flag that can say what it takes.
type restricted interface {
	Allowed() string
}

// errNotAllowed is what Set of our flag values returns; the sentence that names
// the key, the value and the allowed values is made in one place, by notAllowed.
var errNotAllowed = errors.New("not allowed")

// durationValue is a flag of a duration: Go's form or plain seconds.
type durationValue struct{ p *time.Duration }

// newDuration is a flag value that writes to p, which is set to preset at once.
func newDuration(p *time.Duration, preset time.Duration) *durationValue {
	*p = preset
	return &durationValue{p}
}

func (v *durationValue) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		seconds, err := strconv.ParseFloat(s, 64)
		// The comparison is false for NaN.
		if err != nil || !(math.Abs(seconds) < math.MaxInt64/float64(time.Second)) {
			return errNotAllowed
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d < 0 {
		return errNotAllowed
	}
	*v.p = d
	return nil
}

func (v *durationValue) String() string {
	if v.p == nil || *v.p == 0 {
		return "0"
	}
	return shortDuration(*v.p)
}

// shortDuration is Go's form without the zeros behind a whole hour or minute.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func (*durationValue) Type() string { return "duration" }

// Allowed says what Set takes.
func (*durationValue) Allowed() string { return "a duration such as 90s or 30m, or plain seconds" }

// sizeValue is a flag of a number of bytes: plain, or with a binary unit.
type sizeValue struct {
	p      *int64
	lo, hi int64 // bytes; hi 0 is any number
}

// newSize is a flag value that writes to p, which is set to preset at once.
func newSize(p *int64, preset int64) *sizeValue {
	*p = preset
	return &sizeValue{p: p}
}

// newSizeOf is newSize for sizes from lo to hi.
func newSizeOf(p *int64, preset, lo, hi int64) *sizeValue {
	*p = preset
	return &sizeValue{p, lo, hi}
}

// sizeUnits are the units of sizes (IEC 80000-13), largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

func (v *sizeValue) Set(s string) error {
	unit := int64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			s, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/unit || v.hi > 0 && (n*unit < v.lo || n*unit > v.hi) {
		return errNotAllowed
	}
	*v.p = n * unit
	return nil
}

func (v *sizeValue) String() string {
	if v.p == nil {
		return "0"
	}
	for _, u := range sizeUnits {
		if *v.p >= u.bytes && *v.p%u.bytes == 0 {
			return fmt.Sprintf("%d%s", *v.p/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(*v.p, 10)
}

func (*sizeValue) Type() string { return "size" }

// Allowed says what Set takes.
func (v *sizeValue) Allowed() string {
	if v.hi > 0 {
		return fmt.Sprintf("%v to %v, in bytes or as 512KiB, 64MiB or 1GiB", &sizeValue{p: &v.lo}, &sizeValue{p: &v.hi})
	}
	return "a number of bytes, plain or as 512KiB, 64MiB or 1GiB"
}

// enumValue is a flag of one of a few words.
type enumValue struct {
	p     *string
	words []string
}

// newEnum is a flag value that writes to p; what p holds is the default.
func newEnum(p *string, words ...string) *enumValue { return &enumValue{p, words} }

func (v *enumValue) Set(s string) error {
	if !slices.Contains(v.words, s) {
		return errNotAllowed
	}
	*v.p = s
	return nil
}

func (v *enumValue) String() string {
	if v.p == nil {
		return ""
	}
	return *v.p
}

func (*enumValue) Type() string { return "word" }

// Allowed says what Set takes.
func (v *enumValue) Allowed() string { return strings.Join(v.words, ", ") }

// intValue is a flag of a whole number within bounds.
type intValue struct {
	p      *int
	lo, hi int
}

// newInt is a flag value that writes lo..hi to p, which is set to preset at once.
func newInt(p *int, preset, lo, hi int) *intValue {
	*p = preset
	return &intValue{p, lo, hi}
}

func (v *intValue) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < v.lo || n > v.hi {
		return errNotAllowed
	}
	*v.p = n
	return nil
}

func (v *intValue) String() string {
	if v.p == nil {
		return "0"
	}
	return strconv.Itoa(*v.p)
}

func (*intValue) Type() string { return "int" }

// Allowed says what Set takes.
func (v *intValue) Allowed() string { return fmt.Sprintf("%d to %d", v.lo, v.hi) }
