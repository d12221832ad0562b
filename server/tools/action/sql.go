package action

import (
	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// planSQL locks the rows that the caller may see: only their keys are bound to the declared statements.
func (e *actionCall) planSQL(w *write.Writer) (*actionPlan, error) {
	p, err := e.findRows(w.Tx, true)
	if err != nil {
		return nil, err
	}
	if err := e.noneFound(p); err != nil {
		return nil, err
	}
	p.run = func() (int, error) { return e.execute(w, p.rows) }
	return p, nil
}

// execute runs the statements in their order, and returns how many rows the first was about: that one is about the selected
// rows. The journal tells what became of these; what else the statements change is the administrator's to know.
func (e *actionCall) execute(w *write.Writer, rows []*call.Row) (int, error) {
	ids, err := e.boundIDs(rows)
	if err != nil {
		return 0, err
	}
	var affected int64
	for i, pieces := range e.declared.Statements {
		n, err := w.Tx.Execute(e.call.Ctx, e.bind(pieces, ids))
		if err != nil {
			return 0, err
		}
		if i == 0 {
			affected = n
		}
	}
	keys, err := e.rowKeys(rows)
	if err != nil {
		return 0, err
	}
	return int(affected), e.journalChanges(w, rows, keys, "ran "+e.declared.Name)
}

// boundIDs are the keys of the selected rows, as :ids stands for them, joined by commas.
func (e *actionCall) boundIDs(rows []*call.Row) ([]database.Piece, error) {
	key := e.call.Scope.Model().Key[0].Column
	var ids []database.Piece
	for i, row := range rows {
		if i > 0 {
			ids = append(ids, database.Piece{SQL: ", "})
		}
		id, err := boundID(key, row)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// boundID is the key of a row as the database has it: other values of a Loose column look like it in rows.
func boundID(key *database.Column, row *call.Row) (database.Piece, error) {
	id := database.Piece{Bound: true, Kind: key.Kind}
	value, err := lookup.ParseShown(key, row.ID())
	if kept := row.Value(write.KeptMember + key.Name); len(kept) > 0 && !call.IsNull(kept) {
		id.Kind = database.Other
		value, err = database.ParseKept(kept)
	}
	id.Values = []database.Value{value}
	return id, err
}

// bind puts values in the place of a statement's parameters; one that was left out is NULL.
func (e *actionCall) bind(pieces []sqlscan.Piece, ids []database.Piece) *database.Declared {
	kinds := map[string]database.Kind{}
	for _, p := range e.declared.Parameters {
		kinds[p.Name] = catalog.ParameterKinds[p.Type]
	}
	statement := &database.Declared{}
	for _, piece := range pieces {
		switch piece.Parameter {
		case "":
			statement.Pieces = append(statement.Pieces, database.Piece{SQL: piece.SQL})
		case sqlscan.IDs:
			statement.Pieces = append(statement.Pieces, ids...)
		default:
			bound := database.Piece{Bound: true, Kind: kinds[piece.Parameter], Values: []database.Value{e.parameters.values[piece.Parameter]}}
			statement.Pieces = append(statement.Pieces, bound)
		}
	}
	return statement
}
