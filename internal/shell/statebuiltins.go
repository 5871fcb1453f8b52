package shell

import "slices"

// call is the words that run a builtin, "" when none does. Before the first capture everything does.
func (i *image) call(name string) string {
	switch {
	case i == nil:
		return `\` + name
	case slices.Contains(i.disabled, name):
	case !i.defines(name):
		return `\` + name
	case i.means("builtin"):
		return `\builtin ` + name
	case i.means("command"):
		return `\command ` + name
	}
	if name == "." {
		return i.call("source")
	}
	return ""
}

// means tells whether a name is that of a builtin and of nothing that comes before it.
func (i *image) means(name string) bool {
	return !i.defines(name) && !slices.Contains(i.disabled, name)
}

// defines tells whether there is a function of the name.
func (i *image) defines(name string) bool {
	return slices.ContainsFunc(i.functions, func(f function) bool { return f.name == name })
}

// reachable is the image as a new process can have it and still be told to read a file, and what is left out for that, in words. A new process has all builtins.
func (i *image) reachable() (*image, []string) {
	next := *i
	next.disabled = nil
	if next.call(".") != "" {
		return &next, nil
	}
	next.functions = slices.DeleteFunc(slices.Clone(i.functions), func(f function) bool { return f.name == "." })
	return &next, []string{"function ."}
}
