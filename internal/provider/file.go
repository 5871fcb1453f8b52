package provider

import "path"

// AbsPath is a path of an instance: a relative one begins in cwd.
func AbsPath(cwd, name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(cwd, name)
}
