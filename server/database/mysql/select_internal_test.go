package mysql

import (
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// MySQL 9.7 answers SELECT /*+ MAX_EXECUTION_TIME(3) */ count(*) FROM big with 1317, and the same with a condition with 3024.
func TestACountOutOfBudgetIsTold(t *testing.T) {
	for number, out := range map[uint16]bool{errInterrupted: true, errQueryTimeout: true, errStatementTimeout: true, errLockWaitTimeout: false, errNoSuchTable: false} {
		if got := outOfBudget(&mysql.MySQLError{Number: number}); got != out {
			t.Errorf("error %d is out of budget: %v", number, got)
		}
	}
	if outOfBudget(nil) || outOfBudget(errors.New("broken pipe")) {
		t.Error("what is no answer of the server is out of budget")
	}
}
