package openapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// operation is what the document says about a route of types.
func (g *generator) operation(r httpapi.Route) object {
	defer within("%s %s", r.Method, r.Path)
	if r.ID == "" || r.Summary == "" || !slices.ContainsFunc(tags, func(t [2]string) bool { return t[0] == r.Group }) {
		fail("it has the name %q, the summary %q and the group %q", r.ID, r.Summary, r.Group)
	}
	op := object{{"tags", list{r.Group}}, {"operationId", r.ID}, {"summary", r.Summary}}
	if r.Description != "" {
		op.set("description", r.Description)
	}
	var params list
	limited := false
	for _, p := range g.types.params(r.In.Name()) {
		if p.in != "path" {
			limited = limited || p.limited
			params = append(params, g.use(p))
		}
	}
	if params != nil {
		op.set("parameters", params)
	}
	if s := securityOf(r); s != nil {
		op.set("security", s)
	}
	if body := g.bodyOf(r); body != "" {
		op.set("requestBody", object{{"description", r.BodyText}, {"required", !r.MayEmpty},
			{"content", object{{"application/json", object{{"schema", refTo("schemas", body)}}}}}})
	}
	op.set("responses", g.responsesOf(r, limited))
	return op
}

// bodyOf is the schema of a route's body, "" without one.
func (g *generator) bodyOf(r httpapi.Route) string {
	switch {
	case r.BodyText == "":
		return ""
	case r.RawBody != nil:
		return typeName(r.RawBody)
	case g.types.isInput(r.In.Name()):
		return "Nothing"
	}
	return g.types.bodyOf(r.In.Name())
}

// responsesOf are the responses of a route by status.
func (g *generator) responsesOf(r httpapi.Route, limited bool) (o object) {
	names := map[int]string{}
	for _, reply := range r.Replies {
		names[reply.Status] = g.replyTo(reply, r.ByHand)
	}
	maps.Copy(names, g.refusalsOf(r, limited))
	for _, status := range slices.Sorted(maps.Keys(names)) {
		o.set(fmt.Sprint(status), refTo("responses", names[status]))
	}
	return o
}

// replyTo is the name of a reply in the document.
func (g *generator) replyTo(reply httpapi.Reply, byHand bool) string {
	name, text := reply.Name, reply.Text
	if len(reply.JSON) > 0 && name == "" {
		name = typeName(reply.JSON[0])
		if text == "" {
			text, _ = g.types.named[name].add.get("reply").(string)
		}
		switch reply.Status {
		case http.StatusCreated:
			name += "Created"
		case http.StatusAccepted:
			name += "Accepted"
		}
	}
	g.responses.set(name, replyObject(reply, text, !byHand))
	return name
}

// refusalsOf are the refusals of a route, as names by status: those of its sentinels, and those that follow from its
// types. limited says that a parameter may have a value that is not allowed.
func (g *generator) refusalsOf(r httpapi.Route, limited bool) map[int]string {
	codes := map[int][]string{}
	add := func(status int, code string) {
		if !slices.Contains(codes[status], code) {
			codes[status] = append(codes[status], code)
		}
	}
	if limited || r.BodyText != "" || r.Method != http.MethodGet || strings.Contains(r.Path, ":sid") {
		add(http.StatusBadRequest, "VALIDATION")
	}
	if r.Method != http.MethodGet {
		add(http.StatusRequestEntityTooLarge, "TOO_LARGE")
		add(http.StatusUnsupportedMediaType, "UNSUPPORTED_MEDIA_TYPE")
	}
	for _, sentinel := range r.Refuses {
		row, ok := httpapi.RowOf(sentinel)
		if !ok {
			fail("%v is not in the table of errors", sentinel)
		}
		add(row.Status, row.Code)
	}
	names := map[int]string{}
	for _, status := range slices.Sorted(maps.Keys(codes)) { // the document is the same each time
		list := codes[status]
		if status == http.StatusForbidden {
			list = append(list, "FORBIDDEN_HOST", "FORBIDDEN_ORIGIN", "READ_ONLY", "DENIED") // anybody may get them
		}
		names[status] = g.refusalWith(r, status, list)
	}
	for _, row := range refusals {
		asked := row.name == "Unauthorized" || row.name == "TooMany"
		if slices.Contains(implied, row.name) && names[row.status] == "" && !(asked && isOpen(r)) {
			names[row.status] = row.name
		}
	}
	return names
}

// refusalWith is the name of the refusal with exactly these codes: one that is described for a sentinel of the route,
// else for all. One that nobody has described has the texts of its codes.
func (g *generator) refusalWith(r httpapi.Route, status int, codes []string) string {
	found := ""
	for _, row := range refusals {
		if row.status != status || !sameWords(strings.Fields(row.codes), codes) ||
			row.limit != 0 && row.limit != r.Limit {
			continue
		}
		if slices.ContainsFunc(row.of, func(err error) bool { return slices.Contains(r.Refuses, err) }) {
			return row.name
		}
		if row.of == nil && (found == "" || row.limit == r.Limit) {
			found = row.name
		}
	}
	if found == "" {
		row := composed(status, codes)
		found = row.name
		g.responses.set(found, row.object())
	}
	return found
}

// composed is a refusal with the texts of its codes.
func composed(status int, codes []string) refusal {
	row := refusal{name: "Refused", status: status, codes: strings.Join(codes, " ")}
	var texts []string
	for _, code := range codes {
		for part := range strings.SplitSeq(strings.ToLower(code), "_") {
			row.name += strings.ToUpper(part[:1]) + part[1:]
		}
		text := code + "."
		for _, one := range slices.Backward(refusals) {
			if s := one.about(code); one.status == status && s != "" {
				text = s
				if strings.HasPrefix(one.example, code+": ") {
					row.example, row.details = one.example, one.details
				}
			}
		}
		texts = append(texts, text)
	}
	row.text = strings.Join(texts, " ")
	return row
}

// about is the part of a refusal's text that is about one of its codes, "" when there is none.
func (r refusal) about(code string) string {
	at := strings.Index(" "+r.text, " "+code+": ")
	if at < 0 {
		return ""
	}
	text := r.text[at:]
	for other := range strings.FieldsSeq(r.codes) {
		text, _, _ = strings.Cut(text, " "+other+": ")
	}
	return text
}

func sameWords(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
