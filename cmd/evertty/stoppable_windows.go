package main

import (
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/sys/windows"
)

// stoppable reads a file until stop. Nothing is read of a console that is not returned, so what comes later belongs to
// whoever reads it then; of other files a read that was pending at stop may take a piece.
type stoppable struct {
	in      *os.File
	console bool
	wake    windows.Handle // an event: stop sets it
	held    []byte         // was read and not returned yet
	high    rune           // the first half of a character of UTF-16
	pieces  chan piece     // of a file that is no console; nil before the first read
}

// piece is what one read of a file gave.
type piece struct {
	data []byte
	err  error
}

// newStoppable makes a reader of in. Whoever calls stop calls close later.
func newStoppable(in *os.File) (s stoppable, err error) {
	s.in = in
	var mode uint32
	s.console = windows.GetConsoleMode(windows.Handle(in.Fd()), &mode) == nil
	s.wake, err = windows.CreateEvent(nil, 1, 0, nil)
	return s, err
}

// stop ends a pending and every later read.
func (s *stoppable) stop() { _ = windows.SetEvent(s.wake) }

// close lets go of what stop has ended; no read may be pending.
func (s *stoppable) close() { _ = windows.CloseHandle(s.wake) }

// read waits for input, at most so many milliseconds; negative: without limit. ready is false when there was none. At
// the end of the file n is 0, after stop the error is io.EOF.
func (s *stoppable) read(p []byte, milliseconds int) (n int, ready bool, err error) {
	if len(s.held) == 0 {
		fill := s.fillFile
		if s.console {
			fill = s.fillConsole
		}
		if ready, err = fill(milliseconds); !ready || err != nil {
			return 0, ready, err
		}
	}
	n = copy(p, s.held)
	s.held = s.held[n:]
	return n, true, nil
}

// stopped reports whether stop was called.
func (s *stoppable) stopped() bool {
	event, _ := windows.WaitForSingleObject(s.wake, 0)
	return event == windows.WAIT_OBJECT_0
}

// filePause is how often a read of a file looks whether stop was called.
const filePause = 20 * time.Millisecond

// fillFile reads a file that is no console: a goroutine does, as nothing else could be stopped.
func (s *stoppable) fillFile(milliseconds int) (ready bool, err error) {
	if s.pieces == nil {
		s.pieces = make(chan piece)
		go readPieces(s.in, s.pieces)
	}
	began, limit := time.Now(), time.Duration(milliseconds)*time.Millisecond
	for {
		if s.stopped() {
			return true, io.EOF
		}
		select {
		case got, ok := <-s.pieces:
			if !ok || got.err == io.EOF {
				return true, nil
			}
			s.held = got.data
			return true, got.err
		case <-time.After(filePause):
		}
		if milliseconds >= 0 && time.Since(began) >= limit {
			return false, nil
		}
	}
}

// readPieces reads a file to its end.
func readPieces(in *os.File, pieces chan<- piece) {
	defer close(pieces)
	for {
		buf := make([]byte, typedPiece)
		n, err := in.Read(buf)
		if n > 0 {
			pieces <- piece{data: buf[:n]}
		}
		if err != nil {
			pieces <- piece{err: err}
			return
		}
	}
}

// fillConsole reads the keys of a console. It waits again after events that are none: the mouse, the focus, the size.
func (s *stoppable) fillConsole(milliseconds int) (ready bool, err error) {
	limit := uint32(windows.INFINITE)
	if milliseconds >= 0 {
		limit = uint32(milliseconds)
	}
	in := windows.Handle(s.in.Fd())
	for {
		event, err := windows.WaitForMultipleObjects([]windows.Handle{s.wake, in}, false, limit)
		switch {
		case err != nil:
			return false, err
		case event == uint32(windows.WAIT_TIMEOUT):
			return false, nil
		case event == windows.WAIT_OBJECT_0:
			return true, io.EOF
		}
		if err := s.readKeys(in); err != nil {
			return true, err
		}
		if len(s.held) > 0 {
			return true, nil
		}
	}
}

// inputRecord is INPUT_RECORD with a KEY_EVENT_RECORD.
type inputRecord struct {
	kind                       uint16
	_                          uint16
	down                       int32
	repeat, key, scan, unicode uint16
	_                          uint32
}

// Of INPUT_RECORD and virtual key codes.
const (
	keyEvent = 1
	altKey   = 0x12 // VK_MENU: going up, it ends a character that was typed by its number
)

var readConsoleInput = windows.NewLazySystemDLL("kernel32.dll").NewProc("ReadConsoleInputW")

// readKeys takes the events that are there and holds their text.
func (s *stoppable) readKeys(in windows.Handle) error {
	var records [256]inputRecord
	var n uint32
	ok, _, err := readConsoleInput.Call(uintptr(in), uintptr(unsafe.Pointer(&records[0])), uintptr(len(records)),
		uintptr(unsafe.Pointer(&n)))
	if ok == 0 {
		return fmt.Errorf("console: %w", err)
	}
	for _, r := range records[:n] {
		if r.kind != keyEvent || r.unicode == 0 || r.down == 0 && r.key != altKey {
			continue
		}
		for range max(r.repeat, 1) {
			s.typed(rune(r.unicode))
		}
	}
	return nil
}

// typed holds one unit of UTF-16.
func (s *stoppable) typed(unit rune) {
	switch {
	case unit >= 0xd800 && unit < 0xdc00:
		s.high = unit
		return
	case utf16.IsSurrogate(unit):
		unit = utf16.DecodeRune(s.high, unit)
	}
	s.held = utf8.AppendRune(s.held, unit)
}
