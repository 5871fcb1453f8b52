package tests

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/evertty/evertty/"

// arrows says which folders a folder may import: the table of ARCHITECTURE.md.
// A folder that is not here may not exist.
var arrows = map[string][]string{
	"vt":             {},
	"vt/vt10x":       {"vt"},
	"pty":            {},
	"pty/keeper":     {"pty"},
	"shell":          {"pty", "pty/keeper"},
	"relay":          {"provider", "shell"},
	"provider":       {"pty"},
	"snapshot":       {"vt"},
	"session":        {},
	"record":         {"session"},
	"session/sqlite": {"session", "record"},
	"stream":         {"vt", "snapshot"},
	"mux": {"vt", "pty", "pty/keeper", "provider", "record", "relay", "session", "shell", "snapshot",
		"stream"},
	"api": {"mux", "provider", "record", "session", "stream", "snapshot", "pty", "pty/keeper", "shell", "vt",
		"webui"},
	"client": {},
	"webui":  {},
	"cmd/evertty": {"api", "mux", "provider", "record", "relay", "session", "session/sqlite", "snapshot", "vt",
		"vt/vt10x", "pty", "pty/keeper", "client"},
	"tests":          {},
	"tests/fakeprov": {"pty"},
	"tests/polling":  {},
}

// homes says which folders may import a third-party module. One that is not
// here may be used nowhere.
var homes = map[string][]string{
	"github.com/creack/pty":               {"pty"},
	"github.com/hinshun/vt10x":            {"vt/vt10x"},
	"github.com/gorilla/websocket":        {"stream", "client", "provider", "tests/fakeprov"},
	"github.com/r3labs/sse/v2":            {"client"},
	"github.com/labstack/echo/v4":         {"api"},
	"github.com/klauspost/compress":       {"api", "snapshot"},
	"github.com/prometheus/client_golang": {"mux", "api"},
	"github.com/spf13/cobra":              {"cmd/evertty"},
	"github.com/spf13/pflag":              {"cmd/evertty"},
	"github.com/BurntSushi/toml":          {"cmd/evertty"},
	"modernc.org/sqlite":                  {"session/sqlite"},
	"golang.org/x/crypto":                 {"provider"},
	"github.com/pkg/sftp":                 {"provider"},
	"golang.org/x/term":                   {"cmd/evertty"},
	"golang.org/x/time":                   {"api"},
	"golang.org/x/sys":                    {"pty", "pty/keeper", "shell", "api", "snapshot", "cmd/evertty"},
}

// golang is what `go list` tells of a package.
type golang struct {
	ImportPath, Dir  string
	Imports, GoFiles []string
	Standard         bool
}

func packages(t *testing.T) []golang {
	t.Helper()
	c := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	c.Dir = ".."
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []golang
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p golang
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < len(arrows) {
		t.Fatalf("go list found %d packages, the table has %d", len(list), len(arrows))
	}
	return list
}

// TestLayers holds the folders and arrows of ARCHITECTURE.md. Imports of test
// files are free.
func TestLayers(t *testing.T) {
	for _, p := range packages(t) {
		folder := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := arrows[folder]
		if !known {
			t.Errorf("%s: a folder that the table does not have; add it with a reason in docs/adr", folder)
		}
		for _, i := range p.Imports {
			if own, ok := strings.CutPrefix(i, module); ok {
				if !slices.Contains(allowed, own) {
					t.Errorf("%s imports %s; it may import %v", folder, own, allowed)
				}
			} else if strings.Contains(i, ".") {
				checkHome(t, folder, i)
			}
		}
	}
}

func checkHome(t *testing.T, folder, path string) {
	t.Helper()
	for module, at := range homes {
		if path == module || strings.HasPrefix(path, module+"/") {
			if !slices.Contains(at, folder) {
				t.Errorf("%s imports %s, which belongs to %v", folder, path, at)
			}
			return
		}
	}
	t.Errorf("%s imports %s, a module that has no place in the table", folder, path)
}

// The ends of what fits into a head.
const (
	maxFile     = 700 // lines
	maxFunction = 80  // lines
)

// TestSizes: no source file and no function is longer than its end.
func TestSizes(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			if n := set.File(f.Pos()).LineCount(); n > maxFile {
				t.Errorf("%s has %d lines, %d is the end", path, n, maxFile)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > maxFunction {
					t.Errorf("%s: %s has %d lines, %d is the end", path, fn.Name.Name, n, maxFunction)
				}
			}
		}
	}
}
