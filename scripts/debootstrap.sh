#!/bin/sh
# Says whether tests can make a Debian with debootstrap. As root on a Debian the package is installed when it is not
# there.
set -eu
command -v debootstrap >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "installing debootstrap for the tests of packages" >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq >&2
	apt-get install -qq -y --no-install-recommends debootstrap >&2 && exit 0
fi
echo "The tests of packages need debootstrap (Debian: apt-get install debootstrap) and root." >&2
exit 1
