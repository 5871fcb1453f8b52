// generate writes the document of the HTTP API: generate WIREDIR FILE.
package main

import (
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
	if len(os.Args) != 3 {
		return fmt.Errorf("usage: generate WIREDIR FILE")
	}
	doc, err := openapi.Document(server.Routes(), os.Args[1], httpapi.APIVersion)
	if err != nil {
		return err
	}
	return os.WriteFile(os.Args[2], doc, 0o644)
}
