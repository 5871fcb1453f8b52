package httpapi

import (
	"slices"
)

// PartOf is that part of a list, and the after of the next one, "" at the end. ok is false when the list has no such
// id.
func PartOf[T any](list []T, after string, limit int, id func(T) string) (part []T, next string, ok bool) {
	if after != "" {
		i := slices.IndexFunc(list, func(v T) bool { return id(v) == after })
		if i < 0 {
			return nil, "", false
		}
		list = list[i+1:]
	}
	if limit > 0 && limit < len(list) {
		return list[:limit], id(list[limit-1]), true
	}
	return list, "", true
}

// OrNone is a list that is [] in JSON when it is empty.
func OrNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// MaxNumber bounds what numbers of events and entries may be, so that one more still is a number in
// JSON.
const MaxNumber = 1 << 53
