//go:build !race

package journal

const damageStep = 1 // every place
