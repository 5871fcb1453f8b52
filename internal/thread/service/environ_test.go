package service

import (
	"maps"
	"slices"
	"testing"

	"github.com/evertty/evertty/internal/thread"
)

func FuzzParseEnviron(f *testing.F) {
	for _, s := range []string{"", "\x00", "A=1\x00", "A=1", "A=\x00B==x\x00", "title\x00\x00\x00", "A=1\x00\x00",
		"=x\x00", "A=1\x00A=2\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		vars, ok := parseEnviron(raw)
		if !ok {
			return
		}
		size := 0
		for name, value := range vars {
			if name == "" {
				t.Errorf("%q has a variable without a name", raw)
			}
			size += len(name) + len(value) + len("=\x00")
		}
		if size == 0 || size > len(raw) {
			t.Errorf("%q is %q", raw, vars)
		}
	})
}

func TestExportsApplied(t *testing.T) {
	began := map[string]string{"GIVEN": "g", "HOME": "/h", "PATH": "/p", "TERM": "dumb", "PWD": "/", "BACK": "b"}
	program := map[string]string{"GIVEN": "g", "HOME": "/other", "TERM": "xterm", "SHLVL": "1", "_": "/bin/x",
		"NEW": "n", "BACK": "b"}
	e := difference(began, program)
	if !maps.Equal(e.set, map[string]string{"HOME": "/other", "NEW": "n"}) || !slices.Equal(e.unset, []string{"PATH"}) {
		t.Errorf("%+v", e)
	}
	was := thread.State{Cwd: "/", Env: map[string]string{"GIVEN": "old", "TERM": "dumb", "GONE": "x", "PATH": "/q"},
		Unset: []string{"BACK", "EARLIER"}}
	got := e.applied(was, began)
	if !maps.Equal(got.Env, map[string]string{"GIVEN": "g", "TERM": "dumb", "HOME": "/other", "NEW": "n"}) ||
		!slices.Equal(got.Unset, []string{"PATH", "EARLIER"}) || got.Cwd != "/" {
		t.Errorf("%+v", got)
	}
	if len(was.Env) != 4 || len(was.Unset) != 2 {
		t.Errorf("the state before was changed: %+v", was)
	}
}
