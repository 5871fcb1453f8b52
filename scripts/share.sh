#!/usr/bin/env bash
# share.sh DIR VERSION SECONDS: what a package has beside the binary, made by the binary itself: completions/, man1/ and
# Debian's changelog.gz. SECONDS since 1970 is the time in them. The same source gives the same bytes.
set -euo pipefail
dir=$(realpath -m "$1") version=$2
export SOURCE_DATE_EPOCH=$3
cd "$(dirname "$0")/.."
rm -rf "$dir"
mkdir -p "$dir/completions" "$dir/man1"
evertty=$(mktemp -d)/evertty
trap 'rm -rf "${evertty%/*}"' EXIT
export GOOS='' GOARCH='' CGO_ENABLED=0 # for this machine
go build -trimpath -buildvcs=false -ldflags "-X main.release=v$version" -o "$evertty" ./cmd/evertty
"$evertty" completion bash >"$dir/completions/evertty.bash"
"$evertty" completion zsh >"$dir/completions/_evertty"
"$evertty" completion fish >"$dir/completions/evertty.fish"
"$evertty" man "$dir/man1"
cat >"$dir/changelog" <<END
evertty (${version/-/\~}) unstable; urgency=medium

  * https://github.com/evertty/evertty/blob/main/CHANGELOG.md

 -- evertty <evertty@users.noreply.github.com>  $(LC_ALL=C date --utc --date "@$SOURCE_DATE_EPOCH" -R)
END
gzip -9n "$dir/changelog" "$dir"/man1/*
