package tools

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// The URIs of resources (interface specification section 4.5).
const (
	schemaScheme = "models://"
	dataScheme   = "data://"
)

// resourcePage is how many rows data://{model_name}/ shows; interface specification section 8.
const resourcePage = `{"limit":50}`

// resource is an entry of resources/list, template one of resources/templates/list.
type resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Description string `json:"description"`
	MimeType    string `json:"mimeType"`
}

type template struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Description string `json:"description"`
	MimeType    string `json:"mimeType"`
}

// MimeType is the type of every resource.
const MimeType = "application/json"

var templates, _ = json.Marshal([]template{
	{schemaScheme + "{model_name}/schema", "model schema", "The fields, relationships and administration options of a model.", MimeType},
	{dataScheme + "{model_name}/", "first rows", "The first 50 rows of a model; its list tool pages, filters and orders.", MimeType},
	{dataScheme + "{model_name}/{id}", "one row", "One row of a model, by its primary key.", MimeType},
})

// encodeResources returns the models' entries of resources/list, by Model.Index: two for each that is exposed and
// served, with a comma between them.
func encodeResources(c *catalog.Catalog) [][]byte {
	pieces := make([][]byte, len(c.Models()))
	for _, m := range c.Models() {
		if m.Declared.Expose && m.Served() {
			pieces[m.Index] = encodeResource(m)
		}
	}
	return pieces
}

func encodeResource(m *catalog.Model) []byte {
	entries, err := json.Marshal([]resource{
		{schemaScheme + m.Name + "/schema", m.Name + " schema", "The fields, relationships and administration options of " + m.Declared.VerboseNamePlural + ".", MimeType},
		{dataScheme + m.Name + "/", m.Name + " rows", "The first 50 " + m.Declared.VerboseNamePlural + ".", MimeType},
	})
	if err != nil {
		panic(err) // strings: it cannot fail
	}
	return entries[1 : len(entries)-1]
}

// AppendResources appends the JSON array of resources/list: two for each exposed model that the token may view, of those
// that the view shows.
func (set *Set) AppendResources(dst []byte, token access.Token, view View) []byte {
	dst = append(dst, '[')
	first := len(dst)
	for _, m := range set.catalog.Models() {
		piece := set.resources[m.Index]
		if piece == nil || !view.shows(m) || !token.Verbs(m).Has(access.View) {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = append(dst, piece...)
	}
	return append(dst, ']')
}

// AppendResourceTemplates appends the JSON array of resources/templates/list, the same for every token.
func (set *Set) AppendResourceTemplates(dst []byte, _ access.Token) []byte {
	return append(dst, templates...)
}

// ReadResource returns what the model's describe, list or get tool returns: same checks, same payload. A model that is
// not exposed can be read like any other.
func (set *Set) ReadResource(ctx context.Context, token access.Token, uri string) Result {
	name, model, arguments, err := parseURI(uri)
	if err != nil {
		return result(nil, err)
	}
	return set.perform(ctx, token, findOperation(name), model, arguments)
}

// parseURI says which operation on which model, with which arguments, reads a resource.
func parseURI(uri string) (operation, model string, arguments []byte, err error) {
	if rest, ok := strings.CutPrefix(uri, schemaScheme); ok {
		model, ok = strings.CutSuffix(rest, "/schema")
		if !ok || model == "" || strings.Contains(model, "/") {
			return "", "", nil, unknownResource(uri)
		}
		return "describe", model, nil, nil
	}
	rest, ok := strings.CutPrefix(uri, dataScheme)
	model, id, _ := strings.Cut(rest, "/")
	switch {
	case !ok || model == "":
		return "", "", nil, unknownResource(uri)
	case id == "":
		return "list", model, []byte(resourcePage), nil
	case strings.ContainsAny(id, "/?#"):
		return "", "", nil, failf(CodeInvalidArgument, "%s has more than an id after the model; an id's own / ? and # are percent-encoded", lookup.Excerpt([]byte(uri)))
	}
	plain, err := url.PathUnescape(id)
	if err != nil || !utf8.ValidString(plain) {
		return "", "", nil, failf(CodeInvalidArgument, "the id in %s is not percent-encoded properly: a percent sign is %%25, a comma %%2C", lookup.Excerpt([]byte(uri)))
	}
	arguments, err = json.Marshal(map[string]string{idName: plain})
	return "get", model, arguments, err
}

func unknownResource(uri string) error {
	return failf(CodeNotFound, "Resource %s not found; there are models://{model_name}/schema, data://{model_name}/ and data://{model_name}/{id}", lookup.Excerpt([]byte(uri)))
}
