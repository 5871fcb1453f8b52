package thread

import (
	"maps"
	"regexp"
	"sync"
)

// Hidden stands for the value of a variable that is probably a secret.
const Hidden = "***"

// secretName is what names of variables with a secret in them have in common.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(key|token|secret|passw|credential)`)
})

// IsSecret reports whether a variable of that name probably has a secret.
func IsSecret(name string) bool { return secretName().MatchString(name) }

// HideSecrets is env with Hidden in the place of values that are probably secrets. It is a copy
// where there are any; nil stays nil.
func HideSecrets(env map[string]string) map[string]string {
	var shown map[string]string
	for name := range env {
		if !IsSecret(name) {
			continue
		}
		if shown == nil {
			shown = maps.Clone(env)
		}
		shown[name] = Hidden
	}
	if shown == nil {
		return env
	}
	return shown
}
