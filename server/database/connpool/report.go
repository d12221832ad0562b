package connpool

import (
	"database/sql/driver"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/database/rowtext"
)

// ReadReport appends the rows of a report to out. The statement was built before; query runs it and gives its result to
// read, which closes it. describe says what a column's type, its NativeType, means.
func (c *Call) ReadReport(engine rowtext.Engine[driver.Value], report *database.Report, describe func(*database.Column), out []byte, query func(read func(driver.Rows) error) error) ([]byte, database.Reported, error) {
	var reported database.Reported
	extended := out
	err := query(func(rows driver.Rows) error {
		plan := report.Plan(columnsOf(rows, describe))
		c.Row.Prepare(engine, plan.Output, plan.MaxValue, plan.Form)
		reported.Columns = plan.ColumnNames()
		var err error
		var memory []driver.Value
		passed := 0
		extended, reported.Page, err = c.ReadPage(plan, out, func(row func([]driver.Value) bool) error {
			return EachRow(rows, &memory, func(values []driver.Value) bool {
				if passed < report.Offset {
					passed++
					return true
				}
				return row(values)
			})
		})
		return err
	})
	if err != nil {
		return out, database.Reported{}, err
	}
	return extended, reported, nil
}

// columnsOf are the columns of a result, with their types as the driver names them.
func columnsOf(rows driver.Rows, describe func(*database.Column)) []*database.Column {
	typed, _ := rows.(driver.RowsColumnTypeDatabaseTypeName)
	names := rows.Columns()
	columns := make([]*database.Column, len(names))
	for i, name := range names {
		columns[i] = &database.Column{Name: name}
		if typed != nil {
			columns[i].NativeType = typed.ColumnTypeDatabaseTypeName(i)
		}
		describe(columns[i])
	}
	return columns
}
