package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
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

// resourceKind is a kind of resource that models have. operation is the operation that reads it.
type resourceKind struct {
	operation string
	template  template
	// of is the model's own resource; nil if each row has one, which are not listed.
	of func(*catalog.Model) resource
}

var resourceKinds = []resourceKind{
	{"describe", template{schemaScheme + "{model_name}/schema", "model schema", "The fields, relationships and administration options of a model.", MimeType}, func(m *catalog.Model) resource {
		return resource{schemaScheme + m.Name + "/schema", m.Name + " schema", "The fields, relationships and administration options of " + m.Declared.VerboseNamePlural + ".", MimeType}
	}},
	{"list", template{dataScheme + "{model_name}/", "first rows", "The first 50 rows of a model; its list tool pages, filters and orders.", MimeType}, func(m *catalog.Model) resource {
		return resource{dataScheme + m.Name + "/", m.Name + " rows", "The first 50 " + m.Declared.VerboseNamePlural + ".", MimeType}
	}},
	{"get", template{dataScheme + "{model_name}/{id}", "one row", "One row of a model, by its primary key.", MimeType}, nil},
}

// encodeResources returns the models' entries of resources/list, by Model.Index and in the order of resourceKinds; none of
// a model that is not advertised.
func encodeResources(c *catalog.Catalog) [][][]byte {
	pieces := make([][][]byte, len(c.Models()))
	for _, m := range c.Models() {
		if !m.Declared.Expose || !m.Served() {
			continue
		}
		of := make([][]byte, len(resourceKinds))
		for i := range resourceKinds {
			if kind := &resourceKinds[i]; kind.of != nil {
				of[i], _ = json.Marshal(kind.of(m)) // strings: it cannot fail
			}
		}
		pieces[m.Index] = of
	}
	return pieces
}

func (set *Set) appendResources(dst []byte, token access.Token, view View) []byte {
	dst = append(dst, '[')
	for _, m := range set.catalog.Models() {
		if !set.lists(view, m) {
			continue
		}
		for i, piece := range set.resources[m.Index] {
			if piece != nil && set.canRead(token, &resourceKinds[i], m) {
				dst = append(append(dst, piece...), ',')
			}
		}
	}
	return closeArray(dst)
}

func (set *Set) appendTemplates(dst []byte, token access.Token, view View) []byte {
	dst = append(dst, '[')
	for i := range resourceKinds {
		kind := &resourceKinds[i]
		if slices.ContainsFunc(set.catalog.Models(), func(m *catalog.Model) bool { return view.shows(m) && set.canRead(token, kind, m) }) {
			piece, _ := json.Marshal(kind.template) // strings: it cannot fail
			dst = append(append(dst, piece...), ',')
		}
	}
	return closeArray(dst)
}

// closeArray ends a JSON array whose elements each have a comma behind them.
func closeArray(dst []byte) []byte {
	return append(bytes.TrimSuffix(dst, []byte{','}), ']')
}

// canRead reports whether ReadResource answers the token with a resource of this kind, if the row is there.
func (set *Set) canRead(token access.Token, kind *resourceKind, m *catalog.Model) bool {
	return call.FindOperation(kind.operation).IsOfferedTo(set.catalog, token.Reach(m))
}

// ReadResource returns what the model's describe, list or get tool returns: same checks, same payload. A model that is
// not exposed can be read like any other.
func (set *Set) ReadResource(ctx context.Context, token access.Token, uri string) call.Result {
	name, model, arguments, err := parseURI(uri)
	if err != nil {
		return call.ResultOf(nil, err)
	}
	return set.perform(set.newCall(ctx, token, call.FindOperation(name)), model, arguments)
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
		return "", "", nil, call.Failf(call.CodeInvalidArgument, "%s has more than an id after the model; an id's own / ? and # are percent-encoded", lookup.Excerpt([]byte(uri)))
	}
	plain, err := url.PathUnescape(id)
	if err != nil || !utf8.ValidString(plain) {
		return "", "", nil, call.Failf(call.CodeInvalidArgument, "the id in %s is not percent-encoded properly: a percent sign is %%25, a comma %%2C", lookup.Excerpt([]byte(uri)))
	}
	arguments, err = json.Marshal(map[string]string{call.IDName: plain})
	return "get", model, arguments, err
}

func unknownResource(uri string) error {
	return call.Failf(call.CodeNotFound, "Resource %s not found; there are models://{model_name}/schema, data://{model_name}/ and data://{model_name}/{id}", lookup.Excerpt([]byte(uri)))
}
