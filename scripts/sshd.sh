#!/bin/sh
# Prints the path of an OpenSSH server for the tests of provider/. $SSHD wins. As
# root on a Debian the package is installed when there is none; no service of it is started.
set -eu
find_sshd() {
	for b in "${SSHD:-}" sshd /usr/sbin/sshd /usr/local/sbin/sshd; do
		[ -n "$b" ] && command -v "$b" && return 0
	done
	return 1
}
if ! find_sshd >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "installing openssh-server for the tests of ssh" >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq >&2
	# A policy that says no keeps the package from starting a server of its own.
	[ -e /usr/sbin/policy-rc.d ] || { printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d && ours=1; }
	apt-get install -qq -y --no-install-recommends openssh-server >&2 || true
	[ -z "${ours:-}" ] || rm /usr/sbin/policy-rc.d
fi
if find_sshd; then
	# Without it a server that root starts does not begin.
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd
	exit 0
fi
echo "The tests of ssh need an OpenSSH server: install one (Debian: apt-get install openssh-server), or set SSHD to its path." >&2
exit 1
