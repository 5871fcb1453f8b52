//go:build race

package vt_test

const raceEnabled = true
