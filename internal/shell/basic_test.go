package shell

import "testing"

func TestBasic(t *testing.T) {
	s := start(t)
	r := run(t, s, "echo hi; echo there >&2; cd /tmp; export A=1; f() { echo f$A; }; (exit 3)")
	if r.ExitCode != 3 || r.out != "hi\n" || r.err != "there\n" || r.Cwd != "/tmp" || r.Background || r.ShellEnded {
		t.Errorf("%+v", r)
	}
	r = run(t, s, "pwd; f")
	if r.ExitCode != 0 || r.out != "/tmp\nf1\n" {
		t.Errorf("%+v", r)
	}
	if r := run(t, s, "exit 3"); r.ExitCode != 3 || !r.ShellEnded {
		t.Errorf("%+v", r)
	}
	if r := run(t, s, "pwd; f"); r.out != "/tmp\nf1\n" || !r.Recreated {
		t.Errorf("%+v", r)
	}
}
