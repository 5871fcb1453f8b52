package vt

// keypad are the keys of the numeric keypad (xterm ctlseqs, VT220-Style Function
// Keys): what each types, and the final byte of its SS3 sequence in application
// keypad mode (DECKPAM, VT510).
var keypad = map[string]key{
	"kp0": {char: '0', final: 'p'}, "kp1": {char: '1', final: 'q'}, "kp2": {char: '2', final: 'r'},
	"kp3": {char: '3', final: 's'}, "kp4": {char: '4', final: 't'}, "kp5": {char: '5', final: 'u'},
	"kp6": {char: '6', final: 'v'}, "kp7": {char: '7', final: 'w'}, "kp8": {char: '8', final: 'x'},
	"kp9": {char: '9', final: 'y'},
	"kp.": {char: '.', final: 'n'}, "kpdecimal": {char: '.', final: 'n'},
	"kp/": {char: '/', final: 'o'}, "kpdivide": {char: '/', final: 'o'},
	"kp*": {char: '*', final: 'j'}, "kpmultiply": {char: '*', final: 'j'},
	"kp-": {char: '-', final: 'm'}, "kpsubtract": {char: '-', final: 'm'},
	"kp+": {char: '+', final: 'k'}, "kpadd": {char: '+', final: 'k'},
	"kp=": {char: '=', final: 'X'}, "kpequal": {char: '=', final: 'X'},
	"kpenter": {char: '\r', final: 'M'},
}

// kittyKeypad are the numbers of the kitty keyboard protocol (Functional key
// definitions) by the character a key types: 57399 is KP_0.
var kittyKeypad = map[rune]int{
	'0': 57399, '1': 57400, '2': 57401, '3': 57402, '4': 57403, '5': 57404, '6': 57405, '7': 57406,
	'8': 57407, '9': 57408, '.': 57409, '/': 57410, '*': 57411, '-': 57412, '+': 57413, '\r': 57414, '=': 57415,
}

// keypadKey encodes a key of the keypad. In the kitty protocol those that type
// text send it, as other keys do, unless all keys are reported or modified.
func (k key) keypadKey(b []byte, m Modes) []byte {
	switch {
	case m.Kitty&kittyReportAll != 0, m.Kitty&kittyDisambiguate != 0 && (k.char == '\r' || k.mods&(ctrl|alt) != 0):
		code := k
		code.char = rune(kittyKeypad[k.char])
		return code.kittyAs(b, m.Kitty, k.char)
	case m.AppKeypad && m.Kitty == 0 && k.mods == 0:
		return append(b, '\x1b', 'O', k.final)
	}
	plain := key{char: k.char, mods: k.mods &^ shift} // Shift makes nothing else of a digit here
	return plain.legacy(b)
}
