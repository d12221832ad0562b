package tools

import (
	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// planSQL locks the rows that the caller may see: only their keys are bound to the declared statement.
func (e *actionCall) planSQL(w *write) (*actionPlan, error) {
	p, err := e.findRows(w.tx, true)
	if err != nil {
		return nil, err
	}
	if err := e.noneFound(p); err != nil {
		return nil, err
	}
	p.run = func() (int, error) { return e.execute(w, p.rows) }
	return p, nil
}

// execute runs the statement. The journal tells what became of the selected rows; what else the statement changes is the
// administrator's to know.
func (e *actionCall) execute(w *write, rows []*row) (int, error) {
	statement, err := e.bind(rows)
	if err != nil {
		return 0, err
	}
	n, err := w.tx.Execute(e.call.ctx, statement)
	if err != nil {
		return 0, err
	}
	keys, err := e.rowKeys(rows)
	if err != nil {
		return 0, err
	}
	return int(n), e.journalChanges(w, rows, keys, "ran "+e.declared.Name)
}

// bind puts values in the place of the statement's parameters; one that was left out is NULL.
func (e *actionCall) bind(rows []*row) (*database.Declared, error) {
	key := e.call.scope.Model().Key[0].Column
	ids := database.Piece{Bound: true, Kind: key.Kind}
	for _, row := range rows {
		value, err := lookup.ParseShown(key, row.id())
		if err != nil {
			return nil, err
		}
		ids.Values = append(ids.Values, value)
	}
	kinds := map[string]database.Kind{}
	for _, p := range e.declared.Parameters {
		kinds[p.Name] = catalog.ParameterKinds[p.Type]
	}
	statement := &database.Declared{}
	for _, piece := range e.declared.Statement {
		switch piece.Parameter {
		case "":
			statement.Pieces = append(statement.Pieces, database.Piece{SQL: piece.SQL})
		case sqlscan.IDs:
			statement.Pieces = append(statement.Pieces, ids)
		default:
			bound := database.Piece{Bound: true, Kind: kinds[piece.Parameter], Values: []database.Value{e.parameters.values[piece.Parameter]}}
			statement.Pieces = append(statement.Pieces, bound)
		}
	}
	return statement, nil
}
