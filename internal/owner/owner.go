// Package owner says which user a session, thread or lease belongs to. Its name inside the server is USER@NAME; without
// USER@ it belongs to the server's own administrators. A user gives and gets NAME alone.
package owner

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// separator is in no name that a client may give to what it makes.
const separator = "@"

// userForm is what a user may be called. It is in names of sessions, in cookies and in the audit log.
var userForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`) })

// CheckUser reports whether a user may be called so.
func CheckUser(name string) error {
	if !userForm().MatchString(name) {
		return fmt.Errorf("%.80q: 1 to 32 letters, digits, '.', '_' or '-' are allowed, a letter or a digit first",
			name)
	}
	return nil
}

// Name is the name inside the server of what a user calls name; user "" is an administrator. With name "" it is the
// space of all that the user has, see In.
func Name(user, name string) string {
	if user == "" {
		return name
	}
	return user + separator + name
}

// Split is the user that a name inside the server belongs to, "" for none, and what the user calls it.
func Split(name string) (user, plain string) {
	if user, plain, ok := strings.Cut(name, separator); ok {
		return user, plain
	}
	return "", name
}

// Space is Name(user, "") of the user that a name belongs to.
func Space(name string) string {
	user, _ := Split(name)
	return Name(user, "")
}

// IsSpace reports whether a name stands for several sessions: "" for all, or a space.
func IsSpace(name string) bool { return name == "" || strings.HasSuffix(name, separator) }

// Owned reports whether a name has an owner's before it.
func Owned(name string) bool { return strings.Contains(name, separator) }

// In reports whether the session has that name, or is in that space.
func In(session, name string) bool {
	return session == name || IsSpace(name) && strings.HasPrefix(session, name)
}

// Conceal is a sentence without the user's name before what the user owns.
func Conceal(user, sentence string) string {
	if user == "" {
		return sentence
	}
	return strings.ReplaceAll(sentence, user+separator, "")
}
