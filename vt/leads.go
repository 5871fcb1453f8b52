package vt

// lead says what the first byte of a character tells about it: its length in
// UTF-8 in the lower bits, and above them its widthClass when all characters
// that begin with the byte have the same.
type lead uint8

const (
	leadSize  lead = 7 // mask
	leadClass lead = 3 // shift
)

func (l lead) size() int         { return int(l & leadSize) }
func (l lead) class() widthClass { return widthClass(l >> leadClass) }

// leads are the leads of one width table. For most characters of most scripts the
// first byte decides.
type leads [256]lead

var leads11, leads15Graphemes = leadsOf(&widths11), leadsOf(&widths15Graphemes)

// leads returns the table's leads.
func (w *widths) leads() *leads {
	if w == &widths15Graphemes {
		return leads15Graphemes
	}
	return leads11
}

func leadsOf(w *widths) *leads {
	l := new(leads)
	for b := range l {
		switch {
		case b < 0x80:
			l[b] = 1 // narrow
		case b < 0xe0:
			l[b] = 2 | lead(sameClass(w, rune(b&0x1f)<<6, 1<<6))<<leadClass
		case b < 0xf0:
			l[b] = 3 | lead(sameClass(w, rune(b&0xf)<<12, 1<<12))<<leadClass
		default:
			l[b] = 4 | lead(classOther)<<leadClass
		}
	}
	return l
}

// sameClass is the class of all n characters from first on, classOther when
// they differ.
func sameClass(w *widths, first rune, n int) widthClass {
	class := w.class(first)
	for r := first; r < first+rune(n); r++ {
		if r >= 0x80 && w.class(r) != class {
			return classOther
		}
	}
	return class
}
