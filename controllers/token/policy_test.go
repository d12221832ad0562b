package token_test

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token"
)

func TestDecide(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later := now.Add(time.Hour)
	text := contract.NewToken()
	hash := contract.HashToken(text)
	for name, row := range map[string]struct {
		situation token.Situation
		action    token.Action
		reissued  bool
		lookAgain time.Time
	}{
		"never issued":                        {token.Situation{Active: true}, token.Issue, false, time.Time{}},
		"never issued, with an expiry":        {token.Situation{Active: true, Expiry: &later}, token.Issue, false, later},
		"issued before, and gone":             {token.Situation{Active: true, Issued: true}, token.Issue, true, time.Time{}},
		"as issued":                           {token.Situation{Active: true, Exists: true, Text: text, Hash: hash}, token.Keep, false, time.Time{}},
		"emptied":                             {token.Situation{Active: true, Exists: true, Hash: hash}, token.Issue, true, time.Time{}},
		"edited":                              {token.Situation{Active: true, Exists: true, Text: contract.NewToken(), Hash: hash}, token.Issue, true, time.Time{}},
		"without its hash":                    {token.Situation{Active: true, Exists: true, Text: text}, token.Issue, true, time.Time{}},
		"with a weak text and its hash":       {token.Situation{Active: true, Exists: true, Text: "x", Hash: contract.HashToken("x")}, token.Issue, true, time.Time{}},
		"inactive and never issued":           {token.Situation{}, token.Nothing, false, time.Time{}},
		"inactive and emptied":                {token.Situation{Exists: true}, token.Nothing, false, time.Time{}},
		"expired this moment, never issued":   {token.Situation{Active: true, Expiry: &now}, token.Nothing, false, time.Time{}},
		"paused and never issued":             {token.Situation{Active: true, Paused: true}, token.Nothing, false, time.Time{}},
		"paused and emptied":                  {token.Situation{Active: true, Paused: true, Exists: true, Issued: true}, token.Nothing, false, time.Time{}},
		"about to expire, and as it was made": {token.Situation{Active: true, Expiry: &later, Exists: true, Text: text, Hash: hash}, token.Keep, false, later},
	} {
		t.Run(name, func(t *testing.T) {
			row.situation.Now = now
			got := token.Decide(row.situation)
			if got.Action != row.action || got.Reissued != row.reissued || !got.LookAgain.Equal(row.lookAgain) || got.Why == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}
