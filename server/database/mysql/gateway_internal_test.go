package mysql

import (
	"testing"

	"github.com/go-sql-driver/mysql"
)

// The gateway's words hold the statement and its values, which no error may tell.
func TestAGatewaysWordsAreLeftOut(t *testing.T) {
	for message, want := range map[string]string{
		`target: shop.-80.primary: vttablet: rpc error: code = AlreadyExists desc = Duplicate entry 'a (errno 1)' for key 'book.isbn' (errno 1062) (sqlstate 23000) (CallerID: x): Sql: "insert …", BindVars: {v1: "secret"}`: `Duplicate entry 'a (errno 1)' for key 'book.isbn'`,
		`vttablet: rpc error: code = Unknown desc = no (errno 1644) (sqlstate 45000) (CallerID: x): Sql: "insert …"`:                                                                                                          `no`,
		`target: shop.80-.primary: vttablet: rpc error: code = FailedPrecondition desc = VT10002: two-pc is enabled, but semi-sync is not (CallerID: x): Sql: "prepare", BindVars: {v1: "secret"}`:                            "VT10002",
		`target: shop.80-.primary: vttablet: rpc error: code = Internal desc = secret VT10002: x (CallerID: x)`:                                                                                                               "",
		"Duplicate entry 'x' for key 'PRIMARY'": "Duplicate entry 'x' for key 'PRIMARY'",
	} {
		answer := &mysql.MySQLError{Message: message}
		if unwrap(answer); answer.Message != want {
			t.Errorf("%s is left of %s", answer.Message, message)
		}
	}
}

// A gateway that cuts a statement into parts that do not fit is not to be taken for a table that has changed.
func TestWhatAGatewayDoesNotTakeIsToldFromAChange(t *testing.T) {
	for message, want := range map[string]uint16{
		`target: s.80-.primary: vttablet: rpc error: code = NotFound desc = Unknown column 't1.m0' in 'field list' (errno 1054) (sqlstate 42S22) (CallerID: x)`:   errNotSupported,
		`target: s.80-.primary: vttablet: rpc error: code = NotFound desc = Unknown column 't0.name' in 'field list' (errno 1054) (sqlstate 42S22) (CallerID: x)`: errBadField,
		`target: s.80-.primary: vttablet: rpc error: code = InvalidArgument desc = syntax error at position 9 near 'order' (CallerID: x)`:                         errNotSupported,
		`target: s.80-.primary: vttablet: rpc error: code = Aborted desc = Row count exceeded 10000 (CallerID: x)`:                                                errTooBigSelect,
	} {
		answer := &mysql.MySQLError{Number: errBadField, Message: message}
		if unwrap(answer); answer.Number != want {
			t.Errorf("%d, want %d: %s", answer.Number, want, message)
		}
	}
}
