package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// errNotAllowed is the error of Set. notAllowed makes the sentence with the key, the value and the allowed values.
var errNotAllowed = errors.New("not allowed")

// value is a flag that says what it takes.
type value struct {
	kind, allowed string
	set           func(string) bool // false: the value is not allowed
	get           func() string
	words         []string // all that there are; nil for others than enums
}

// Set takes a value from the command line.
func (v *value) Set(s string) error {
	if !v.set(s) {
		return errNotAllowed
	}
	return nil
}

// String is the value as it would be given.
func (v *value) String() string { return v.get() }

// Type names the kind of the value in the help.
func (v *value) Type() string { return v.kind }

// flag is a flag of a verb.
type flag struct {
	name, short string
	value       any // a pflag.Value, or what to write to, which holds the default
	usage       string
}

// addFlags adds flags to a verb.
func addFlags(c *cobra.Command, flags ...flag) {
	to := c.Flags()
	for _, f := range flags {
		switch v := f.value.(type) {
		case pflag.Value:
			to.VarP(v, f.name, f.short, f.usage)
		case *string:
			to.StringVarP(v, f.name, f.short, *v, f.usage)
		case *bool:
			to.BoolVarP(v, f.name, f.short, *v, f.usage)
		case *int:
			to.IntVarP(v, f.name, f.short, *v, f.usage)
		case *[]string: // may be repeated
			to.StringArrayVarP(v, f.name, f.short, *v, f.usage)
		case *map[string]string: // likewise
			to.VarP(newPairs(v), f.name, f.short, f.usage)
		}
	}
}

// newDuration is a flag of a duration, in Go's form or plain seconds. It writes to p, which is set to preset at once.
func newDuration(p *time.Duration, preset time.Duration) *value {
	*p = preset
	return &value{"duration", "a duration such as 90s or 30m, or plain seconds", func(s string) bool {
		d, err := time.ParseDuration(s)
		if err != nil {
			seconds, err := strconv.ParseFloat(s, 64)
			// The comparison is false for NaN.
			if err != nil || !(math.Abs(seconds) < math.MaxInt64/float64(time.Second)) {
				return false
			}
			d = time.Duration(seconds * float64(time.Second))
		}
		if d >= 0 {
			*p = d
		}
		return d >= 0
	}, func() string { return shortDuration(*p) }, nil}
}

// shortDuration is Go's form without the zeros behind a whole hour or minute.
func shortDuration(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// sizeUnits are the units of sizes (IEC 80000-13), largest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// newSize is a flag of a number of bytes, plain or with a binary unit. It writes to p, which is set to preset at once.
func newSize(p *int64, preset int64) *value {
	v := newSizeOf(p, preset, 0, math.MaxInt64)
	v.allowed = "a number of bytes, plain or as 512KiB, 64MiB or 1GiB"
	return v
}

// newSizeOf is newSize for sizes from lo to hi.
func newSizeOf(p *int64, preset, lo, hi int64) *value {
	*p = preset
	allowed := fmt.Sprintf("%s to %s, in bytes or as 512KiB, 64MiB or 1GiB", shortSize(lo), shortSize(hi))
	return &value{"size", allowed, func(s string) bool {
		unit := int64(1)
		for _, u := range sizeUnits {
			if n, ok := strings.CutSuffix(s, u.name); ok {
				s, unit = strings.TrimSpace(n), u.bytes
				break
			}
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt64/unit || n*unit < lo || n*unit > hi {
			return false
		}
		*p = n * unit
		return true
	}, func() string { return shortSize(*p) }, nil}
}

// shortSize is a number of bytes in the largest unit that it is a multiple of.
func shortSize(bytes int64) string {
	for _, u := range sizeUnits {
		if bytes >= u.bytes && bytes%u.bytes == 0 {
			return fmt.Sprintf("%d%s", bytes/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(bytes, 10)
}

// newEnum is a flag of one of a few words. It writes to p; what p holds is the default.
func newEnum(p *string, words ...string) *value {
	return &value{"word", strings.Join(words, ", "), func(s string) bool {
		known := slices.Contains(words, s)
		if known {
			*p = s
		}
		return known
	}, func() string { return *p }, words}
}

// enumFlag adds a flag of one of a few words.
func enumFlag(c *cobra.Command, name string, p *string, words []string, usage string) {
	c.Flags().Var(newEnum(p, words...), name, usage)
}

// newInt is a flag of a whole number from lo to hi. It writes to p, which is set to preset at once.
func newInt(p *int, preset, lo, hi int) *value {
	*p = preset
	return &value{"int", fmt.Sprintf("%d to %d", lo, hi), func(s string) bool {
		n, err := strconv.Atoi(s)
		if err != nil || n < lo || n > hi {
			return false
		}
		*p = n
		return true
	}, func() string { return strconv.Itoa(*p) }, nil}
}

// newPairs is a flag of NAME=VALUE that may be repeated; a later one of the same name wins. It writes to p.
func newPairs(p *map[string]string) *value {
	return &value{"pair", "NAME=VALUE", func(s string) bool {
		name, text, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return false
		}
		if *p == nil {
			*p = map[string]string{}
		}
		(*p)[name] = text
		return true
	}, func() string { return "" }, nil}
}

// newPosition is a flag of a position in the output. It writes to p, nil for "".
func newPosition(p **uint64) *value {
	given := ""
	return &value{"position", "a position in the output, from 0", func(s string) bool {
		at, err := strconv.ParseUint(s, 10, 64)
		if given = s; err == nil {
			*p = &at
		}
		return err == nil || s == ""
	}, func() string { return given }, nil}
}

// newSpeed is a flag of a factor up to maxSpeed. It writes to p, which is set to preset at once.
func newSpeed(p *float64, preset float64) *value {
	*p = preset
	return &value{"number", fmt.Sprintf("a number from 0.001 to %d", maxSpeed), func(s string) bool {
		f, err := strconv.ParseFloat(s, 64)
		// The comparison is false for NaN.
		if err != nil || !(f >= 1.0/maxSpeed && f <= maxSpeed) {
			return false
		}
		*p = f
		return true
	}, func() string { return strconv.FormatFloat(*p, 'g', -1, 64) }, nil}
}
