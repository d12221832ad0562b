package generate

import (
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// The ends of the names of columns whose numbers are codes: nobody adds them up, and people know them by how they begin.
var (
	codeEnds = []string{"zip", "zipcode", "postcode", "postalcode", "plz", "postleitzahl", "phone", "telephone", "fax", "mobile",
		"isbn", "ean", "upc", "gtin", "barcode", "naics", "sic", "nace", "fips", "duns", "iso", "siren", "siret", "iban"}
	codePairs = []string{"postal code", "zip code", "post code", "area code", "dialing code", "country code", "currency code", "iso code", "iso numeric",
		"naics code", "sic code", "nace code", "hs code", "tariff code", "fips code", "bank code", "sort code", "branch code", "routing number",
		"account number", "account no", "account nr", "phone number", "fax number", "mobile number", "tax number", "vat number",
		"company number", "registration number", "serial number", "bar code", "ledger account"}
)

// isCode reports whether a column holds integers that are codes, by its name.
func isCode(c *database.Column) bool {
	words := catalog.Words(c.Name)
	pair := strings.Join(words[max(0, len(words)-2):], " ")
	return c.Kind == database.Integer && (slices.Contains(codeEnds, last(words)) || slices.Contains(codePairs, pair))
}

// guessCodes guesses which integers are codes. Columns that tell rows apart or lead to others are none: they are compared as they are.
func (g *Guesses) guessCodes() {
	for _, m := range g.Models {
		for _, c := range m.shown() {
			if isCode(c) && !m.isKey(c) && !m.isReferenced(c) && !m.leadsOn(c) {
				f := &m.Exposure.Spec.Fields
				f.Overrides = append(f.Overrides, v1alpha1.FieldOverride{Name: c.Name, Reads: v1alpha1.ReadsText})
				m.because("fields.overrides."+c.Name, "its numbers are codes, by its name")
			}
		}
	}
}

// leadsOn reports whether a relation that was guessed begins with a column.
func (m *Model) leadsOn(c *database.Column) bool {
	return slices.ContainsFunc(m.Exposure.Spec.Relations, func(r v1alpha1.RelationSpec) bool { return slices.Contains(r.Columns, c.Name) })
}
