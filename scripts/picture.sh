#!/usr/bin/env bash
# picture.sh EVERTTY OUT.png: a picture of the page, with real terminals, by a headless browser. For README.md.
set -euo pipefail
evertty=$(realpath "$1")
out=$(realpath -m "$2")
browser=$("$(dirname "$0")/browser.sh")
dir=$(mktemp -d)
export HOME=$dir EVERTTY_DATA_DIR=$dir/data TMPDIR=$dir
server=
finish() {
	"$evertty" kill --all >/dev/null || true
	[ -z "$server" ] || kill "$server"
	wait
	rm -rf "$dir"
}
trap finish EXIT

# run NAME DIR TEXT: bash prints TEXT on a terminal and stays at its prompt.
run() {
	printf '%s\nPS1="\\[\\e[1;34m\\]\\w\\[\\e[0m\\] $ "\n' "$3" >"$dir/$1"
	"$evertty" new -d --name "$1" --cwd "$2" -- bash --rcfile "$dir/$1" >/dev/null
	"$evertty" wait "$1" --for prompt --timeout 30s >/dev/null
}

"$evertty" serve --auth none --listen 127.0.0.1:0 >"$dir/log" &
server=$!
until grep -q listening "$dir/log"; do kill -0 "$server"; sleep 0.1; done

run deploy /srv 'printf "\e[33mwaiting for review\e[0m\n"'
run logs /var/log 'for n in 1 2 3; do printf "\e[2m10:0%d\e[0m GET /healthz \e[32m200\e[0m\n" $n; done'
run build /usr/src 'printf "\e[1m$ make test\e[0m\n"
for p in stream vt snapshot journal terminal wait; do printf "\e[32mok\e[0m    %-10s \e[2m1.%d s\e[0m\n" $p ${#p}; done
printf "\n\e[1;32m✓\e[0m 6 packages, 412 tests, \e[32m0 failed\e[0m\n\n"'

page=$(sed -n 's/.*listening on //p' "$dir/log")
id=$("$evertty" ls --json | jq -r '.[] | select(.name == "build").id')
"$browser" --headless --no-sandbox --disable-gpu --disable-quic --disable-background-networking --hide-scrollbars --kiosk '--screen-info={960x460}' \
	--user-data-dir="$dir/browser" --window-size=960,460 --virtual-time-budget=6000 \
	--screenshot="$out" "$page/#/pty/$id" 2>"$dir/browser.log" || { cat "$dir/browser.log" >&2; exit 1; }
