package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// mutation is one broken line.
type mutation struct {
	file  string // absolute
	line  int
	what  string
	lock  bool // only the race detector can see it
	edits []edit
}

// edit replaces the bytes from..to of a file.
type edit struct {
	from, to int
	text     string
}

// apply returns the mutated file.
func (m mutation) apply() ([]byte, error) {
	b, err := os.ReadFile(m.file)
	if err != nil {
		return nil, err
	}
	for _, e := range slices.Backward(m.edits) {
		b = slices.Concat(b[:e.from], []byte(e.text), b[e.to:])
	}
	return b, nil
}

// kinds are the mutations of a package by their kind.
type kinds map[string][]mutation

// draw takes a mutation out: a kind that is left, then one of it. So that rare kinds are tried as often as calls.
func (k kinds) draw(random *rand.Rand) (mutation, bool) {
	var left []string
	for name, all := range k {
		if len(all) > 0 {
			left = append(left, name)
		}
	}
	if len(left) == 0 {
		return mutation{}, false
	}
	slices.Sort(left)
	name := left[random.IntN(len(left))]
	i := random.IntN(len(k[name]))
	m := k[name][i]
	k[name] = slices.Delete(k[name], i, i+1)
	return m, true
}

// mutations are all that can be made of the package's files. Generated files have none.
func (p *listed) mutations(locks bool) (kinds, error) {
	k := kinds{}
	for _, name := range p.GoFiles {
		set := token.NewFileSet()
		path := filepath.Join(p.Dir, name)
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		if ast.IsGenerated(f) {
			continue
		}
		v := visitor{kinds: k, set: set, path: path, locks: locks}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Name.Name != "String" {
				v.body = fn.Body
				ast.Inspect(fn.Body, v.visit)
			}
		}
	}
	return k, nil
}

// turned are the other sides of comparisons.
var turned = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
}

// equal are calls that change nothing that a test can see: logs, metrics, hints, and the ends of what ends anyway.
var equal = regexp.MustCompile(`(?i)(^|\.)(log|slog|logger|logf|metrics?)\.|` +
	`\.(Debug|Info|Warn|Error|Log|Logf|Inc|Observe|Add|Gosched|KeepAlive|SetFinalizer|Grow|Unlock|RUnlock)$|^panic$`)

// visitor collects the mutations of one file.
type visitor struct {
	kinds kinds
	set   *token.FileSet
	path  string
	body  *ast.BlockStmt // of the function
	locks bool
}

func (v *visitor) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		v.binary(n)
	case *ast.ForStmt:
		// An endless loop is red for a reason that says nothing about tests: the step of a loop stays.
		ast.Inspect(n.Body, v.visit)
		if n.Cond != nil {
			ast.Inspect(n.Cond, v.visit)
		}
		return false
	case *ast.IncDecStmt:
		to := map[token.Token]string{token.INC: "--", token.DEC: "++"}[n.Tok]
		v.add("one", n.TokPos, n.Tok.String()+" to "+to, v.edit(n.TokPos, len(n.Tok.String()), to))
	case *ast.ExprStmt:
		if call, ok := n.X.(*ast.CallExpr); ok {
			v.call(n, call)
		}
	case *ast.CallExpr:
		if fun, ok := n.Fun.(*ast.Ident); ok && fun.Name == "make" {
			return false // a capacity is a hint
		}
	}
	return true
}

func (v *visitor) binary(n *ast.BinaryExpr) {
	replace := func(kind, to string) {
		v.add(kind, n.OpPos, n.Op.String()+" to "+to, v.edit(n.OpPos, len(n.Op.String()), to))
	}
	switch n.Op {
	case token.LAND:
		replace("join", "||")
	case token.LOR:
		replace("join", "&&")
	case token.ADD, token.SUB:
		if lit, ok := n.Y.(*ast.BasicLit); ok && lit.Kind == token.INT {
			if i, err := strconv.Atoi(lit.Value); err == nil {
				to := strconv.Itoa(i + 1)
				v.add("one", lit.Pos(), types.ExprString(n)+" with "+to, v.edit(lit.Pos(), len(lit.Value), to))
			}
		}
	default:
		if to, ok := turned[n.Op]; ok {
			replace("comparison", to.String())
		}
	}
}

// call takes a statement out that calls; a lock with its unlocks of the same function.
func (v *visitor) call(n *ast.ExprStmt, call *ast.CallExpr) {
	name := types.ExprString(call.Fun)
	if fun, ok := call.Fun.(*ast.SelectorExpr); ok && (fun.Sel.Name == "Lock" || fun.Sel.Name == "RLock") {
		if v.locks {
			v.lock(n, types.ExprString(fun.X))
		}
		return
	}
	if !equal.MatchString(name) {
		v.add("call", n.Pos(), name+"(…) taken out", v.drop(n))
	}
}

// lock takes out every statement of the function that locks or unlocks the mutex.
func (v *visitor) lock(n ast.Node, mutex string) {
	var edits []edit
	ast.Inspect(v.body, func(n ast.Node) bool {
		var call *ast.CallExpr
		switch n := n.(type) {
		case *ast.ExprStmt:
			call, _ = n.X.(*ast.CallExpr)
		case *ast.DeferStmt:
			call = n.Call
		}
		if call == nil {
			return true
		}
		fun, ok := call.Fun.(*ast.SelectorExpr)
		if ok && regexp.MustCompile(`^R?(L|Unl)ock$`).MatchString(fun.Sel.Name) && types.ExprString(fun.X) == mutex {
			edits = append(edits, v.drop(n))
		}
		return true
	})
	if edits[0].from != v.set.Position(n.Pos()).Offset {
		return // the first lock of the function stands for all of this mutex
	}
	v.add("lock", n.Pos(), mutex+" is not locked", edits...)
	v.kinds["lock"][len(v.kinds["lock"])-1].lock = true
}

// drop removes a statement, and keeps the lines of the rest.
func (v *visitor) drop(n ast.Node) edit {
	return v.edit(n.Pos(), int(n.End()-n.Pos()), "")
}

func (v *visitor) edit(pos token.Pos, length int, text string) edit {
	from := v.set.Position(pos).Offset
	return edit{from, from + length, text}
}

func (v *visitor) add(kind string, pos token.Pos, what string, edits ...edit) {
	m := mutation{file: v.path, line: v.set.Position(pos).Line, what: what, edits: edits}
	v.kinds[kind] = append(v.kinds[kind], m)
}
