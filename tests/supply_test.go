package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What others make is named by its content: a tag may name something else tomorrow.
var (
	actionByHash  = regexp.MustCompile(`@[0-9a-f]{40} # v[0-9]`)
	imageByDigest = regexp.MustCompile(`^FROM \S+@sha256:[0-9a-f]{64}( AS \w+)?$`)
)

// TestWorkflowsNameActionsByHash reads each workflow: a tag of an action can be moved.
func TestWorkflowsNameActionsByHash(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal("no workflow", err)
	}
	for _, file := range files {
		eachLine(t, file, func(at int, line string) {
			if strings.Contains(line, "uses:") && !actionByHash.MatchString(line) {
				t.Errorf("%s:%d: want the hash of a commit, and the version as a comment: %s", file, at, line)
			}
		})
	}
}

// TestImagesByDigest reads the Dockerfile.
func TestImagesByDigest(t *testing.T) {
	t.Parallel()
	found := 0
	eachLine(t, "../Dockerfile", func(at int, line string) {
		if !strings.HasPrefix(line, "FROM ") {
			return
		}
		found++
		if !imageByDigest.MatchString(line) {
			t.Errorf("Dockerfile:%d: want a base image by digest: %s", at, line)
		}
	})
	if found == 0 {
		t.Error("the Dockerfile has no base image")
	}
}

// TestPackagesRunNothingWhenInstalled reads what installs npm packages: their scripts would run with the rights of the
// build.
func TestPackagesRunNothingWhenInstalled(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"../Makefile", "../Dockerfile", "../vt/width.go"} {
		found := false
		eachLine(t, file, func(at int, line string) {
			install := strings.Contains(line, "npm ci") || strings.Contains(line, "npm install")
			found = found || install
			if install && !strings.Contains(line, "--ignore-scripts") {
				t.Errorf("%s:%d: want --ignore-scripts: %s", file, at, line)
			}
		})
		if !found {
			t.Errorf("%s installs nothing any more: name what does", file)
		}
	}
}

func eachLine(t *testing.T, file string, look func(at int, line string)) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(b), "\n") {
		look(i+1, line)
	}
}
