package owner

import "testing"

func TestNames(t *testing.T) {
	for _, c := range []struct{ user, name, inside string }{
		{"", "work", "work"}, {"alice", "work", "alice@work"}, {"alice", "", "alice@"},
	} {
		if got := Name(c.user, c.name); got != c.inside {
			t.Errorf("Name(%q, %q) = %q, want %q", c.user, c.name, got, c.inside)
		}
		if user, plain := Split(c.inside); user != c.user || plain != c.name {
			t.Errorf("Split(%q) = %q, %q", c.inside, user, plain)
		}
	}
}

// TestIn: nobody's space has what another owner has, whose name begins or ends alike.
func TestIn(t *testing.T) {
	for _, c := range []struct {
		session, name string
		in            bool
	}{
		{"alice@work", "", true}, {"work", "", true}, {"alice@work", "alice@", true},
		{"alice@work", "alice@work", true},
		{"malice@work", "alice@", false}, {"alice2@work", "alice@", false}, {"work", "alice@", false},
		{"alice@work", "work", false}, {"alice@work2", "alice@work", false}, {"alice", "alice@", false},
	} {
		if got := In(c.session, c.name); got != c.in {
			t.Errorf("In(%q, %q) = %t", c.session, c.name, got)
		}
	}
}

func TestCheckUser(t *testing.T) {
	for name, ok := range map[string]bool{"alice": true, "a.b_c-9": true, "": false, "a@b": false, ".a": false, "a/b": false,
		"a b": false, "a\n": false, "abcdefghijklmnopqrstuvwxyz0123456": false} {
		if err := CheckUser(name); (err == nil) != ok {
			t.Errorf("CheckUser(%q): %v", name, err)
		}
	}
}
