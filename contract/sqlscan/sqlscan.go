// Package sqlscan reads the statements of declared actions: it cuts them at their parameters. Of an sql action it refuses
// what is not exactly one statement that changes rows (docs/design/actions.md, "SQL statements"), of a report what is not
// exactly one query (docs/design/actions.md, "Reports").
//
// The statement goes to an engine that this package is not told of, and engines read strings, comments and quotes in
// ways of their own. So whatever two of them would read differently is refused, and comments are taken out: what is left
// means the same to all of them, or is an error.
//
// The API's validation and the server's catalog import it, so that both refuse the same.
package sqlscan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
)

// Piece is a piece of a statement: SQL as it was written, or the name of a parameter that stood there as :name.
type Piece struct {
	SQL       string
	Parameter string
}

// IDs is the parameter that stands for the keys of the selected rows.
const IDs = "ids"

// Scan cuts a statement at its parameters. parameters are the declared names; :ids is always one, and must be there. An
// error says what is wrong and what would do.
func Scan(statement string, parameters []string) ([]Piece, error) {
	return scan(statement, parameters, true)
}

// ScanAll is Scan of several statements that run one after the other. The first must contain :ids, the others may. at is
// the index of the token that the error is about.
func ScanAll(statements, parameters []string) (all [][]Piece, at int, err error) {
	for i, statement := range statements {
		pieces, err := scan(statement, parameters, i == 0)
		if err != nil {
			return nil, i, err
		}
		all = append(all, pieces)
	}
	return all, 0, nil
}

func scan(statement string, parameters []string, needsIDs bool) ([]Piece, error) {
	tokens, err := statementTokens(statement)
	if err != nil {
		return nil, err
	}
	if err := changesRows(tokens); err != nil {
		return nil, err
	}
	if err := checkParameters(tokens, parameters, needsIDs); err != nil {
		return nil, err
	}
	return cut(tokens), nil
}

// statementTokens are the tokens of a text that is one statement.
func statementTokens(statement string) ([]token, error) {
	tokens, err := lex(statement)
	if err != nil {
		return nil, err
	}
	if tokens, err = single(tokens); err != nil {
		return nil, err
	}
	return tokens, balanced(tokens)
}

// single takes a last semicolon away, and refuses a second statement.
func single(tokens []token) ([]token, error) {
	for i, t := range tokens {
		if t.kind != symbol || t.text != ";" {
			continue
		}
		if slices.ContainsFunc(tokens[i+1:], func(t token) bool { return t.kind != space }) {
			return nil, errors.New("must be one statement: something follows the ;")
		}
		return tokens[:i], nil
	}
	return tokens, nil
}

// closing has the closing brackets by their opening ones.
var closing = map[string]string{"(": ")", "[": "]"}

// balanced refuses brackets without their counterparts. Within [ ] nothing quoted may hold a ]: to SQLite what stands
// there is a quoted name, which ends at the first one.
func balanced(tokens []token) error {
	var open []string
	for _, t := range tokens {
		if (t.kind == text || t.kind == name) && strings.Contains(t.text, "]") && slices.Contains(open, "]") {
			return fmt.Errorf("%s: no ] may be quoted between [ and ]; use a parameter", t.text)
		}
		if t.kind != symbol {
			continue
		}
		switch t.text {
		case "(", "[":
			open = append(open, closing[t.text])
		case ")", "]":
			if len(open) == 0 || open[len(open)-1] != t.text {
				return fmt.Errorf("has a %s too many", t.text)
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("lacks a %s", open[len(open)-1])
	}
	return nil
}

// whatWouldDo ends the messages about statements of another kind.
const whatWouldDo = "must be one UPDATE, DELETE or INSERT … SELECT; a WITH may stand before it"

// changesRows refuses what is no UPDATE, DELETE or INSERT … SELECT.
func changesRows(tokens []token) error {
	tokens = slices.DeleteFunc(slices.Clone(tokens), func(t token) bool { return t.kind == space })
	if len(tokens) == 0 {
		return errors.New("is empty; it " + whatWouldDo)
	}
	verb := 0
	if tokens[0].is("WITH") {
		if verb = mainVerb(tokens); verb == 0 {
			return errors.New("has a WITH that no statement follows; it " + whatWouldDo)
		}
	}
	switch {
	case !isChange(tokens[verb]):
		return fmt.Errorf("begins with %s; it %s", shown(tokens[verb]), whatWouldDo)
	case verb+1 < len(tokens) && tokens[verb+1].is("OR"):
		return fmt.Errorf("must not say %s OR …; PostgreSQL and SQLite have ON CONFLICT", shown(tokens[verb]))
	case tokens[verb].is("INSERT") && !slices.ContainsFunc(tokens, func(t token) bool { return t.is("SELECT") }):
		return errors.New("inserts no selection; write INSERT … SELECT … WHERE … IN (:ids)")
	}
	for i, t := range tokens {
		switch {
		case i > 0 && i != verb && i+1 < len(tokens) && isNested(tokens[i-1], t, tokens[i+1]):
			return fmt.Errorf("changes rows twice: there is %s within brackets; it %s", shown(t), whatWouldDo)
		case t.is("OUTFILE"), t.is("DUMPFILE"):
			return fmt.Errorf("must not write files: it says %s", shown(t))
		}
	}
	return nil
}

// mainVerb is where the statement behind a WITH begins: at the word that follows the bracket of the last of its queries.
// It is 0 if there is none.
func mainVerb(tokens []token) int {
	depth := 0
	for i, t := range tokens {
		if t.kind != symbol {
			if depth == 0 && i > 0 && tokens[i-1].text == ")" && tokens[i-1].kind == symbol && !t.is("AS") {
				return i
			}
			continue
		}
		switch t.text {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		}
	}
	return 0
}

func isChange(t token) bool { return t.is("UPDATE") || t.is("DELETE") || t.is("INSERT") }

// isNested reports whether a token begins a statement of its own that changes rows: it follows the bracket that opens a
// query, or the bracket that closes the query's own WITH. All of these words may be names, too: what follows tells.
func isNested(before, t, next token) bool {
	if before.kind != symbol || before.text != "(" && before.text != ")" || next.kind == symbol && next.text != "[" {
		return false
	}
	return isChange(t) || t.is("MERGE") || t.is("REPLACE")
}

// checkParameters refuses what is not declared, and ids that are needed and not there, or that do not stand where a list
// may.
func checkParameters(tokens []token, declared []string, needsIDs bool) error {
	tokens = slices.DeleteFunc(slices.Clone(tokens), func(t token) bool { return t.kind == space })
	found := false
	for i, t := range tokens {
		if t.kind != parameter {
			continue
		}
		if t.text != IDs {
			if !slices.Contains(declared, t.text) {
				return fmt.Errorf("names :%s, which is not a parameter; the parameters are %s", t.text, listed(declared))
			}
			continue
		}
		found = true
		if !isAlone(tokens, i) {
			return errors.New("must have :ids alone between brackets, as in WHERE id IN (:ids): it stands for one id or several")
		}
	}
	if needsIDs && !found {
		return errors.New("must contain :ids, the selected rows, as in WHERE id IN (:ids)")
	}
	return nil
}

// isAlone reports whether a token stands alone between brackets, where a list may.
func isAlone(tokens []token, i int) bool {
	return i > 0 && i+1 < len(tokens) && tokens[i-1].kind == symbol && closing[tokens[i-1].text] != "" && tokens[i+1].text == closing[tokens[i-1].text]
}

// listed lists the parameters that there are.
func listed(declared []string) string {
	all := []string{":" + IDs}
	for _, name := range declared {
		all = append(all, ":"+name)
	}
	return strings.Join(all, ", ")
}

// cut joins what stands between the parameters.
func cut(tokens []token) []Piece {
	var pieces []Piece
	var sql strings.Builder
	flush := func() {
		if sql.Len() > 0 {
			pieces = append(pieces, Piece{SQL: sql.String()})
			sql.Reset()
		}
	}
	for _, t := range tokens {
		if t.kind == parameter {
			flush()
			pieces = append(pieces, Piece{Parameter: t.text})
			continue
		}
		sql.WriteString(t.text)
	}
	flush()
	return pieces
}

// shown is a token as messages show it.
func shown(t token) string {
	return excerpt.Of(t.text, 40)
}
