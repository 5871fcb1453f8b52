package terminal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
)

// TestNewNames: a new name begins with a letter or a digit, and one that has been given is still a name.
func TestNewNames(t *testing.T) {
	for _, name := range []string{"-", "-x", "--help", "_", ".x"} {
		err := terminal.CheckNewName("name", name)
		if !errors.Is(err, terminal.ErrInvalid) || !strings.Contains(err.Error(),
			`"`+name+`" begins with "`+name[:1]+`"`) {
			t.Errorf("%q: %v", name, err)
		}
		if err := terminal.CheckName("name", name); err != nil {
			t.Errorf("%q of an earlier server: %v", name, err)
		}
	}
	for _, name := range []string{"a", "a-b", "a.", "9_"} {
		if err := terminal.CheckNewName("name", name); err != nil {
			t.Error(err)
		}
	}
}
