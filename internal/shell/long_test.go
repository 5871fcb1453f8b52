package shell

import (
	"strings"
	"testing"
)

// TestLongComesBack: variables, functions and arguments far longer than the pieces that they are read in come back as
// they were, every byte of them: 3 MB in all.
func TestLongComesBack(t *testing.T) {
	if testing.Short() {
		t.Skip("stops and kills shells again and again, for seconds")
	}
	t.Parallel()
	s := start(t)
	all := `for i in {1..255}; do printf -v x '\\x%02x' $i; printf -v x "$x"; all+=$x; done; all+='"$x" \n '; `
	run(t, s, all+`long=$all; for i in {1..10}; do long+=$long; done
mapfile -t lines < <(seq 30000); declare -A map
for i in {1..8000}; do map[$i"'"]="v '$i' of the map"; done; map["777'"]=$all; unset all i x
set -- "$long" 'b  c' ""; printf -v x '%0280000d' 7
eval "f() { : '$x'; echo f; }"; unset x; declare -i n=7; late=1; export LONG=$long`)
	settled(t, s)
	const ask = `p=$(declare -p LONG); echo "${p:0:15}"; export -n LONG; for v in "$long" "$LONG" "$1" "${lines[*]}" ` +
		`"$(declare -f f)"; do printf %s "$v" | md5sum; done; printf %s "${map["777'"]}" | md5sum; echo ${#lines[@]} ` +
		`${#map[@]} $#"$2" $n $late; f`
	want := run(t, s, "("+ask+")")
	run(t, s, "kill -9 $$")
	if r := run(t, s, "("+ask+")"); r.out != want.out || strings.Count(r.out, "\n") != 9 || len(r.Lost) != 0 {
		t.Errorf("%q, %q; want %q", r.out, r.Lost, want.out)
	}
}
