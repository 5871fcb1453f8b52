package vt

// Modes is the state of the switches a program sets and a viewer or the input
// side has to know. The zero value is not the initial state; see DefaultModes.
type Modes struct {
	AppCursor      bool // DECCKM ?1
	Origin         bool // DECOM ?6
	Autowrap       bool // DECAWM ?7
	ReverseWrap    bool // ?45
	ReverseVideo   bool // DECSCNM ?5
	CursorHidden   bool // DECTCEM ?25 reset
	AppKeypad      bool // DECPAM, ?66
	Insert         bool // IRM 4
	Linefeed       bool // LNM 20
	BracketedPaste bool // ?2004
	FocusEvents    bool // ?1004
	SyncOutput     bool // ?2026
	AltScreen      bool // ?47, ?1047, ?1049

	// See QueryOnly.
	ColorReports     bool // ?2031
	SmoothScroll     bool // DECSCLM ?4
	PrintFormFeed    bool // DECPFF ?18
	PrintExtent      bool // DECPEX ?19
	NationalCharsets bool // DECNRCM ?42
	CursorCoupling   bool // DECHCCM ?60

	Mouse         Mouse
	MouseEncoding MouseEncoding
	Kitty         uint8 // kitty keyboard flags in force on the active screen
}

// QueryOnly returns the switches that change nothing on a screen and nothing that a viewer
// sends. Viewers get neither them nor their sequences.
func (m *Modes) QueryOnly() []*bool {
	return []*bool{&m.SmoothScroll, &m.PrintFormFeed, &m.PrintExtent, &m.NationalCharsets, &m.CursorCoupling,
		&m.ColorReports}
}

// resume takes the switches that no viewer shows from other.
func (m *Modes) resume(other Modes) {
	for i, on := range other.QueryOnly() {
		*m.QueryOnly()[i] = *on
	}
}

// DefaultModes is the state after power-on or RIS (ECMA-48 8.3.105).
func DefaultModes() Modes { return Modes{Autowrap: true} }

// Mouse says which mouse events a program asked for (xterm ctlseqs, Mouse Tracking).
type Mouse uint8

// The tracking modes.
const (
	MouseNone   Mouse = iota
	MouseX10          // ?9
	MouseNormal       // ?1000
	MouseButton       // ?1002
	MouseAny          // ?1003
)

var mouseNames = [...]string{"none", "x10", "normal", "button", "any"}

// String is the mode's name in the API.
func (m Mouse) String() string { return mouseNames[min(int(m), len(mouseNames)-1)] }

// MouseEncoding says how mouse events travel to the program.
type MouseEncoding uint8

// The encodings.
const (
	MouseEncodingDefault   MouseEncoding = iota
	MouseEncodingUTF8                    // ?1005
	MouseEncodingSGR                     // ?1006
	MouseEncodingURXVT                   // ?1015
	MouseEncodingSGRPixels               // ?1016
)

var encodingNames = [...]string{"default", "utf8", "sgr", "urxvt", "sgr_pixels"}

// String is the encoding's name in the API.
func (e MouseEncoding) String() string { return encodingNames[min(int(e), len(encodingNames)-1)] }
