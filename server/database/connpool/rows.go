package connpool

import (
	"database/sql/driver"
	"errors"
	"io"
)

// EachRow calls row for each row of a result until it returns false, and closes the result. The values are valid until
// the next row only. The caller keeps memory from one result to the next, so that it is allocated once.
func EachRow(rows driver.Rows, memory *[]driver.Value, row func([]driver.Value) bool) (err error) {
	defer func() {
		if closeErr := rows.Close(); err == nil {
			err = closeErr
		}
	}()
	width := len(rows.Columns())
	if cap(*memory) < width {
		*memory = make([]driver.Value, width)
	}
	values := (*memory)[:width]
	defer clear(values)
	for {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if !row(values) {
			return nil
		}
	}
}
