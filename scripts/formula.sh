#!/usr/bin/env bash
# formula.sh DIST: the formula for Homebrew of the archives in DIST, with their sums of DIST/checksums.txt.
set -euo pipefail
sums=$1/checksums.txt
version=$(sed -nE 's/.* evertty_(.*)_linux_amd64\.tar\.gz$/\1/p' "$sums")
[ -n "$version" ] || { echo "formula.sh: $sums has no archive for linux_amd64" >&2; exit 1; }
script="s/@VERSION@/$version/g"
for system in darwin_amd64 darwin_arm64 linux_amd64 linux_arm64; do
	sum=$(awk -v name="evertty_${version}_$system.tar.gz" '$2 == name { print $1 }' "$sums")
	[ -n "$sum" ] || { echo "formula.sh: $sums has no archive for $system" >&2; exit 1; }
	script="$script;s/@SHA256_$system@/$sum/"
done
sed "$script" "$(dirname "$0")/../deploy/homebrew/evertty.rb"
