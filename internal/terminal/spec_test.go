package terminal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/terminal"
)

// TestNewNames: a new name does not begin with '-', and one that has been given is still a name.
func TestNewNames(t *testing.T) {
	for _, name := range []string{"-", "-x", "--help"} {
		err := terminal.CheckNewName("name", name)
		if !errors.Is(err, terminal.ErrInvalid) || !strings.Contains(err.Error(), `"`+name+`" begins with '-'`) {
			t.Errorf("%q: %v", name, err)
		}
		if err := terminal.CheckName("name", name); err != nil {
			t.Errorf("%q of an earlier server: %v", name, err)
		}
	}
	for _, name := range []string{"a", "a-b", "_", ".x", "9"} {
		if err := terminal.CheckNewName("name", name); err != nil {
			t.Error(err)
		}
	}
}
