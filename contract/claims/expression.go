// Package claims reads what a token says of its holder: it holds claims against what an MCPToken wants, and evaluates the
// expressions of the Common Expression Language (CEL) that make attributes and groups of them. The manager checks the
// expressions with it that the server then evaluates.
//
// The compile step and the server's package access import it. Begin with Compile.
package claims

import (
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
)

// Expression is a compiled expression. It can be evaluated by many goroutines at a time.
type Expression struct {
	program cel.Program
	gives   *cel.Type
}

// The limits of an expression, and of what it gives. docs/design/identity.md, "Expressions" says what they are for.
const (
	// maxExpression is in characters, as the API's.
	maxExpression = 1024
	// maxDepth is how deeply an expression may nest.
	maxDepth = 32
	// maxNested is how many comprehensions (filter, map, all, …) may lie within, or follow, each other.
	maxNested = 2
	// maxCost is in CEL's units of cost: some tens of milliseconds at most.
	maxCost = 100_000
	// maxText is in bytes, for a text that an expression gives.
	maxText = 1024
	// maxList is how many texts an expression may give.
	maxList = 10_000
)

// environment is made when it is first needed: it costs milliseconds, and most endpoints have no expressions.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewCustomEnv(
		cel.StdLib(),
		ext.Strings(ext.StringsVersion(5)), // the first that says what its functions cost
		cel.Variable("claims", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("subject", cel.StringType),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ParserRecursionLimit(maxDepth),
		cel.ASTValidators(cel.ValidateComprehensionNestingLimit(maxNested), functionValidator{}),
	)
})

// Compile compiles an expression over claims (a map) and subject (a text). Its error says what is wrong and where.
func Compile(expression string) (*Expression, error) {
	if n := utf8.RuneCountInString(expression); n > maxExpression {
		return nil, fmt.Errorf("the expression has %d characters; at most %d are allowed", n, maxExpression)
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, firstProblem(issues.Errors())
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost))
	if err != nil {
		return nil, errors.New("the expression cannot be evaluated")
	}
	return &Expression{program, ast.OutputType()}, nil
}

// MayBeText reports whether the expression can give a text, as far as can be told without the claims.
func (p *Expression) MayBeText() bool {
	return cel.StringType.IsAssignableType(p.gives) || isDynamic(p.gives)
}

// MayBeList reports whether the expression can give texts, as far as can be told without the claims.
func (p *Expression) MayBeList() bool {
	return p.MayBeText() || p.gives.Kind() == types.ListKind && (isDynamic(p.gives.Parameters()[0]) ||
		cel.StringType.IsAssignableType(p.gives.Parameters()[0]))
}

func isDynamic(t *cel.Type) bool { return t.Kind() == types.DynKind || t.Kind() == types.TypeParamKind }

// Text evaluates an expression that gives a text. It reports false if the expression cannot be evaluated, costs too much, or
// gives something else.
func (p *Expression) Text(claims map[string]any, subject string) (string, bool) {
	value, ok := p.evaluate(claims, subject)
	if !ok {
		return "", false
	}
	return asText(value)
}

// List evaluates an expression that gives a list of texts; a single text is a list of one. It reports false as Text does.
func (p *Expression) List(claims map[string]any, subject string) ([]string, bool) {
	value, ok := p.evaluate(claims, subject)
	if !ok {
		return nil, false
	}
	if text, ok := asText(value); ok {
		return []string{text}, true
	}
	list, ok := value.(traits.Lister)
	if !ok {
		return nil, false
	}
	return asTexts(list)
}

func (p *Expression) evaluate(claims map[string]any, subject string) (any, bool) {
	if claims == nil {
		claims = map[string]any{} // CEL has no nil maps
	}
	value, _, err := p.program.Eval(map[string]any{"claims": claims, "subject": subject})
	return value, err == nil
}

func asText(value any) (string, bool) {
	text, ok := value.(types.String)
	if !ok || len(text) > maxText {
		return "", false
	}
	return string(text), true
}

func asTexts(list traits.Lister) ([]string, bool) {
	size, ok := list.Size().(types.Int)
	if !ok || size > maxList {
		return nil, false
	}
	texts := make([]string, size)
	for i := range texts {
		if texts[i], ok = asText(list.Get(types.Int(i))); !ok {
			return nil, false
		}
	}
	return texts, true
}
