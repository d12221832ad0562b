package sqlscan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The parameters of a query that stand for its caller.
const (
	// Token is the caller's name.
	Token = "token"
	// Groups are the token's groups: a list.
	Groups = "groups"
	// AttributePrefix begins the name of a parameter that is one of the token's attributes.
	AttributePrefix = "attribute_"
)

// IsCaller reports whether a parameter of a query stands for the caller, and is no declared one.
func IsCaller(name string) bool {
	return name == Token || name == Groups || strings.HasPrefix(name, AttributePrefix)
}

// whatMayAsk ends the messages about statements that are no query.
const whatMayAsk = "must be one SELECT; a WITH may stand before it"

// ScanQuery cuts the query of a report at its parameters: the declared ones, and the ones that hold the caller. An error
// says what is wrong and what would do.
func ScanQuery(statement string, parameters []string) ([]Piece, error) {
	tokens, err := statementTokens(statement)
	if err != nil {
		return nil, err
	}
	words := slices.DeleteFunc(slices.Clone(tokens), func(t token) bool { return t.kind == space })
	if err := onlyReads(words); err != nil {
		return nil, err
	}
	for i, t := range words {
		switch {
		case t.kind != parameter, slices.Contains(parameters, t.text), IsCaller(t.text) && t.text != Groups:
		case t.text != Groups:
			return nil, fmt.Errorf("names :%s, which is not a parameter; the parameters are %s", t.text, queryParameters(parameters))
		case !isAlone(words, i):
			return nil, errors.New("must have :groups alone between brackets, as in WHERE team IN (:groups): it stands for any number of groups")
		}
	}
	return cut(tokens), nil
}

// onlyReads refuses what is no SELECT, and one that writes or locks: the transaction only reads, but engines differ in what
// they let such a transaction do.
func onlyReads(tokens []token) error {
	if len(tokens) == 0 {
		return errors.New("is empty; it " + whatMayAsk)
	}
	verb := 0
	if tokens[0].is("WITH") {
		if verb = mainVerb(tokens); verb == 0 {
			return errors.New("has a WITH that no statement follows; it " + whatMayAsk)
		}
	}
	if !tokens[verb].is("SELECT") {
		return fmt.Errorf("begins with %s; it %s", shown(tokens[verb]), whatMayAsk)
	}
	for i, t := range tokens {
		last := i+1 == len(tokens)
		switch {
		case t.is("INTO"), t.is("OUTFILE"), t.is("DUMPFILE"):
			return fmt.Errorf("must not store what it selects: it says %s", shown(t))
		case t.is("FOR") && !last && slices.ContainsFunc([]string{"UPDATE", "SHARE", "NO", "KEY"}, tokens[i+1].is), t.is("LOCK") && !last && tokens[i+1].is("IN"):
			return fmt.Errorf("must not lock rows: it says %s %s", shown(t), shown(tokens[i+1]))
		case i > 0 && !last && isNested(tokens[i-1], t, tokens[i+1]):
			return fmt.Errorf("changes rows: there is %s within brackets; it %s", shown(t), whatMayAsk)
		}
	}
	return nil
}

// queryParameters lists the parameters that a query may name.
func queryParameters(declared []string) string {
	all := []string{":" + Token, ":" + Groups, ":" + AttributePrefix + "…"}
	for _, name := range declared {
		all = append(all, ":"+name)
	}
	return strings.Join(all, ", ")
}
