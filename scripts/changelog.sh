#!/usr/bin/env bash
# changelog.sh VERSION: the part of CHANGELOG.md about one version, without its heading.
set -euo pipefail
cd "$(dirname "$0")/.."
part=$(awk -v heading="## [$1]" 'index($0, "## [") == 1 { on = index($0, heading) == 1; next } on' CHANGELOG.md)
[ -n "$part" ] || { echo "CHANGELOG.md says nothing about $1" >&2; exit 1; }
printf '%s\n' "$part"
