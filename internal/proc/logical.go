package proc

import (
	"os"
	"path/filepath"
)

// LogicalDir is pwd while it names the directory dir, else dir: a PWD keeps the links by which somebody came (POSIX, cd
// and pwd -L: absolute, without . and ..).
func LogicalDir(pwd, dir string) string {
	if pwd == dir || !filepath.IsAbs(pwd) || filepath.Clean(pwd) != pwd {
		return dir
	}
	there, err := os.Stat(pwd)
	if err != nil {
		return dir
	}
	here, err := os.Stat(dir)
	if err != nil || !os.SameFile(there, here) {
		return dir
	}
	return pwd
}
