package httpapi

import (
	"fmt"
	"strings"
)

// PageHead begins our two pages; they have no script and need nothing else.
const PageHead = `<!doctype html><html lang="en"><head><meta charset="utf-8">` +
	`<meta name="viewport" content="width=device-width,initial-scale=1"><title>evertty</title>` +
	`<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1em}` +
	`@media(prefers-color-scheme:dark){body{background:#16181d;color:#e6e6e6}a{color:#8ab4f8}}</style>`

// loginPage is the 401 of a browser that asked for path. Its link is relative: a proxy may have put a path before ours.
func loginPage(path string) string {
	root := "./" + strings.Repeat("../", max(strings.Count(path, "/")-1, 0))
	return fmt.Sprintf(loginText, root)
}

const loginText = PageHead + `</head><body><h1>Please log in</h1>` +
	`<p>Run <code>evertty url</code> on the server and open the printed link. It works once and for 30 seconds.</p>` +
	`<p>Logged in already? <a href="%s">Open the terminals</a>.</p></body></html>`
