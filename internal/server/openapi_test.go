package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/evertty/evertty/internal/openapi"
	"github.com/evertty/evertty/internal/server/compat"
	"github.com/evertty/evertty/internal/server/httpapi"
)

// loadOpenAPI returns the document with its references resolved, the same to all: nobody changes it.
var loadOpenAPI = sync.OnceValues(func() (*openapi3.T, error) { return openapi3.NewLoader().LoadFromData(openAPI) })

// pointerEscapes are those of a JSON pointer (RFC 6901, section 3).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// schemas are the schemas of the document by their JSON pointers, each compiled when it is first needed.
var schemas struct {
	sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// compiledSchema is the schema at a pointer such as #/components/schemas/Terminal; formats count.
func compiledSchema(pointer string) (*jsonschema.Schema, error) {
	schemas.Lock()
	defer schemas.Unlock()
	if schemas.compiler == nil {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(openAPI))
		if err != nil {
			return nil, err
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource("openapi.json", document); err != nil {
			return nil, err
		}
		schemas.compiler, schemas.compiled = c, map[string]*jsonschema.Schema{}
	}
	if s := schemas.compiled[pointer]; s != nil {
		return s, nil
	}
	s, err := schemas.compiler.Compile("openapi.json" + pointer)
	schemas.compiled[pointer] = s
	return s, err
}

// fits holds JSON against the schema at a pointer of the document.
func fits(pointer string, body []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	schema, err := compiledSchema(pointer)
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// checkExamples holds the examples in v, a part of the document, against the schemas they stand beside or in.
func checkExamples(t *testing.T, pointer string, v any) (found int) {
	t.Helper()
	check := func(schema string, example any) {
		body, err := json.Marshal(example)
		if err == nil {
			err = fits(schema, body)
		}
		if err != nil {
			t.Errorf("an example at %s: %v", pointer, err)
		}
		found++
	}
	object, _ := v.(map[string]any)
	if example, ok := object["example"]; ok && object["schema"] != nil {
		check(pointer+"/schema", example)
	}
	switch examples := object["examples"].(type) {
	case map[string]any: // of a body, by name
		for _, example := range examples {
			check(pointer+"/schema", example.(map[string]any)["value"])
		}
	case []any: // of a schema
		for _, example := range examples {
			check(pointer, example)
		}
	}
	for name, member := range object {
		if name != "example" && name != "examples" {
			found += checkExamples(t, pointer+"/"+pointerEscapes.Replace(name), member)
		}
	}
	if list, ok := v.([]any); ok {
		for i, member := range list {
			found += checkExamples(t, pointer+"/"+strconv.Itoa(i), member)
		}
	}
	return found
}

func TestOpenAPIIsValid(t *testing.T) {
	doc, err := loadOpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if !doc.IsOpenAPI31OrLater() {
		t.Errorf("it is of version %s, want 3.1", doc.OpenAPI)
	}
	err = doc.Validate(t.Context(), openapi3.EnableMultiError(), openapi3.DisableExamplesValidation())
	if err != nil {
		t.Error(err)
	}
	var raw any
	if err := json.Unmarshal(openAPI, &raw); err != nil {
		t.Fatal(err)
	}
	if found := checkExamples(t, "#", raw); found < 80 {
		t.Errorf("only %d examples were found", found)
	}
	if want := strconv.Itoa(httpapi.APIVersion); doc.Info.Version != want {
		t.Errorf("info.version is %s, GET /version says %s", doc.Info.Version, want)
	}
}

// TestOpenAPIHasEveryRoute compares the document with what the server offers.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	documented := map[string]bool{}
	doc, err := loadOpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented[method+" "+path] = true
		}
	}
	for _, r := range routes() {
		key := r.Method + " " + templateOf(r.Path)
		if !documented[key] {
			t.Errorf("%s is served and not documented", key)
		}
		delete(documented, key)
	}
	for key := range documented {
		t.Errorf("%s is documented and not served", key)
	}
}

// templateOf is a route's path as OpenAPI writes it: {id} for :id, {file} for *.
func templateOf(route string) string {
	parts := strings.Split(route, "/")
	for i, p := range parts {
		if name, ok := strings.CutPrefix(p, ":"); ok {
			parts[i] = "{" + name + "}"
		} else if p == "*" {
			parts[i] = "{file}"
		}
	}
	return strings.Join(parts, "/")
}

// TestOpenAPIHasEveryErrorCode wants each row of ErrorTable under its status,
// each code that handlers make themselves under some status, and no other code.
func TestOpenAPIHasEveryErrorCode(t *testing.T) {
	documented := documentedCodes(t)
	known := codesInSource(t)
	for _, row := range httpapi.ErrorTable {
		known[row.Code] = true
		if !slices.Contains(documented[row.Status], row.Code) {
			t.Errorf("%d %s (%v) is not documented", row.Status, row.Code, row.Err)
		}
	}
	for _, row := range compat.FileErrors {
		known[row.Code] = true
		if !slices.Contains(documented[row.Status], row.Code) {
			t.Errorf("%d %s (%v) is not documented", row.Status, row.Code, row.Err)
		}
	}
	all := map[string]bool{}
	for status, codes := range documented {
		for _, code := range codes {
			all[code] = true
			if !known[code] {
				t.Errorf("%d %s is documented and nowhere made", status, code)
			}
		}
	}
	for code := range known {
		if !all[code] {
			t.Errorf("%s is made and not documented", code)
		}
	}
}

// documentedCodes are the error codes that replies to routes may have, by status.
func documentedCodes(t *testing.T) map[int][]string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
		Any   map[string]json.RawMessage `json:"x-any-request"`
		Parts struct {
			Responses map[string]struct {
				Content map[string]struct {
					Schema struct {
						Properties struct{ Code struct{ Enum []string } }
					}
				}
			}
		} `json:"components"`
	}
	decode(t, openAPI, &doc)
	codes := map[int][]string{}
	add := func(responses map[string]json.RawMessage) {
		for status, r := range responses {
			var ref struct {
				Ref string `json:"$ref"`
			}
			decode(t, r, &ref)
			n, _ := strconv.Atoi(status) // validated as a status
			part := doc.Parts.Responses[strings.TrimPrefix(ref.Ref, "#/components/responses/")]
			codes[n] = append(codes[n], part.Content["application/json"].Schema.Properties.Code.Enum...)
		}
	}
	add(doc.Any)
	for _, item := range doc.Paths {
		for key, raw := range item {
			if key == "parameters" {
				continue
			}
			var op struct{ Responses map[string]json.RawMessage }
			decode(t, raw, &op)
			add(op.Responses)
		}
	}
	return codes
}

func decode(t *testing.T, b []byte, dst any) {
	t.Helper()
	if err := json.Unmarshal(b, dst); err != nil {
		t.Fatal(err)
	}
}

// codesInSource are the codes that this package's calls of NewError spell out.
func codesInSource(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	parts, err2 := filepath.Glob("*/*.go")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	for _, name := range append(files, parts...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			name := call.Fun
			if qualified, ok := name.(*ast.SelectorExpr); ok {
				name = qualified.Sel
			}
			if fun, ok := name.(*ast.Ident); !ok || fun.Name != "NewError" {
				return true
			}
			if lit, ok := call.Args[1].(*ast.BasicLit); ok {
				code, _ := strconv.Unquote(lit.Value) // the parser took it
				codes[code] = true
			}
			return true
		})
	}
	return codes
}

// keepers are the objects that keep fields of others, as conversation files have them.
var keepers = []string{"/components/schemas/ImportRecord", "/components/schemas/Record",
	"/components/schemas/TimelineEntry"}

// TestOpenAPIIsWhole wants every component used, every object but the keepers closed, so that a
// field nobody described fails the tests of replies, and every field described.
func TestOpenAPIIsWhole(t *testing.T) {
	var doc map[string]any
	decode(t, openAPI, &doc)
	used := map[string]bool{}
	walkJSON("", doc, func(path string, object map[string]any) {
		if ref, ok := object["$ref"].(string); ok {
			used[ref] = true
		}
		properties, _ := object["properties"].(map[string]any)
		if object["type"] == "object" && properties != nil &&
			object["additionalProperties"] != slices.Contains(keepers, path) {
			t.Errorf("%s is an open object, or should be", path)
		}
		if object["type"] != "object" {
			return // a constraint beside a reference describes nothing itself
		}
		for name, p := range properties {
			field, _ := p.(map[string]any)
			if field["description"] == nil && field["$ref"] == nil {
				t.Errorf("%s: the field %s has no description", path, name)
			}
		}
	})
	components, _ := doc["components"].(map[string]any)
	for kind, parts := range components {
		if kind == "securitySchemes" {
			continue // named without a reference; Validate checks them
		}
		for name := range parts.(map[string]any) {
			if ref := "#/components/" + kind + "/" + name; !used[ref] {
				t.Errorf("nothing uses %s", ref)
			} else {
				delete(used, ref)
			}
		}
	}
	for ref := range used {
		t.Errorf("%s does not exist", ref)
	}
}

// walkJSON calls visit for every object in v.
func walkJSON(path string, v any, visit func(path string, object map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(path, v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walkJSON(path+"/"+name, v[name], visit)
		}
	case []any:
		for i, item := range v {
			walkJSON(fmt.Sprintf("%s/%d", path, i), item, visit)
		}
	}
}

// TestOpenAPIIsGenerated: the document, and the types of the web page, are what the generator makes
// of the routes and of package wire now.
func TestOpenAPIIsGenerated(t *testing.T) {
	want, err := openapi.Document(Routes(), "../../wire", httpapi.APIVersion)
	if err != nil {
		t.Fatal(err)
	}
	sameLines(t, "openapi.json", openAPI, want)
	if want, err = openapi.TypeScript("../../wire"); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../webui/src/api/wire.gen.ts")
	if err != nil {
		t.Fatal(err)
	}
	sameLines(t, "wire.gen.ts", page, want)
}

func sameLines(t *testing.T, name string, got, want []byte) {
	t.Helper()
	have := strings.Split(string(got), "\n")
	for i, line := range strings.Split(string(want), "\n") {
		if i >= len(have) || have[i] != line {
			t.Fatalf("%s: line %d should be %q; go generate ./internal/server writes it", name, i+1, line)
		}
	}
}
