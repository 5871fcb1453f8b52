package shell

import (
	"maps"
	"slices"
	"strings"
)

// longestKept is how long the value of a variable is that is kept in memory, in bytes: no process can be given a longer one (MAX_ARG_STRLEN of Linux).
const longestKept = 128 << 10

// slim is the part of an image that is of use while its shell runs. It shares no memory with the text of the capture: what a user keeps in variables, functions and
// arguments is in the file alone.
func (i *image) slim() *image {
	s := &image{directory: strings.Clone(i.directory), umask: strings.Clone(i.umask), traps: clones(i.traps), files: clones(i.files), disabled: clones(i.disabled),
		shopts: clonedOptions(i.shopts), sets: clonedOptions(i.sets), limits: maps.Clone(i.limits)}
	for name, value := range s.limits {
		s.limits[name] = strings.Clone(value)
	}
	for _, v := range i.variables {
		if v.has("x") && !v.array() && len(v.value) <= longestKept {
			s.variables = append(s.variables, variable{strings.Clone(v.name), strings.Clone(v.flags), v.assigned, strings.Clone(v.value), nil})
		}
	}
	for _, f := range i.functions {
		s.functions = append(s.functions, function{name: strings.Clone(f.name), flags: strings.Clone(f.flags)})
	}
	for _, a := range i.aliases {
		s.aliases = append(s.aliases, element{strings.Clone(a.key), strings.Clone(a.value)})
	}
	for _, j := range i.jobs {
		s.jobs = append(s.jobs, job{j.pid, strings.Clone(j.text)})
	}
	return s
}

func clones(list []string) []string {
	list = slices.Clone(list)
	for i := range list {
		list[i] = strings.Clone(list[i])
	}
	return list
}

func clonedOptions(list []option) []option {
	list = slices.Clone(list)
	for i := range list {
		list[i].name = strings.Clone(list[i].name)
	}
	return list
}

// whole is the image with all that its file has. When that cannot be read any more it is what is in memory, and what is missing is told in words.
func (i *image) whole(dir string) (*image, []string) {
	full, err := readImage(stateIn(dir), false)
	if err == nil {
		return full, nil
	}
	bare := *i
	bare.functions = nil
	return &bare, []string{"variables that are not exported, functions, arguments, completions and the directory stack: the file of the state is damaged or missing"}
}
