// generate writes the document of the HTTP API, and its types in TypeScript for the web page:
// generate WIREDIR DOCUMENT TYPES.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/evertty/evertty/internal/openapi"
	"github.com/evertty/evertty/internal/server"
	"github.com/evertty/evertty/internal/server/httpapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 4 {
		return fmt.Errorf("usage: generate WIREDIR DOCUMENT TYPES")
	}
	doc, err := openapi.Document(server.Routes(), os.Args[1], httpapi.APIVersion)
	if err != nil {
		return err
	}
	types, err := openapi.TypeScript(os.Args[1])
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(os.Args[2], doc, 0o644), os.WriteFile(os.Args[3], types, 0o644))
}
