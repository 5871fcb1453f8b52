//go:build linux

package main

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestDoctorKnowsNetworkFileSystems: a directory there is a problem; FUSE and memory are a warning, a disk is well.
func TestDoctorKnowsNetworkFileSystems(t *testing.T) {
	t.Parallel()
	for kind, want := range map[int64]string{unix.NFS_SUPER_MAGIC: "BAD", unix.CIFS_SUPER_MAGIC: "BAD",
		unix.SMB2_SUPER_MAGIC: "BAD", unix.V9FS_MAGIC: "BAD", unix.CEPH_SUPER_MAGIC: "BAD", unix.FUSE_SUPER_MAGIC: "warn",
		unix.TMPFS_MAGIC: "warn", unix.EXT4_SUPER_MAGIC: "ok", unix.BTRFS_SUPER_MAGIC: "ok", unix.XFS_SUPER_MAGIC: "ok"} {
		got, f := "ok", fileSystemFault(kind)
		switch {
		case f.Problem != "":
			got = "BAD"
		case f.Warning != "":
			got = "warn"
		}
		if got != want || (f.Advice != "") != (want != "ok") {
			t.Errorf("%#x: %+v, want %s", kind, f, want)
		}
	}
}
