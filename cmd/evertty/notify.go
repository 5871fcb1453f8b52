package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// maxNotice bounds the text of a notification and its title, in bytes: the server keeps 4096 and 1024.
const (
	maxNotice      = 4096
	maxNoticeTitle = 1024
)

func newNotify(a *app) *cobra.Command {
	title := ""
	c := &cobra.Command{
		Use:   "notify TEXT",
		Short: "Notify the viewers of the terminal this runs in",
		Long: `Prints the sequence of a notification (OSC 9, with a title OSC 777) on the terminal
that this program runs in. The page and attach show it; so do other terminals that
know the sequence. It asks no server. Inside tmux it is passed through where tmux
allows that (set -g allow-passthrough on). Control characters are left out.`,
		Example: `  make test; evertty notify --title tests "exit code $?"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := notifySequence(title, args[0])
			if err != nil {
				return usage(err)
			}
			tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
			if len(a.surroundings().Terminals) == 0 || err != nil {
				return usage(errors.New("notify: this does not run inside a terminal of evertty"))
			}
			defer tty.Close()
			if _, err := tty.WriteString(throughTmux(text)); err != nil {
				return fmt.Errorf("notify: %w", err)
			}
			return nil
		},
	}
	addFlags(c, flag{"title", "", &title, "`text` above the message"})
	return c
}

// notifySequence is the sequence of a notification. OSC 777 has `;` behind the title, so the title has none.
func notifySequence(title, text string) (string, error) {
	title, text = plainText(title), plainText(text)
	switch {
	case text == "":
		return "", errors.New("notify: the text is empty")
	case len(text) > maxNotice || len(title) > maxNoticeTitle:
		return "", fmt.Errorf("notify: the text may have %d bytes and the title %d", maxNotice, maxNoticeTitle)
	case title == "" && text[0] >= '0' && text[0] <= '9' || title != "":
		// OSC 9 with a number first is something else (ConEmu)
		return "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + text + "\x1b\\", nil
	}
	return "\x1b]9;" + text + "\x1b\\", nil
}

// plainText is text in one line without control characters.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r) || r == utf8.RuneError:
			return -1
		}
		return r
	}, strings.TrimSpace(s))
}

// throughTmux is a sequence as tmux passes it to the terminal around it (tmux(1), allow-passthrough).
func throughTmux(sequence string) string {
	if os.Getenv("TMUX") == "" {
		return sequence
	}
	return "\x1bPtmux;" + strings.ReplaceAll(sequence, "\x1b", "\x1b\x1b") + "\x1b\\"
}
