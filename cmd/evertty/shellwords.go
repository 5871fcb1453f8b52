package main

import (
	"slices"
	"strings"
)

// plainWord are the characters that mean nothing to a shell in any place of a word.
const plainWord = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+:,./_-"

// reserved are the words of bash's grammar that begin something which one command
// cannot end. time is not one of them: it takes the command that follows.
var reserved = []string{"if", "then", "elif", "else", "fi", "do", "done", "case", "esac", "while", "until", "for",
	"select", "function", "coproc"}

// shellWords is a command line that a shell splits into exactly these words. The first
// one stays an alias when it is one, as if typed.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.Trim(w, plainWord) != "" || i == 0 && slices.Contains(reserved, w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
