package engines

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// resources holds the lists of resources and of their templates against what each caller can read.
func resources(s *suite, t *testing.T) {
	offering := start(t, s.Engine, func(c *contract.Config) {
		for i := range c.Models {
			switch m := &c.Models[i]; m.Name {
			case "author":
				m.Operations = []string{"get", "aggregate"}
			case "category":
				m.Operations = []string{"describe", "create"}
			case "country":
				m.Operations = []string{"list", "update"}
			case "review":
				m.Operations = []string{"create", "autocomplete"}
			case "edition":
				m.Expose = false
			}
		}
		for i := range c.Tokens {
			if c.Tokens[i].Name == "bookish" {
				c.Tokens[i].Rules = append(c.Tokens[i].Rules, contract.Rule{Models: []string{"category"}, Verbs: []string{"add"}})
			}
		}
	})
	for _, query := range []string{"", "?tools=generic&models=category,edition", "?tools=per-model&models=country,jotting", "?models=author,review", "?models=nosuch"} {
		for _, token := range []string{"root", "viewer", "clerk", "stranger", "adder", "bookish", "nobody"} {
			s.check(t, token+" at "+query, func(t *testing.T) {
				r := resourceReader{callerTexts{suite: offering, token: token, query: query}}
				r.listsAgreeWithReading(t)
			})
		}
	}
}

type resourceReader struct{ callerTexts }

// resourceTemplates are all that there are; ofRow is set if each row has a resource, which no list names.
var resourceTemplates = []struct {
	template string
	ofRow    bool
}{{"models://{model_name}/schema", false}, {"data://{model_name}/", false}, {"data://{model_name}/{id}", true}}

// listsAgreeWithReading reads every resource of every model, and makes sure that the lists have the resources that
// could be read.
func (r *resourceReader) listsAgreeWithReading(t *testing.T) {
	t.Helper()
	resources, templates := map[string]bool{}, map[string]bool{}
	for _, m := range models() {
		exposed := m.Expose && m.Name != "edition"
		_, only, narrowed := strings.Cut(r.query, "models=")
		if narrowed && !slices.Contains(strings.Split(only, ","), m.Name) {
			continue
		}
		for _, of := range resourceTemplates {
			uri := strings.NewReplacer("{model_name}", m.Name, "{id}", "1").Replace(of.template)
			switch readable := r.canRead(t, uri); {
			case !readable:
			case of.ofRow:
				templates[of.template] = true
			default:
				templates[of.template] = true
				if exposed {
					resources[uri] = true
				}
			}
		}
	}
	var listed struct {
		Resources         []struct{ URI string }
		ResourceTemplates []struct{ URITemplate string }
	}
	r.rpc(t, "resources/list", "{}", &listed)
	r.rpc(t, "resources/templates/list", "{}", &listed)
	shown := map[string]bool{}
	for _, resource := range listed.Resources {
		shown[resource.URI] = true
	}
	if !maps.Equal(shown, resources) {
		t.Errorf("listed are %v, read %v", keysOf(shown), keysOf(resources))
	}
	shown = map[string]bool{}
	for _, template := range listed.ResourceTemplates {
		shown[template.URITemplate] = true
	}
	if !maps.Equal(shown, templates) {
		t.Errorf("listed templates are %v, read %v", keysOf(shown), keysOf(templates))
	}
}

func keysOf(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }

// canRead reports whether a resource is read, or would be if its row were there.
func (r *resourceReader) canRead(t *testing.T, uri string) bool {
	t.Helper()
	_, body := r.endpoint.PostTo(r.query, secret(r.token), fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q}}`, uri))
	switch {
	case strings.Contains(body, `"contents":[{`), strings.Contains(body, " not found") && !strings.Contains(body, "Model "), strings.Contains(body, `"message":"id: `):
		return true
	case strings.Contains(body, "Permission denied"), strings.Contains(body, "not offered"):
		return false
	}
	t.Fatalf("%s: %s", uri, body)
	return false
}
