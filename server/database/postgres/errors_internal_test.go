package postgres

import (
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestWhatPoolersSay(t *testing.T) {
	for message, says := range map[string]string{
		"transaction blocks not allowed in statement pooling mode": "pool_mode = statement",
		"server login has been failing":                            "broke off",
	} {
		e := Open(database.Settings{}).(*db).statementError(t.Context(), &pgconn.PgError{Severity: "FATAL", Code: "08P01", Message: message})
		if e.Code != database.Unreachable || !strings.Contains(e.Message, says) {
			t.Errorf("%s: got %v", message, e)
		}
	}
}

func TestAServerThatDoesNotKnowHowItEndedHasNotAnswered(t *testing.T) {
	for code, want := range map[string]bool{"40001": true, "40003": false} {
		if got := answered(&pgconn.PgError{SeverityUnlocalized: "ERROR", Code: code}); got != want {
			t.Errorf("%s: got %v", code, got)
		}
	}
}
