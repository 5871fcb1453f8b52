#!/bin/sh
# Prints the path of a Chrome or Chromium for the browser tests. $CHROME wins. As
# root on a Debian the package is installed when there is none.
set -eu
find_browser() {
	for b in "${CHROME:-}" google-chrome google-chrome-stable chromium chromium-browser; do
		[ -n "$b" ] && command -v "$b" && return 0
	done
	return 1
}
find_browser && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	echo "installing chromium for the browser tests" >&2
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -qq >&2
	apt-get install -qq -y --no-install-recommends chromium >&2
	find_browser && exit 0
fi
echo "The browser tests need Chrome or Chromium: install one (Debian: apt-get install chromium), or set CHROME to its path." >&2
exit 1
