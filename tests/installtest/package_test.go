package installtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// deb is the package for Debian, of the part nfpms of .goreleaser.yaml: GoReleaser itself takes far longer to compile
// than all of this takes.
var deb = sync.OnceValues(func() (string, error) { return pack(filepath.Join(scratch, "deb"), "deb") })

// pack makes a package in a new directory dir and returns its path.
func pack(dir, format string) (string, error) {
	from, err := built()
	if err != nil {
		return "", err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	settings, err := nfpmSettings(from)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "nfpm.yaml")
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		return "", err
	}
	target := filepath.Join(dir, "evertty."+format)
	return target, repo("go", "run", nfpm, "package", "--config", file, "--packager", format, "--target", target)
}

// nfpmSettings is the part of GoReleaser's settings in the form of nfpm, with the files of from.
func nfpmSettings(from string) (string, error) {
	b, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		return "", err
	}
	_, part, found := strings.Cut(string(b), "\nnfpms:\n  - formats: [deb, rpm]\n")
	part, _, ends := strings.Cut(part, "\n\nchecksum:")
	if !found || !ends {
		return "", fmt.Errorf("the part nfpms is not where it was in .goreleaser.yaml")
	}
	part = regexp.MustCompile(`(?m)^    (ids|file_name_template):.*\n`).ReplaceAllString(part, "")
	part = regexp.MustCompile(`(?m)^    `).ReplaceAllString(part, "")
	part = strings.NewReplacer("{{ .CommitDate }}", builtDate, "bin/share/", from+"/share/",
		"contents:\n", "contents:\n  - src: "+from+"/evertty\n    dst: /usr/bin/evertty\n"+
			"    file_info: { mode: 0755, mtime: \""+builtDate+"\" }\n").Replace(part)
	return "name: evertty\narch: " + runtime.GOARCH + "\nplatform: linux\nversion: " + version + "\n" + part, nil
}

// TestPackagesAreTheSameTwice: the same source gives the same bytes.
func TestPackagesAreTheSameTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a package")
	}
	first, err := deb()
	if err != nil {
		t.Fatal(err)
	}
	again, err := pack(t.TempDir()+"/again", "deb")
	if err != nil {
		t.Fatal(err)
	}
	a, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("%d bytes, then other %d", len(a), len(b))
	}
}
