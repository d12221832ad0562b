package tools

import (
	"context"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/action"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// about is a call that describes a scope's model, for what a description shows.
func (set *Set) about(ctx context.Context, scope access.Scope) *call.Call {
	c := set.newCall(ctx, scope.Token(), call.FindOperation("describe"))
	c.Scope, c.Model = scope, scope.Model().Name
	return c
}

// WrongQuestions says which questions of a model's exposure nobody can ask. The scope's token may view all models.
func (set *Set) WrongQuestions(scope access.Scope) (notes []string) {
	c := set.about(context.Background(), scope)
	for i, q := range scope.Model().Declared.Questions {
		if err := c.TryQuestion(&q); err != nil {
			notes = append(notes, fmt.Sprintf("spec.questions[%d] is not shown, as its call of %s is refused: %s.", i, q.Tool, err))
		}
	}
	return notes
}

// AskQuestion makes the call of a question of the scope's model; false if WrongQuestions says already that it cannot be made.
func (set *Set) AskQuestion(ctx context.Context, scope access.Scope, q *contract.Question) (call.Result, bool) {
	c := set.about(ctx, scope)
	if c.TryQuestion(q) != nil {
		return call.Result{}, false
	}
	return call.ResultOf(nil, c.AskQuestion(q)), true
}

// TryReport has the database say whether it takes the query of a report of the scope's model.
func (set *Set) TryReport(ctx context.Context, scope access.Scope, report *catalog.Report) error {
	return action.TryReport(set.about(ctx, scope), report)
}

// questions shows what people ask of a model, as far as the token may.
func (t *promptText) questions(set *Set, scope access.Scope) {
	asked := set.about(context.Background(), scope).Questions()
	if len(asked) == 0 {
		return
	}
	t.line("What people ask, with the calls that answer it:")
	for _, q := range asked {
		arguments := "{}"
		if len(q.Arguments) > 0 {
			arguments = string(q.Arguments)
		}
		t.line("- %s %s", q.Ask, t.Call(q.Tool, scope.Model(), arguments))
	}
}
