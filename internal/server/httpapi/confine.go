package httpapi

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/evertty/evertty/wire"
)

// CheckSandbox refuses a value that is none. Errors: 400 VALIDATION.
func CheckSandbox(s wire.Sandbox) error {
	switch s {
	case "", wire.SandboxNone, wire.SandboxWorkspace, wire.SandboxReadOnly:
		return nil
	}
	return BadRequest("sandbox %q: none, workspace or read-only is allowed", Clip(string(s))).WithField("sandbox")
}

// CheckLimits refuses limits that the tags of their fields do not allow; nil is none. Errors: 400 VALIDATION.
func CheckLimits(l *wire.Limits) error {
	if l == nil {
		return nil
	}
	for f, v := range reflect.ValueOf(*l).Fields() {
		if v.IsNil() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		least, _ := strconv.ParseInt(f.Tag.Get("minimum"), 10, 64)
		most, _ := strconv.ParseInt(f.Tag.Get("maximum"), 10, 64)
		if n := v.Elem().Int(); n < least || n > most {
			return BadRequest("limits.%s %d: %d to %d are allowed", name, n, least, most).WithField("limits." + name)
		}
	}
	return nil
}
