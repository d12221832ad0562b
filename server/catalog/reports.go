package catalog

import (
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
)

// Report is a declared query.
type Report struct {
	contract.Report
	// Query is the statement, cut at its parameters.
	Query []sqlscan.Piece
}

// resolveReports cuts the statements of declared reports. A report of a model with row policies must say that they do not
// stand in it.
func (m *Model) resolveReports() *problem {
	for _, declared := range m.Declared.Reports {
		list := "reports " + declared.Name
		if p := checkParameters(list, declared.Parameters); p != nil {
			return p
		}
		if len(m.Policies) > 0 && !declared.IgnoresPolicies {
			return notAllowed("%s: no row policy stands in a report; it must say policies: Ignored", list)
		}
		names := make([]string, len(declared.Parameters))
		for i, d := range declared.Parameters {
			names[i] = d.Name
		}
		if i := slices.IndexFunc(names, sqlscan.IsCaller); i >= 0 {
			return notAllowed("%s: the parameter %s stands for the caller; give yours another name", list, names[i])
		}
		query, err := sqlscan.ScanQuery(declared.Statement, names)
		if err != nil {
			return notAllowed("%s: the statement %s", list, err)
		}
		m.Reports = append(m.Reports, &Report{declared, query})
	}
	return nil
}
