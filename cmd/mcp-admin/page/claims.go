package page

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/rights"
)

// claimsScreen shows the rights of a caller whose token has the claims that somebody typed.
type claimsScreen struct {
	// Issuers are the names of the endpoint's issuers, Issuer the chosen one.
	Issuers []string
	Issuer  string
	// Claims are as they were typed; Problem says why nothing was worked out.
	Claims, Problem string
	// Visitor is nil before something was typed.
	*rights.Visitor
	Attributes []attributeRow
	Cells      []matrixCell
	Pages      pages
	// ToolNames are the first tools. MoreTools counts the others.
	ToolNames []string
	MoreTools int
}

type attributeRow struct{ Name, Value string }

// claims shows what a caller with some claims gets. Nothing is called: it is worked out as "mcp-admin can --claims" does.
func (q *request) claims() (any, error) {
	q.Title = "See as a caller"
	objects, err := q.source().Objects(q.Context(), q.key())
	if err != nil {
		return nil, err
	}
	s := &claimsScreen{Issuer: q.FormValue("issuer"), Claims: strings.TrimSpace(q.FormValue("claims"))}
	for i := range objects.Endpoint.Spec.Authentication.OIDC {
		s.Issuers = append(s.Issuers, objects.Endpoint.Spec.Authentication.OIDC[i].Name)
	}
	if s.Claims == "" {
		s.Claims = `{"sub": ""}`
		return s, nil
	}
	claims, err := rights.ReadClaims(strings.NewReader(s.Claims))
	if err == nil {
		s.Visitor, err = objects.Visitor(s.Issuer, claims, q.page.now())
	}
	if err != nil {
		s.Problem = sentenceCase(err.Error())
		return s, nil
	}
	args := []string{"--claims", "claims.json"}
	if s.Issuer != "" {
		args = append(args, "--issuer", s.Issuer)
	}
	q.command("can", args...)
	if compact, err := json.Marshal(claims); err == nil { // it was read from JSON
		q.alike("echo " + CommandLine(string(compact)) + " > claims.json")
		slices.Reverse(q.Commands)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Visitor.Attributes)) {
		s.Attributes = append(s.Attributes, attributeRow{name, s.Visitor.Attributes[name]})
	}
	s.Pages = q.pages(len(s.Models), "models")
	for i := range s.Models[s.Pages.first:s.Pages.last] {
		s.Cells = append(s.Cells, cellOf(&s.Models[s.Pages.first+i]))
	}
	if s.Tools != nil {
		s.ToolNames = s.Tools.Names[:min(len(s.Tools.Names), perTools)]
		s.MoreTools = len(s.Tools.Names) - len(s.ToolNames)
	}
	return s, nil
}
