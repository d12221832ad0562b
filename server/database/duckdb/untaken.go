package duckdb

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// untaken is the error about a query that DuckDB does not take as it is written; nil if the error is another.
func untaken(err error) *database.Error {
	kind := failure(err).Error()
	if !slices.Contains([]string{"Catalog Error", "Binder Error", "Parser Error", "Syntax Error", "Permission Error", "Not implemented Error"}, kind) {
		return nil
	}
	words := wordsOf(kind, err.Error())
	fault, name := faultOf(kind, strings.TrimPrefix(words, ": "))
	return database.Untaken(fault, name, errors.New(kind+words))
}

// faults are what is wrong with a query, by what DuckDB says of a name.
var faults = []struct {
	words *regexp.Regexp
	fault database.Fault
}{
	{regexp.MustCompile(`^(?:Table|View) with name ([A-Za-z_][A-Za-z0-9_]*)|^Referenced table "([A-Za-z_][A-Za-z0-9_]*)"`), database.NoSuchTable},
	{regexp.MustCompile(`^Referenced column "([A-Za-z_][A-Za-z0-9_]*)"|^Table "[A-Za-z_][A-Za-z0-9_]*" does not have a column named "([A-Za-z_][A-Za-z0-9_]*)"`), database.NoSuchColumn},
	{regexp.MustCompile(`^[A-Za-z ]*Function with name ([A-Za-z_][A-Za-z0-9_]*)`), database.NoSuchFunction},
}

// faultOf is what is wrong with a query by what may be told of DuckDB's words.
func faultOf(kind, words string) (fault database.Fault, name string) {
	switch kind {
	case "Parser Error", "Syntax Error":
		return database.WrongSyntax, ""
	case "Permission Error":
		return database.OtherFault, words
	}
	for _, f := range faults {
		if found := f.words.FindStringSubmatch(words); found != nil {
			return f.fault, strings.Join(found[1:], "")
		}
	}
	return database.OtherFault, "DuckDB's " + kind
}

// tellings are the words of DuckDB's about a query that name nothing but what it has, and no text of its own.
var tellings = regexp.MustCompile(`^[A-Za-z ]+ with name [A-Za-z_][A-Za-z0-9_]* does not exist|^Referenced (column|table) "[A-Za-z_][A-Za-z0-9_]*" not found|^Table "[A-Za-z_][A-Za-z0-9_]*" does not have a column named "[A-Za-z_][A-Za-z0-9_]*"|^No function matches the given name and argument types '[A-Za-z_][A-Za-z0-9_]*`)

// wordsOf is what DuckDB says of a query, for the log.
func wordsOf(kind, text string) string {
	if kind == "Permission Error" {
		return ": it may open no file, and change no setting"
	}
	if told := tellings.FindString(strings.TrimPrefix(text, kind+": ")); told != "" {
		return ": " + strings.ReplaceAll(told, "'", "")
	}
	return ""
}
