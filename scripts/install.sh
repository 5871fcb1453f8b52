#!/bin/sh
# Installs evertty from a release: the archive of this system, checked against the release's SHA-256 sums before it is
# unpacked. Nothing is started and no root is needed.
#
#   sh install.sh [--prefix DIR] [--version VERSION]
#
# --prefix   where bin/ and share/ are (default ~/.local)
# --version  a release such as 0.2.0 (default the latest)
# EVERTTY_BASE_URL names a mirror of https://github.com/evertty/evertty/releases.
set -eu

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

usage() {
	echo "install.sh: $*; the use is: install.sh [--prefix DIR] [--version VERSION]" >&2
	exit 2
}

# system prints OS_ARCH as archives are named.
system() {
	os=$(uname -s)
	arch=$(uname -m)
	case $os in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no archive for $os; there are Linux and macOS, and a .zip for Windows on the page of releases" ;;
	esac
	case $arch in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no archive for $arch; there are x86_64 and aarch64" ;;
	esac
	echo "${os}_$arch"
}

# download URL FILE
download() {
	if command -v curl >/dev/null; then
		curl --fail --silent --show-error --location --output "$2" "$1" || fail "cannot download $1"
	elif command -v wget >/dev/null; then
		wget -q -O "$2" "$1" || fail "cannot download $1"
	else
		fail "needs curl or wget"
	fi
}

# sum FILE prints its SHA-256.
sum() {
	if command -v sha256sum >/dev/null; then
		sha256sum "$1"
	elif command -v shasum >/dev/null; then
		shasum -a 256 "$1"
	else
		fail "needs sha256sum or shasum to check what is downloaded"
	fi | cut -d ' ' -f 1
}

# put FILE MODE TARGET installs a file whole or not at all.
put() {
	mkdir -p "${3%/*}"
	cp "$1" "$3.new.$$"
	chmod "$2" "$3.new.$$"
	mv -f "$3.new.$$" "$3"
}

prefix='' version=''
while [ $# -gt 0 ]; do
	case $1 in
	--prefix=* | --version=*) option=${1%%=*} value=${1#*=} ;;
	--prefix | --version)
		option=$1
		[ $# -gt 1 ] || usage "$1 needs a value"
		value=$2
		shift
		;;
	*) usage "unknown argument $1" ;;
	esac
	shift
	[ -n "$value" ] || usage "$option is empty"
	case $option in
	--prefix) prefix=$value ;;
	--version) version=${value#v} ;;
	esac
done
prefix=${prefix:-${HOME:?}/.local}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
base=${EVERTTY_BASE_URL:-https://github.com/evertty/evertty/releases}
from=$base/latest/download
[ -z "$version" ] || from=$base/download/v$version

system=$(system)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

download "$from/checksums.txt" "$dir/checksums.txt"
line=$(grep -E "^[0-9a-f]{64} [ *]evertty_[^/ ]*_$system\.tar\.gz\$" "$dir/checksums.txt") ||
	fail "$from/checksums.txt has no sum of an archive for $system; nothing was installed"
[ "$(echo "$line" | wc -l)" -eq 1 ] || fail "$from/checksums.txt has several archives for $system"
want=${line%% *}
archive=${line##*[ *]}
download "$from/$archive" "$dir/$archive"
got=$(sum "$dir/$archive")
[ "$got" = "$want" ] ||
	fail "$archive has the SHA-256 $got, the release says $want; nothing was installed"

mkdir "$dir/files"
tar -xzf "$dir/$archive" -C "$dir/files" || fail "cannot unpack $archive; nothing was installed"
chmod 755 "$dir/files/evertty"
says=$("$dir/files/evertty" version) || fail "$archive does not run here; nothing was installed"
share=$prefix/share
for page in "$dir"/files/man1/*.gz; do
	[ ! -e "$page" ] || put "$page" 644 "$share/man/man1/${page##*/}"
done
if [ -d "$dir/files/completions" ]; then
	put "$dir/files/completions/evertty.bash" 644 "$share/bash-completion/completions/evertty"
	put "$dir/files/completions/evertty.fish" 644 "$share/fish/vendor_completions.d/evertty.fish"
	put "$dir/files/completions/_evertty" 644 "$share/zsh/site-functions/_evertty"
fi
put "$dir/files/evertty" 755 "$prefix/bin/evertty"

echo "installed $prefix/bin/evertty: $says"
case :$PATH: in
*:"$prefix/bin":*) echo "type evertty to begin" ;;
*) echo "it is not on PATH yet: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
