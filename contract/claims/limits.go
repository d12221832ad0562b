package claims

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
)

// unbounded are functions whose one call can cost more than the limit of cost allows, because CEL counts a call's cost when
// it is done: a text that replaces each character of another, say, or a regular expression of many thousand states.
var unbounded = map[string]string{
	"matches": "compare with startsWith, endsWith and contains",
	"replace": "cut with substring",
	"join":    "put texts together with +",
	"format":  "put texts together with +",
}

// functionValidator refuses the functions that are unbounded.
type functionValidator struct{}

// Name implements cel.ASTValidator.
func (functionValidator) Name() string { return "mcpadmin.dev/functions" }

// Validate implements cel.ASTValidator.
func (functionValidator) Validate(_ *cel.Env, _ cel.ValidatorConfig, tree *ast.AST, issues *cel.Issues) {
	for _, call := range ast.MatchDescendants(ast.NavigateAST(tree), ast.KindMatcher(ast.CallKind)) {
		name := call.AsCall().FunctionName()
		if instead, found := unbounded[name]; found {
			issues.ReportErrorAtID(call.ID(), "%s is not available; %s", name, instead)
		}
	}
}

// maxMessage is in characters.
const maxMessage = 200

// firstProblem is the first thing that is wrong with an expression, without what only the compiler's own developers understand.
func firstProblem(problems []*common.Error) error {
	if len(problems) == 0 {
		return errors.New("the expression cannot be compiled")
	}
	first := slices.MinFunc(problems, func(a, b *common.Error) int {
		return cmp.Or(cmp.Compare(a.Location.Line(), b.Location.Line()), cmp.Compare(a.Location.Column(), b.Location.Column()))
	})
	message := first.Message
	if message == "comprehension exceeds nesting limit" {
		message = fmt.Sprintf("at most %d of all, exists, filter and map may follow or contain each other", maxNested)
	}
	for _, detail := range []string{" expecting ", " (in container", "\n"} {
		message, _, _ = strings.Cut(message, detail)
	}
	if characters := []rune(message); len(characters) > maxMessage {
		message = string(characters[:maxMessage]) + "…"
	}
	switch line, column := first.Location.Line(), first.Location.Column()+1; {
	case line < 1 || column < 1:
		return errors.New(message)
	case line == 1:
		return fmt.Errorf("column %d: %s", column, message)
	default:
		return fmt.Errorf("line %d, column %d: %s", line, column, message)
	}
}
