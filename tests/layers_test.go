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
	"sync"
	"testing"
)

const module = "github.com/evertty/evertty/"

// arrows says which folders a folder may import: the table of ARCHITECTURE.md.
// A folder that is not here may not exist.
var arrows = map[string][]string{
	"internal/jsonstring":       {},
	"internal/lifetime":         {},
	"internal/localsocket":      {},
	"internal/notify":           {},
	"internal/parallel":         {},
	"internal/proc":             {},
	"internal/provider":         {},
	"internal/shell/clock":      {},
	"internal/shell/shelldir":   {},
	"internal/owner":            {},
	"internal/strictmodes":      {},
	"tests":                     {},
	"tests/polling":             {},
	"vt":                        {},
	"webui":                     {},
	"wire":                      {},
	"client":                    {"internal/localsocket", "internal/strictmodes", "wire"},
	"internal/bench":            {"client", "wire"},
	"internal/descriptors":      {"internal/memory", "internal/proc"},
	"internal/memory":           {},
	"internal/permission":       {"vt", "wire"},
	"internal/provider/wait":    {"internal/provider"},
	"internal/shell/output":     {"internal/shell/shelldir"},
	"internal/shell/proctree":   {"internal/proc", "internal/shell/shelldir"},
	"internal/terminal/echo":    {"vt"},
	"internal/thread":           {"internal/provider", "wire"},
	"internal/confine":          {"internal/proc"},
	"pty":                       {"internal/confine", "internal/proc"},
	"pty/keeper/protocol":       {"internal/proc"},
	"snapshot":                  {"internal/jsonstring", "vt", "wire"},
	"vt/vt10x":                  {"vt"},
	"internal/conversation":     {"internal/permission", "wire"},
	"internal/datadir":          {"snapshot", "vt"},
	"internal/provider/bash":    {"internal/provider", "internal/provider/wait"},
	"internal/provider/local":   {"internal/proc", "internal/provider", "internal/provider/wait"},
	"internal/provider/service": {"internal/provider", "internal/provider/wait"},
	"internal/shell/interrupt":  {"internal/proc", "internal/shell/proctree"},
	"internal/shell/state":      {"internal/proc", "internal/shell/proctree", "internal/shell/shelldir", "pty"},
	"internal/startdir":         {"pty"},
	"pty/keeper":                {"internal/notify", "internal/proc", "pty", "pty/keeper/protocol"},
	"pty/keeper/holder":         {"internal/proc", "pty/keeper/protocol"},
	"scripts/demo":              {"pty"},
	"scripts/mutate":            {},
	"tests/fakeprov":            {"internal/proc", "pty"},
	"tests/installtest":         {}, // tests alone
	"internal/conversation/store": {"internal/conversation", "internal/datadir", "internal/owner",
		"internal/permission", "internal/thread", "wire"},
	"internal/journal":           {"internal/datadir", "snapshot"},
	"internal/provider/agentbay": {"internal/provider", "internal/provider/bash", "internal/provider/service"},
	"internal/provider/daytona": {"internal/provider", "internal/provider/bash", "internal/provider/service",
		"internal/provider/wait"},
	"internal/provider/docker": {"internal/provider", "internal/provider/bash", "internal/provider/wait"},
	"internal/provider/e2b": {"internal/provider", "internal/provider/bash", "internal/provider/service",
		"internal/provider/wait"},
	"internal/provider/ssh":  {"internal/provider", "internal/provider/bash", "internal/provider/wait", "pty"},
	"internal/shell/history": {"internal/confine", "internal/shell/shelldir", "pty", "pty/keeper", "wire"},
	"internal/shell/script":  {"internal/shell/shelldir", "internal/shell/state"},
	"internal/shell/stdio": {"internal/proc", "internal/shell/output", "internal/shell/shelldir", "pty",
		"pty/keeper"},
	"internal/asciicast": {"internal/journal", "internal/jsonstring"},
	"internal/provider/catalog": {"internal/provider", "internal/provider/agentbay", "internal/provider/daytona",
		"internal/provider/docker", "internal/provider/e2b", "internal/provider/ssh", "internal/provider/wait"},
	"internal/shell/bash": {"internal/proc", "internal/shell/proctree", "internal/shell/script",
		"internal/shell/shelldir", "pty", "pty/keeper"},
	"internal/thread/sqlite": {"internal/conversation", "internal/conversation/store", "internal/permission",
		"internal/thread"},
	"internal/backup": {"internal/datadir", "internal/thread/sqlite"},
	"stream":          {"internal/journal", "internal/jsonstring", "internal/notify", "snapshot", "vt", "wire"},
	"tests/providertest": {"internal/provider", "internal/provider/bash", "internal/provider/catalog",
		"tests/fakeprov", "tests/polling"},
	"internal/shell": {"internal/confine", "internal/proc", "internal/shell/bash", "internal/shell/clock",
		"internal/shell/history",
		"internal/shell/interrupt", "internal/shell/output", "internal/shell/proctree", "internal/shell/script",
		"internal/shell/shelldir", "internal/shell/state", "internal/shell/stdio", "pty", "pty/keeper"},
	"internal/metrics": {"internal/shell", "stream"},
	"internal/provider/relay": {"internal/provider", "internal/provider/bash", "internal/provider/catalog",
		"internal/shell", "internal/shell/state"},
	"internal/terminal": {"internal/owner", "internal/confine", "internal/datadir", "internal/descriptors",
		"internal/journal", "internal/lifetime", "internal/metrics", "internal/notify", "internal/parallel",
		"internal/proc", "internal/startdir", "internal/terminal/echo", "pty", "pty/keeper", "snapshot", "stream", "vt",
		"wire"},
	"internal/shell/registry": {"internal/owner", "internal/confine", "internal/datadir", "internal/descriptors",
		"internal/journal",
		"internal/lifetime", "internal/metrics", "internal/parallel", "internal/proc", "internal/shell",
		"internal/shell/output", "internal/shell/proctree", "internal/shell/shelldir", "internal/terminal",
		"internal/thread", "pty", "pty/keeper", "wire"},
	"internal/terminal/wait": {"internal/journal", "internal/proc", "internal/terminal", "internal/terminal/echo",
		"snapshot", "stream", "vt", "wire"},
	"internal/thread/service": {"internal/owner", "internal/conversation/store", "internal/datadir",
		"internal/lifetime", "internal/notify", "internal/parallel", "internal/permission", "internal/proc",
		"internal/provider",
		"internal/provider/local", "internal/provider/relay", "internal/shell", "internal/shell/registry",
		"internal/startdir", "internal/terminal", "internal/thread", "internal/thread/sqlite", "pty", "stream", "wire"},
	"internal/supervisor": {"internal/descriptors", "internal/lifetime", "internal/memory", "internal/metrics",
		"internal/shell/registry", "internal/terminal", "internal/terminal/wait", "internal/thread/service",
		"pty/keeper", "stream", "wire"},
	"internal/server/httpapi": {"internal/owner", "internal/conversation", "internal/datadir", "internal/descriptors",
		"internal/journal", "internal/memory", "internal/permission", "internal/proc", "internal/provider",
		"internal/shell", "internal/shell/registry", "internal/supervisor", "internal/terminal", "internal/thread",
		"internal/thread/service", "pty", "pty/keeper", "stream", "vt", "wire"},
	"tests/supervisortest": {"internal/confine", "internal/datadir", "internal/metrics", "internal/supervisor",
		"internal/terminal",
		"internal/terminal/wait", "pty/keeper", "pty/keeper/holder", "tests/polling", "vt",
		"wire"},
	"internal/openapi": {"internal/server/httpapi", "wire"},
	"internal/server/auth": {"internal/owner", "internal/datadir", "internal/permission", "internal/server/httpapi",
		"wire"},
	"internal/server/viewer":  {"internal/journal", "internal/proc", "internal/server/httpapi", "stream", "vt", "wire"},
	"internal/server/foreign": {"internal/server/viewer", "stream", "wire"},
	"internal/server/exec": {"internal/owner", "internal/jsonstring", "internal/permission", "internal/server/auth",
		"internal/server/httpapi", "internal/shell", "internal/shell/output", "internal/shell/registry",
		"internal/terminal", "wire"},
	"internal/server/compat": {"internal/owner", "internal/jsonstring", "internal/permission", "internal/provider",
		"internal/server/auth", "internal/server/exec", "internal/server/httpapi", "internal/shell",
		"internal/shell/registry", "internal/terminal", "internal/thread/service", "wire"},
	"internal/server/threadapi": {"internal/owner", "internal/conversation", "internal/conversation/store",
		"internal/permission", "internal/server/auth", "internal/server/exec", "internal/server/httpapi",
		"internal/terminal",
		"internal/thread", "internal/thread/service", "wire"},
	"internal/server/sshd": {"internal/datadir", "internal/owner", "internal/server/auth",
		"internal/strictmodes", "pty", "stream"},
	"internal/server": {"internal/owner", "internal/asciicast", "internal/backup", "internal/descriptors",
		"internal/journal", "internal/metrics", "internal/permission", "internal/server/auth",
		"internal/server/compat", "internal/server/exec", "internal/server/foreign",
		"internal/server/httpapi", "internal/server/threadapi", "internal/server/viewer", "internal/startdir",
		"internal/supervisor", "internal/terminal", "internal/terminal/wait", "stream", "vt", "webui", "wire"},
	"cmd/evertty": {"client", "internal/asciicast", "internal/backup", "internal/bench", "internal/confine",
		"internal/conversation", "internal/conversation/store",
		"internal/datadir", "internal/journal", "internal/localsocket", "internal/memory", "internal/metrics",
		"internal/permission",
		"internal/proc", "internal/provider/catalog", "internal/provider/relay", "internal/server",
		"internal/server/auth", "internal/server/sshd", "internal/shell/proctree", "internal/shell/registry",
		"internal/strictmodes",
		"internal/supervisor", "internal/terminal", "internal/thread",
		"internal/thread/service", "internal/thread/sqlite", "pty", "pty/keeper", "pty/keeper/holder", "snapshot",
		"vt", "vt/vt10x", "wire"},
	"internal/strictmodes/strictmodestest": {"internal/strictmodes"},

	"internal/openapi/generate": {"internal/openapi", "internal/server", "internal/server/httpapi"},
}

// homes says which folders may import a third-party module. One that is not
// here may be used nowhere.
var homes = map[string][]string{
	"github.com/go-json-experiment/json": {"internal/shell/shelldir", "internal/server/httpapi"},
	"github.com/creack/pty":              {"internal/bench", "pty"},
	"github.com/hinshun/vt10x":           {"vt/vt10x"},
	"github.com/gorilla/websocket": {"client", "internal/bench", "internal/provider/daytona", "internal/server/foreign",
		"internal/server/viewer", "tests/fakeprov"},
	"github.com/r3labs/sse/v2": {}, // tests alone
	"github.com/labstack/echo/v4": {"internal/server", "internal/server/auth", "internal/server/compat",
		"internal/server/exec", "internal/server/httpapi", "internal/server/threadapi"},
	"github.com/klauspost/compress": {"internal/backup", "internal/server", "internal/server/httpapi",
		"internal/journal", "snapshot", "vt"},
	"github.com/prometheus/client_golang": {"internal/memory", "internal/metrics", "internal/terminal",
		"internal/shell/registry", "internal/thread/service", "internal/supervisor", "internal/server"},
	"github.com/spf13/cobra":        {"cmd/evertty"},
	"rsc.io/qr":                     {"cmd/evertty", "internal/server/auth"},
	"github.com/spf13/pflag":        {"cmd/evertty"},
	"github.com/coreos/go-systemd":  {"cmd/evertty"},
	"github.com/BurntSushi/toml":    {"cmd/evertty"},
	"modernc.org/sqlite":            {"internal/thread/sqlite"},
	"golang.org/x/crypto":           {"internal/provider/ssh", "internal/server/sshd"},
	"github.com/pkg/sftp":           {"internal/provider/ssh"},
	"github.com/moby/moby":          {"internal/provider/docker"},
	"mvdan.cc/sh/v3":                {"internal/shell/script"},
	"github.com/containerd/errdefs": {"internal/provider/docker"},
	"golang.org/x/term":             {"cmd/evertty"},
	"golang.org/x/time":             {"internal/server/auth", "internal/server"},
	"golang.org/x/sys": {"scripts/mutate", "internal/bench", "internal/confine", "internal/proc", "pty", "pty/keeper",
		"pty/keeper/holder", "pty/keeper/protocol", "internal/shell", "internal/shell/bash", "internal/shell/stdio",
		"internal/shell/interrupt",
		"internal/shell/output", "internal/shell/proctree", "internal/shell/shelldir", "internal/server/auth",
		"internal/server/compat", "internal/server/httpapi", "internal/asciicast", "internal/datadir",
		"internal/journal", "internal/backup", "cmd/evertty"},
}

// golang is what `go list` tells of a package.
type golang struct {
	ImportPath, Dir  string
	Imports, GoFiles []string
	Standard         bool
}

// listed is what `go list` prints, once for all tests.
var listed = sync.OnceValues(func() ([]byte, error) {
	c := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles", "./...")
	c.Dir = ".."
	return c.Output()
})

func packages(t *testing.T) []golang {
	t.Helper()
	out, err := listed()
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
	t.Parallel()
	for _, p := range packages(t) {
		folder := strings.TrimPrefix(p.ImportPath, module)
		allowed, known := arrows[folder]
		if !known {
			t.Errorf("%s: a folder that the table does not have; add it with a reason in docs/develop/adr", folder)
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
	t.Parallel()
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
