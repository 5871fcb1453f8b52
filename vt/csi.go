package vt

// functions says what escape or control sequences do, by their names.
type functions struct {
	plain [0x80]func(x *executor) // without prefix and intermediate
	other map[function]func(x *executor)
}

// of is what f does, nil when it does nothing.
func (t *functions) of(f function) func(x *executor) {
	if f < function(len(t.plain)) {
		return t.plain[f]
	}
	return t.other[f]
}

// csi executes a control sequence.
func (x *executor) csi(f function) {
	if do := controlSequences.of(f); do != nil {
		do(x)
	} else {
		x.query(f)
	}
}

// query executes a control sequence that means nothing else: it may be a query.
func (x *executor) query(f function) { x.reply(x.status().CSI(&x.stream, f)) }

// sgr implements SGR (ECMA-48 8.3.117).
func (x *executor) sgr() {
	x.pen.SGR(&x.stream)
	x.penChanged()
}

var controlSequences = functions{
	plain: [0x80]func(x *executor){
		'@': func(x *executor) { x.insertChars(x.stream.One(0)) },
		'A': func(x *executor) { x.screen.up(x.stream.One(0), x.modes.Origin) },
		'B': func(x *executor) { x.screen.down(x.stream.One(0), x.modes.Origin) },
		'C': (*executor).forward, 'a': (*executor).forward, // CUF, HPR
		'D': func(x *executor) { x.screen.moveBy(-x.stream.One(0), 0, x.modes.Origin) }, // CUB
		'E': func(x *executor) { // CNL
			x.screen.down(x.stream.One(0), x.modes.Origin)
			x.screen.X = 0
		},
		'F': func(x *executor) { // CPL
			x.screen.up(x.stream.One(0), x.modes.Origin)
			x.screen.X = 0
		},
		'G': (*executor).toColumn, '`': (*executor).toColumn, // CHA, HPA
		'H': (*executor).toPosition, 'f': (*executor).toPosition, // CUP, HVP
		'I': (*executor).tabs,
		'J': func(x *executor) { x.eraseDisplay(x.stream.Param(0), false) },
		'K': func(x *executor) { x.eraseLine(x.stream.Param(0), false) },
		'L': func(x *executor) { x.moveLines((*screen).scrollDown) }, // IL (ECMA-48 8.3.67)
		'M': func(x *executor) { x.moveLines((*screen).scrollUp) },   // DL (ECMA-48 8.3.32)
		'P': func(x *executor) { x.deleteChars(x.stream.One(0)) },
		'S': func(x *executor) { // SU (ECMA-48 8.3.147)
			x.screen.scrollUp(x.screen.Top, x.screen.Bottom, x.stream.Times(x.screen.Rows), x.blankStyle())
		},
		'T': func(x *executor) { // SD (ECMA-48 8.3.113)
			x.screen.scrollDown(x.screen.Top, x.screen.Bottom, x.stream.Times(x.screen.Rows), 0)
		},
		'X': func(x *executor) { x.eraseChars(x.stream.One(0)) },
		'Z': (*executor).backTabs,
		'b': (*executor).repeat,
		'd': func(x *executor) { x.screen.MoveTo(x.screen.X, x.stream.One(0)-1, x.modes.Origin) }, // VPA
		'e': func(x *executor) { x.screen.moveBy(0, x.stream.One(0), x.modes.Origin) },            // VPR
		'g': func(x *executor) { x.screen.clearTabs(x.stream.Param(0)) },
		'h': func(x *executor) { x.setModes('h') },
		'l': func(x *executor) { x.setModes('l') },
		'm': (*executor).sgr,
		'r': func(x *executor) { x.screen.margins(x.stream.Param(0), x.stream.Param(1), x.modes.Origin) },
		's': (*executor).saveCursor,
		'u': (*executor).restoreCursor,
	},
	other: map[function]func(x *executor){
		'?'*private + 'J': func(x *executor) { x.eraseDisplay(x.stream.Param(0), true) },
		'?'*private + 'K': func(x *executor) { x.eraseLine(x.stream.Param(0), true) },
		'?'*private + 'h': func(x *executor) { x.setModes('?'*private + 'h') },
		'?'*private + 'l': func(x *executor) { x.setModes('?'*private + 'l') },
		'?'*private + 'r': (*executor).restoreModes,
		'?'*private + 's': (*executor).saveModes,
		'>'*private + 'u': func(x *executor) { x.pushKitty(x.stream.Param(0)) },
		'<'*private + 'u': func(x *executor) { x.popKitty(x.stream.One(0)) },
		'='*private + 'u': func(x *executor) { x.changeKitty(x.stream.Param(0), x.stream.One(1)) },

		'!'*intermediate + 'p': (*executor).softReset,
		' '*intermediate + 'q': func(x *executor) { x.cursorStyle = x.cursorStyle.selectStyle(x.stream.Param(0)) },
		'"'*intermediate + 'q': func(x *executor) {
			x.pen.Protect(x.stream.Param(0))
			x.penChanged()
		},
		'$'*intermediate + 'x': (*executor).fillRectangle,    // DECFRA
		'$'*intermediate + 'z': (*executor).eraseRectangle,   // DECERA
		'$'*intermediate + '{': (*executor).eraseUnprotected, // DECSERA
		'*'*intermediate + 'y': func(x *executor) { x.reply(x.checksum()) },
	},
}

func (x *executor) forward() { x.screen.moveBy(x.stream.One(0), 0, x.modes.Origin) }

func (x *executor) toColumn() { x.screen.MoveTo(x.stream.One(0)-1, x.screen.Y, x.modes.Origin) }

func (x *executor) toPosition() {
	x.screen.MoveTo(x.stream.One(1)-1, x.stream.One(0)-1, x.modes.Origin)
}

// tabs implements CHT (ECMA-48 8.3.10).
func (x *executor) tabs() {
	x.stream.meter.Add(2 * x.screen.Cols)
	for range x.stream.Times(x.screen.Cols) {
		x.screen.Tab()
	}
}

// backTabs implements CBT (ECMA-48 8.3.7).
func (x *executor) backTabs() {
	x.stream.meter.Add(2 * x.screen.Cols)
	for range x.stream.Times(x.screen.Cols) {
		x.screen.backTab()
	}
}
