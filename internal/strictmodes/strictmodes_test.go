//go:build linux

package strictmodes_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/evertty/evertty/internal/strictmodes"
	"github.com/evertty/evertty/internal/strictmodes/strictmodestest"
)

// asked is the variable that makes this test's binary check the path in it, for what only another process has: its user
// and its namespace.
const asked = "STRICTMODES_TEST_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(asked); path != "" {
		if err := strictmodes.Check(path); err != nil {
			_, _ = os.Stdout.WriteString(err.Error())
		}
		return
	}
	os.Exit(strictmodestest.Main(m))
}

// tree is a directory with a file a/b/f in it.
func tree(t *testing.T) (top, file string) {
	t.Helper()
	top = t.TempDir()
	file = filepath.Join(top, "a", "b", "f")
	must(t, os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600))
	return top, file
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// wants checks a refusal: of ErrUnsafe, with these words. Without words the path is safe.
func wants(t *testing.T, path string, words ...string) {
	t.Helper()
	err := strictmodes.Check(path)
	if len(words) == 0 {
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return
	}
	if !errors.Is(err, strictmodes.ErrUnsafe) {
		t.Errorf("%s: %v", path, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v does not say %q", err, w)
		}
	}
}

func TestModes(t *testing.T) {
	for mode, words := range map[fs.FileMode][]string{
		0o700: nil, 0o755: nil, 0o555: nil,
		0o770: {"mode 0770", "its group 54321 can write"}, 0o777: {"mode 0777", "others can write"},
		0o702: {"mode 0702", "others can write"},
	} {
		if mode == 0o770 && os.Geteuid() != 0 {
			continue // this user's group may be private
		}
		top, file := tree(t)
		for _, part := range []string{filepath.Join(top, "a"), filepath.Dir(file), file} {
			info, err := os.Stat(part)
			must(t, err, inGroupOfOthers(part), os.Chmod(part, mode))
			if words == nil {
				wants(t, file)
			} else {
				wants(t, file, append(words, part)...)
			}
			must(t, os.Chmod(part, info.Mode()))
		}
	}
}

// inGroupOfOthers gives a file of root's a group that is not private.
func inGroupOfOthers(path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chown(path, -1, 54321)
}

func TestStickyDirectories(t *testing.T) {
	top, file := tree(t)
	must(t, os.Chmod(filepath.Dir(file), 0o777|fs.ModeSticky))
	wants(t, file)
	wants(t, filepath.Dir(file), "others can write") // who may make files in it may make any that is not there
	if err := strictmodes.Check(filepath.Join(top, "a/b/absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
}

// TestLinks: what a link leads to is checked, and all that is on the way to it.
func TestLinks(t *testing.T) {
	top, file := tree(t)
	for name, to := range map[string]string{"relative": "a/b/f", "absolute": file, "dots": "a/../a/b/f",
		"above": "../" + filepath.Base(top) + "/a/b"} {
		must(t, os.Symlink(to, filepath.Join(top, name)))
	}
	wants(t, filepath.Join(top, "above", "f"))
	must(t, os.Chmod(filepath.Dir(file), 0o703))
	for _, name := range []string{"relative", "absolute", "dots", "above/f"} {
		wants(t, filepath.Join(top, name), filepath.Dir(file), "mode 0703")
	}
	_, safe := tree(t)
	loose := filepath.Join(top, "loose")
	must(t, os.Mkdir(loose, 0o700), os.Symlink(safe, filepath.Join(loose, "link")), os.Chmod(loose, 0o702))
	wants(t, filepath.Join(loose, "link"), loose, "mode 0702")
	// What is behind a link and .. is above what it leads to, not beside the link.
	beside := filepath.Join(top, "link") + "/../f"
	must(t, os.Symlink("loose/deep", filepath.Join(top, "link")), os.Mkdir(filepath.Join(loose, "deep"), 0o700),
		os.WriteFile(filepath.Join(loose, "f"), nil, 0o600), os.WriteFile(filepath.Join(top, "f"), nil, 0o600))
	wants(t, beside, loose, "mode 0702")
	t.Chdir(top)
	wants(t, "link/../f", loose, "mode 0702")
	must(t, os.Symlink("loop", filepath.Join(top, "loop")))
	if err := strictmodes.Check(filepath.Join(top, "loop")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop: %v", err)
	}
}

// checkAs is what another user's process says of a path.
func checkAs(t *testing.T, path string, attr *syscall.SysProcAttr) string {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	// The binary may be where another user may not look.
	open := filepath.Join(t.TempDir(), "test")
	text, err := os.ReadFile(self)
	must(t, err, os.WriteFile(open, text, 0o755)) //nolint:gosec // for everybody
	must(t, os.Chmod(filepath.Dir(filepath.Dir(open)), 0o755))
	c := exec.Command(open)
	c.Dir, c.Env, c.SysProcAttr = "/", []string{asked + "=" + path}, attr
	out, err := c.Output()
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		t.Skip("may not make such a process:", err)
	}
	must(t, err)
	return string(out)
}

func as(uid, gid uint32) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
}

func TestOtherOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give files to others")
	}
	const other = 61234
	top, file := tree(t)
	must(t, os.Chmod(filepath.Dir(top), 0o755))
	for _, part := range []string{filepath.Join(top, "a"), filepath.Dir(file), file} {
		must(t, os.Lchown(part, other, -1))
		wants(t, file, part, "owner uid 61234", "belongs to another user")
		must(t, os.Lchown(part, 0, -1))
	}
	link := filepath.Join(top, "link")
	must(t, os.Symlink(file, link), os.Lchown(link, other, -1))
	wants(t, link, link, "belongs to another user")

	must(t, os.Chmod(filepath.Join(top, "a"), 0o755), os.Chmod(filepath.Dir(file), 0o777|fs.ModeSticky))
	must(t, os.Lchown(file, other, -1))
	if out := checkAs(t, file, as(other, other)); out != "" {
		t.Errorf("its owner is told: %s", out)
	}
	if out := checkAs(t, file, as(other+1, other)); !strings.Contains(out, "belongs to another user") {
		t.Errorf("another user, in a sticky directory, is told: %q", out)
	}
}

// TestPrivateGroups: a user of the system's files whose primary group nobody else has may have files that the group may
// write. It takes whom it finds.
func TestPrivateGroups(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give files to others")
	}
	top, file := tree(t)
	must(t, os.Chmod(filepath.Dir(top), 0o755), os.Chmod(filepath.Join(top, "a"), 0o755),
		os.Chmod(filepath.Dir(file), 0o755), os.Chmod(file, 0o664))
	private, shared := usersOf(t)
	for _, u := range private {
		must(t, os.Chown(file, int(u.uid), int(u.gid)))
		if out := checkAs(t, file, as(u.uid, u.gid)); out != "" {
			t.Errorf("uid %d in its own group %d is told: %s", u.uid, u.gid, out)
		}
	}
	for _, u := range append(shared, account{54321, 54321}) { // one of no file may have others beside it
		must(t, os.Chown(file, int(u.uid), int(u.gid)))
		if out := checkAs(t, file, as(u.uid, u.gid)); !strings.Contains(out, "its group") {
			t.Errorf("uid %d in group %d, which others are in, is told: %q", u.uid, u.gid, out)
		}
	}
	if len(private) > 0 {
		must(t, os.Chown(file, 0, int(private[0].gid)))
		wants(t, file, "its group")
	}
}

type account struct{ uid, gid uint32 }

// TestUnmappedRoot: in a user namespace without the machine's root its directories have no owner that can be named.
// They are taken on the way; a file of somebody unnamed is not.
func TestUnmappedRoot(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, for a directory of another user's")
	}
	const user = 61234
	top, file := tree(t)
	must(t, os.Chmod(filepath.Dir(top), 0o755), os.Chown(filepath.Join(top, "a"), user, user),
		os.Chown(filepath.Dir(file), user, user), os.Chown(file, user, user))
	attr := as(0, 0)
	attr.Cloneflags = syscall.CLONE_NEWUSER
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: user, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: user, Size: 1}}
	if out := checkAs(t, file, attr); out != "" {
		t.Errorf("its owner is told: %s", out)
	}
	must(t, os.Chown(file, user+1, user))
	if out := checkAs(t, file, attr); !strings.Contains(out, "belongs to another user") {
		t.Errorf("of an unnamed user's file its namespace is told: %q", out)
	}
}

func TestSecrets(t *testing.T) {
	_, file := tree(t)
	must(t, strictmodes.CheckSecret(file))
	for _, mode := range []fs.FileMode{0o640, 0o604, 0o660, 0o610} {
		must(t, inGroupOfOthers(file), os.Chmod(file, mode))
		if err := strictmodes.CheckSecret(file); !errors.Is(err, strictmodes.ErrUnsafe) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}
