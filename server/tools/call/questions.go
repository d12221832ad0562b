package call

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// A question of an exposure is a call that its prompts show. Who may not make the call does not see the question: the call is judged and
// planned as if the token had sent it, and ends where it would ask the database.

// errNotAsked is what a trial gets instead of an answer of the database.
var errNotAsked = errors.New("this is a trial, and asks no database")

// noDatabase is the store of a trial.
type noDatabase struct{}

func (noDatabase) Select(_ context.Context, _ *database.Select, out []byte) ([]byte, database.Page, error) {
	return out, database.Page{}, errNotAsked
}

func (noDatabase) Transact(context.Context, time.Duration, func(database.Tx) error) error {
	return errNotAsked
}

func (noDatabase) Report(_ context.Context, _ *database.Report, out []byte) ([]byte, database.Reported, error) {
	return out, database.Reported{}, errNotAsked
}

// describing is the operation that describes a model, which asks for the questions itself.
const describing = "describe"

// Questions are the questions of the call's model that its token may ask.
func (c *Call) Questions() []contract.Question {
	var may []contract.Question
	for _, q := range c.Scope.Model().Declared.Questions {
		if c.TryQuestion(&q) == nil {
			may = append(may, q)
		}
	}
	return may
}

// TryQuestion says why the call's token cannot ask a question of the call's model; nil if it can. No database is asked.
func (c *Call) TryQuestion(q *contract.Question) error {
	trial := c.asking(q)
	trial.DB, trial.Stale, trial.Reports = noDatabase{}, noDatabase{}, noDatabase{}
	err := trial.Prepare(q.Arguments)
	if err == nil && q.Tool != describing {
		_, err = trial.Op.Run(trial)
	}
	if errors.Is(err, errNotAsked) {
		return nil
	}
	return err
}

// AskQuestion makes the call of a question, and says why it fails.
func (c *Call) AskQuestion(q *contract.Question) error {
	_, err := c.asking(q).Run(q.Arguments)
	return err
}

// asking is the call of a question, by the same token.
func (c *Call) asking(q *contract.Question) *Call {
	asking := *c
	asking.Request = Request{Ctx: c.Ctx, Token: c.Token, Op: FindOperation(q.Tool), Catalog: c.Catalog, Settings: c.Settings, Now: c.Now,
		Recorded: new(bool), Model: c.Scope.Model().Name}
	asking.room = nil
	return &asking
}
