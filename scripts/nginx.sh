#!/bin/sh
# Prints the path of an nginx for the tests behind a reverse proxy. $NGINX wins. As root on a Debian the package is
# installed when there is none; no service of it is started.
set -eu
find_nginx() {
	for b in "${NGINX:-}" nginx /usr/sbin/nginx; do
		[ -n "$b" ] && command -v "$b" && return 0
	done
	return 1
}
if ! find_nginx >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "installing nginx-light for the tests behind a reverse proxy" >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq >&2
	# A policy that says no keeps the package from starting a server of its own.
	[ -e /usr/sbin/policy-rc.d ] || { printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d && ours=1; }
	apt-get install -qq -y --no-install-recommends nginx-light >&2 || true
	[ -z "${ours:-}" ] || rm /usr/sbin/policy-rc.d
fi
find_nginx || {
	echo "The tests behind a proxy need nginx: install it (Debian: apt-get install nginx-light), or set NGINX to its path." >&2
	exit 1
}
