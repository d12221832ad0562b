package engines

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// refusals are the functions whose text the caller gets, by the place of that text among the arguments.
var refusals = map[string]int{
	"invalid": 0, "failf": 1, "oneViolation": 1, "add": 1, "Errorf": 0, "New": 0, "refuse": 1, "badSimple": 0, "mismatch": 1, "badMetadata": 1,
	"fail": 0,
}

// Every refusal in the source of the tools, of the lookups and of MCP has a row, or a reason why no caller can cause it.
func TestMessagesAreComplete(t *testing.T) {
	var told strings.Builder
	for _, row := range slices.Concat(messagesOfReading, messagesOfMoments, messagesOfAsking, messagesOfComputing, messagesOfWriting, messagesOfDeleting, messagesOfActions, messagesOfUndoing,
		messagesOfSteps, messagesOfKeys, messagesOfUnusableKeys, messagesOfPostgreSQL) {
		told.WriteString(row.want + "\n")
	}
	for _, row := range messagesOverHTTP {
		told.WriteString(row.want + "\n")
	}
	used := map[string]bool{}
	for _, folder := range []string{"tools", "lookup", "mcp"} {
		for _, format := range formatsIn(t, filepath.Join("../../server", folder)) {
			if _, ok := elsewhere[format]; ok {
				used[format] = true
			} else if !pattern(format).MatchString(told.String()) {
				t.Errorf("server/%s: no row has %q", folder, format)
			}
		}
	}
	for format := range elsewhere {
		if !used[format] {
			t.Errorf("the source has no refusal %q", format)
		}
	}
}

var verb = regexp.MustCompile(`%(?:%|[sdqvw])`)

// pattern matches the texts that a format makes.
func pattern(format string) *regexp.Regexp {
	constants := verb.Split(format, -1)
	for i, constant := range constants {
		constants[i] = regexp.QuoteMeta(constant)
	}
	return regexp.MustCompile(strings.Join(constants, ".*"))
}

// formatsIn are the texts that the refusals of a folder and its folders begin with, but for formats that consist of verbs.
func formatsIn(t *testing.T, folder string) []string {
	t.Helper()
	var formats []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if format := refusal(n); strings.Trim(verb.ReplaceAllString(format, ""), " :;,") != "" {
				formats = append(formats, format)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return formats
}

// refusal is the text of a call that refuses, "" of anything else. Texts follow an error's id or code, so that the first
// one at or after the place is it.
func refusal(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	var name string
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	from, ok := refusals[name]
	if !ok { // as another package calls it
		from, ok = refusals[strings.ToLower(name[:min(1, len(name))])+name[min(1, len(name)):]]
	}
	if !ok || from >= len(call.Args) {
		return ""
	}
	for _, argument := range call.Args[from:] {
		if text, ok := argument.(*ast.BasicLit); ok && text.Kind == token.STRING {
			format, _ := strconv.Unquote(text.Value)
			return format
		}
	}
	return ""
}

// Why these calls cause no such refusal.
const (
	ownTest         = "TestComputedValuesKeepToRights tells it"
	neverTold       = "no caller is told it"
	checkedBefore   = "it is checked before"
	administrators  = "it is told of what an administrator declares"
	notReady        = "the server or the database is not ready, or has too much to do"
	meanwhile       = "another transaction comes between"
	otherSchema     = "it takes a schema, or an exposure, that these tables do not have"
	ofOtherTests    = "test/work causes it"
	ofExports       = "exportRights and exportLinks cause it"
	ofSearches      = "TestSearchByIndex causes it"
	ofVectors       = "TestSimilarRows causes it"
	ofRequiredLines = "requiredLines causes it"
	ofElicitation   = "the tests of questions in server/mcp cause it"
	ofTasks         = "the tests of tasks in server/mcp cause it"
	ofStandbys      = "test/faults has a standby that does not confirm"
	ofShards        = "TestAKeyThatShardsKeepForThemselves causes it"
	ofApprovals     = "the tests of approvals in server/tools cause it"
)

// elsewhere are the refusals that these calls do not cause, and why.
var elsewhere = map[string]string{
	"no standby of the database confirmed that this call was to be made, so it was not made, and nothing was changed; try again in a few seconds": ofStandbys,
	"the rows are to be seen as they were":                                                   neverTold,
	"a row cannot be added here: nobody may set %s of %s, which would lead to the other row": ofShards,
	"Mcp-Name must be the body's params.taskId":                                              ofTasks,
	"taskId is required and must be a string":                                                ofTasks,
	"inputResponses is required and must be an object":                                       ofTasks,
	"This server knows no task of yours with this id; make the call itself again with the same arguments: it tells what became of it":                                                                        ofTasks,
	"the question whether to do this was closed without an answer: nothing was changed; make the call again only if your user wants it":                                                                      ofElicitation,
	"your user was asked whether to do this, and said no: nothing was changed; do not try to reach the same in another way":                                                                                  ofElicitation,
	"requestState is older than 10 minutes: make the call again without requestState and inputResponses, and you are asked anew":                                                                             ofElicitation,
	"requestState is not one that this endpoint gave you for this call: send it back unchanged, with the same tool and arguments, or make the call again without requestState and inputResponses":            ofElicitation,
	"this call needs an approval, and the endpoint's table of idempotency keys, by which what is allowed happens once, cannot be used; the endpoint's status says why, and nothing was changed":              ofApprovals,
	"this call was allowed once, as %s, and was done: nothing was changed now. If it is to be done again, call with an %s that you have not used":                                                            ofApprovals,
	"this call needs an approval, and too many calls wait for one already (%d of yours, %d of all): nothing was changed. Withdraw some of yours with the tool approvals, or ask again when some are decided": ofApprovals,
	"wait must be a number of seconds from 0 to %d":                                                                                             ofApprovals,
	"withdraw goes with approval, which names the one to withdraw":                                                                              ofApprovals,
	"this server knows no approval %q of yours; make the call itself again with the same arguments: it tells what became of it":                 ofApprovals,
	"%s waits no more, so that it cannot be withdrawn":                                                                                          ofApprovals,
	"this server knows no approval %q of yours that waits":                                                                                      ofApprovals,
	"the audit line about this call cannot be written, and this endpoint answers no call without one; try again later, or tell whoever runs it": ofRequiredLines,
	"the steps were done and stay (call %s), but their answer is not shown: the audit line about what a step read cannot be written, and this endpoint answers no call without one; do not send them again": ofRequiredLines,
	"fill: the dates are from %s to %s, and only the years 1000 to 9999 are filled; filter them":                                                                                                            ownTest,
	`%s: %s: aggregate is not offered for %s, so only a count of its rows can be asked for`:                                                                                                                 ownTest,
	"cursor: similar rows, and rows of a search without order_by, have an order without cursors; go on with offset":                                                                                         ofSearches,
	"search: or stands between words or phrases that are looked for, and not beside -%s; send -a -b for rows without either":                                                                                ofSearches,
	"order_by: similar_to is the order; send one of the two":                                                                                                                                                ofVectors,
	"similar_to must be {\"id\": id} of a row, or {\"vector\": [numbers]}, perhaps with \"field\": name, not %s":                                                                                            ofVectors,
	"similar_to: say which vectors are meant, with field: %s":                                                                                                                                               ofVectors,
	"similar_to: field must be one of %s, not %s":                                                                                                                                                           ofVectors,
	"similar_to: the row has no vector in %s; name another row, or send a vector":                                                                                                                           ofVectors,
	"similar_to: vector must be %d numbers, as those of %s are, not %s":                                                                                                                                     ofVectors,
	"similar_to: the numbers of a vector must be from -%d to %[1]d":                                                                                                                                         ofVectors,
	"the token may have the file":                                                                            checkedBefore,
	"this is a trial, and asks no database":                                                                  checkedBefore,
	"a segment names no other segment; write its conditions here":                                            administrators,
	"%s: %s is of the groups of a call, so it cannot be declared":                                            administrators,
	"%s: %s is of other declared measures, and %q is none; %s":                                               administrators,
	"%s: it depends on itself by %s":                                                                         administrators,
	`%s: %s does not take an expression of type %s`:                                                          checkedBefore,
	"report: %s has no report %q; you may run %s":                                                            ofOtherTests,
	"%s of %s %s cannot be undone: %s; nothing was undone":                                                   ofOtherTests,
	"%s of %s %s cannot be undone: you may not view it; nothing was undone":                                  ofOtherTests,
	"%s of %s %s cannot be undone: other rows depend on it%s; nothing was undone":                            ofOtherTests,
	"these are more than %d changes, or too large ones; take fewer back at once, with call or a later since": ofOtherTests,
	"nothing can be undone: %s":                                                                              otherSchema,
	"this call was made before, and your call %s has taken it back since, or a part of it; nothing was changed: take a new %s to make it again":                   ofOtherTests,
	"%s would be stored as a text: a value of an earlier step is named by %s, without quotes around it; if the text itself is meant, send {\"%s\": %[1]s}":        ofOtherTests,
	"a literal is {\"%s\": value}, and has no other members, not %s":                                                                                              ofOtherTests,
	"%s: the call is too long for a link (a URL of %d bytes, at most %d): send fewer fields or values of filters, or export a report":                             ofExports,
	"%s is not for steps: a link cannot be undone; call %s by itself":                                                                                             ofExports,
	"%s and format do not go together: leave format out, as %s is the format of the file":                                                                         ofExports,
	"%s and max_bytes do not go together: leave max_bytes out, as a file is never cut off":                                                                        ofExports,
	"%s and cursor do not go together: leave cursor out for all rows, or send offset":                                                                             ofExports,
	"%s: nothing can be exported here: %s":                                                                                                                        ofExports,
	"%s: there are more rows than one export has (%d, the endpoint's maxExportRows): narrow the filters, or export them in parts with limit, offset and order_by": ofExports,
	"Permission denied: cannot export %s, of which the rows show something; leave it out of fields, group_by and measures":                                        ofExports,
	"HTTP/1.1 or later is needed: an older client could not tell a part of the file from all of it":                                                               ofExports,
	"The export could not be made, and its link may be used up. Ask for another":                                                                                  notReady,
	"the link was used before":           neverTold,
	"the reader of the export went away": neverTold,
	"since: %s":                          checkedBefore,
	"an item failed":                     neverTold,
	"the key was used before":            neverTold,
	"other calls with this %s got in the way each time, and nothing was changed; try again": meanwhile,
	"the row of the %s went away; nothing was changed":                                      otherSchema,
	"dry run":               neverTold,
	"Internal server error": neverTold,
	"several rows of %s have this id: the key that its exposure declares does not identify a row, and trying again will not help; read the rows by filters, and tell whoever administers the endpoint": "TestAKeyThatSeveralRowsHaveNamesNone",
	"several rows of %s have this id; nothing was changed":                                                           neverTold,
	"the audit table has no column %s":                                                                               neverTold,
	"arguments must be a JSON object":                                                                                checkedBefore,
	"must be valid JSON":                                                                                             checkedBefore,
	"must not contain half of a surrogate pair (\\ud800 to \\udfff alone)":                                           checkedBefore,
	"%s has no fields that search looks in; use filters":                                                             checkedBefore,
	"inlines: %s has no key, so that no rows can belong to one of its rows; leave inlines out":                       checkedBefore,
	"lookup %s is not offered for a field of type %s; its lookups are %s":                                            administrators,
	"%s is unavailable: the database has not answered yet; try again in a few seconds":                               notReady,
	"Too many requests at once":                                                                                      notReady,
	"The endpoint has no configuration yet":                                                                          notReady,
	"Some of the endpoint's tokens are not known at the moment":                                                      notReady,
	"%s was changed meanwhile, and nothing was deleted; read it and try again":                                       meanwhile,
	"is given twice: %s is the same field; send one of them":                                                         otherSchema,
	"%s is a relation to %s, which has no field to filter by":                                                        otherSchema,
	"the paths of one call may lead to at most %d related rows; ask for some of them in another call":                otherSchema,
	"a value that you cannot see does not fit its column":                                                            otherSchema,
	"filters: a value is not of its field's type, or out of its range":                                               otherSchema,
	"the database shows this %s to the endpoint's user, but its row-level security does not let that user change it": otherSchema,
	"nothing was added: the database does not tell the id of a row of %s; give %s in data":                           otherSchema,
	"must not be digits alone: the column's type %s would store another number":                                      otherSchema,
}
