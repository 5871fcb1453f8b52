package tests

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	docLink    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	docPath    = regexp.MustCompile("`([A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)+/?)`")
	docHeading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	docCode    = regexp.MustCompile("(?ms)^```.*?^```$")
)

// repository returns the tracked files and their folders, relative to the root.
func repository(t *testing.T) map[string]bool {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout:", err)
	}
	has := map[string]bool{}
	for name := range strings.Lines(string(out)) {
		for p := strings.TrimSpace(name); p != "."; p = path.Dir(p) {
			has[p] = true
		}
	}
	return has
}

// anchorsOf returns the anchors of a page's headings as code hosts make them: lower case, letters,
// digits and dashes only.
func anchorsOf(text string) map[string]bool {
	anchors := map[string]bool{}
	for _, m := range docHeading.FindAllStringSubmatch(docCode.ReplaceAllString(text, ""), -1) {
		anchors[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
				return r
			}
			return -1
		}, strings.ToLower(m[1]))] = true
	}
	return anchors
}

// TestDocsNameWhatExists checks links, anchors and quoted paths of every page: a page that names a
// file that was moved sends a newcomer to the wrong room.
func TestDocsNameWhatExists(t *testing.T) {
	t.Parallel()
	has := repository(t)
	for page := range has {
		if !strings.HasSuffix(page, ".md") {
			continue
		}
		b, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, m := range docLink.FindAllStringSubmatch(docCode.ReplaceAllString(text, ""), -1) {
			checkLink(t, has, page, text, m[1])
		}
		for _, m := range docPath.FindAllStringSubmatch(text, -1) {
			root, _, _ := strings.Cut(m[1], "/")
			if p := path.Clean(m[1]); has[root] && !has[p] && !built[p] {
				t.Errorf("%s: `%s` is no file of the repository", page, m[1])
			}
		}
	}
}

// built are paths that pages name and a build or a person creates.
var built = map[string]bool{"vt/testdata/script/NNN-name.txt": true}

func checkLink(t *testing.T, has map[string]bool, page, text, link string) {
	t.Helper()
	if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
		return
	}
	to, anchor, hasAnchor := strings.Cut(link, "#")
	if to != "" {
		file := path.Join(path.Dir(page), to)
		if !has[file] {
			t.Errorf("%s: the link to %s leads nowhere", page, link)
			return
		}
		b, err := os.ReadFile(filepath.Join("..", file))
		if err != nil {
			return // a folder
		}
		text = string(b)
	}
	if hasAnchor && !anchorsOf(text)[anchor] {
		t.Errorf("%s: the link to %s names no heading", page, link)
	}
}

// TestDocsAreReached follows the links of docs/README.md: a page that none of them reaches is read by nobody.
func TestDocsAreReached(t *testing.T) {
	t.Parallel()
	has := repository(t)
	reached, todo := map[string]bool{}, []string{"docs/README.md"}
	for len(todo) > 0 {
		page := todo[0]
		todo = todo[1:]
		if reached[page] || !has[page] || !strings.HasSuffix(page, ".md") {
			continue
		}
		reached[page] = true
		b, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range docLink.FindAllStringSubmatch(docCode.ReplaceAllString(string(b), ""), -1) {
			to, _, _ := strings.Cut(m[1], "#")
			todo = append(todo, path.Join(path.Dir(page), to))
		}
	}
	for page := range has {
		if strings.HasSuffix(page, ".md") && !strings.HasPrefix(page, ".github/") && !reached[page] {
			t.Errorf("no link leads from docs/README.md to %s", page)
		}
	}
}

// docColumns is how wide a line of a document may be, as of code.
const docColumns = 120

// TestDocsFitTheScreen: lines of every page and of the Makefile end at docColumns, a tab being four of them.
func TestDocsFitTheScreen(t *testing.T) {
	t.Parallel()
	for page := range repository(t) {
		if path.Ext(page) != ".md" && page != "Makefile" {
			continue
		}
		b, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(b)) {
			n++
			line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
			if columns := utf8.RuneCountInString(line); columns > docColumns {
				t.Errorf("%s:%d has %d columns, more than %d", page, n, columns, docColumns)
			}
		}
	}
}

// TestTriedNamesTests: what the security model says was tried is tried again by tests that exist. Each number has one
// over the built binary; one of a claim (D) names it in its comment, and names no other.
func TestTriedNamesTests(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/operate/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(page), "\n## Tried and held\n")
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(list, -1)
	if !found || len(named) < 33 {
		t.Fatalf("the list names %d tests", len(named))
	}
	tests := testsOf(t)
	for _, m := range named {
		if tests[m[1]] == "" {
			t.Errorf("docs/operate/security.md names %s, which is no test", m[1])
		}
	}
	comments := securityRows(t)
	rows := strings.Split(list, "\n- **")[1:]
	for n, row := range rows[:min(len(rows), attacks+claims)] {
		number := strconv.Itoa(n + 1)
		if n >= attacks {
			number = "D" + strconv.Itoa(n+1-attacks)
		}
		if !strings.HasPrefix(row, number+". ") {
			t.Errorf("row %s is %.60s", number, row)
		}
		outside := false
		for _, m := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(row, -1) {
			outside = outside || strings.HasPrefix(tests[m[1]], "tests/") &&
				(n < attacks || slices.Contains(comments[number], m[1]))
		}
		if !outside {
			t.Errorf("row %s names no test over the built binary that names it too: %s", number, row)
		}
		delete(comments, number)
	}
	for number, tests := range comments {
		if strings.HasPrefix(number, "D") {
			t.Errorf("%s names row %s, which is none", tests, number)
		}
	}
}

// attacks is how many attacks the security model has by number, claims how many sentences about credentials.
const attacks, claims = 33, 34

// securityRows are the tests over the built binary whose comments name a row, by its number.
func securityRows(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	comment := regexp.MustCompile(`(?m)^// (Test\w+): security rows? ((?:D?\d+|, | and | to )+)`)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range comment.FindAllStringSubmatch(string(b), -1) {
			for _, number := range regexp.MustCompile(`D?\d+`).FindAllString(m[2], -1) {
				rows[number] = append(rows[number], m[1])
			}
		}
	}
	return rows
}

// TestCorporaAreKept: the loaders of what comes from outside keep inputs that their fuzz targets try in every run.
func TestCorporaAreKept(t *testing.T) {
	t.Parallel()
	for dir, target := range map[string]string{
		"internal/server/httpapi": "FuzzBind", "internal/server/viewer": "FuzzMessages", "snapshot": "FuzzDecode",
		"internal/journal": "FuzzJournalOpen", "cmd/evertty": "FuzzConfig", "internal/asciicast": "FuzzCast",
	} {
		kept, err := filepath.Glob(filepath.Join("..", dir, "testdata", "fuzz", target, "*"))
		if err != nil || len(kept) == 0 {
			t.Errorf("%s keeps nothing of %s", dir, target)
		}
	}
}

// testsOf returns where each test and fuzz target of the repository is: of two with one name the one over the binary.
func testsOf(t *testing.T) map[string]string {
	t.Helper()
	names := map[string]string{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for path := range repository(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		b, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
			if !strings.HasPrefix(names[m[1]], "tests/") {
				names[m[1]] = path
			}
		}
	}
	return names
}
