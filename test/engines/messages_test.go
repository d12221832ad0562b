package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// messageRow is a call with a mistake, and all that its caller is told: the error, and of a validation error the fields with
// what is wrong with each.
type messageRow struct {
	token, tool, arguments string
	want                   string
	// only are the engines that say it; empty is all.
	only string
}

// Every mistake is told in plain words: what was wrong, and what would do.
func TestMessages(t *testing.T) {
	for _, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			s := start(t, engine)
			for _, row := range messages {
				if row.only != "" && !strings.Contains(row.only, engine.Name) {
					continue
				}
				if got := s.told(t, row); got != row.want {
					t.Errorf("%s %s as %s:\n got %s\nwant %s", row.tool, row.arguments, row.token, got, row.want)
				}
			}
		})
	}
}

// told is what the caller is told.
func (s *suite) told(t *testing.T, row messageRow) string {
	t.Helper()
	payload, isError := s.call(t, row.token, row.tool, row.arguments)
	if !isError {
		t.Errorf("%s %s as %s is no mistake: %v", row.tool, row.arguments, row.token, payload)
		return ""
	}
	told := payload["error"].(string)
	problems, _ := payload["validation_errors"].(object)
	if problems == nil {
		return told
	}
	var all []string
	for _, each := range problems["errors"].([]any) {
		for _, message := range each.(object)["messages"].([]any) {
			all = append(all, fmt.Sprintf("%v: %v", each.(object)["field"], message))
		}
	}
	return strings.Join(all, "; ")
}

const (
	sqlite, postgres, mysql = contract.EngineSQLite, contract.EnginePostgreSQL, contract.EngineMySQL
)

var messages = []messageRow{
	{token: "root", tool: "nope_book", arguments: `{}`,
		want: `Tool 'nope_book' not found; tools/list and find_models tell which there are`},
	{token: "root", tool: "list_nope", arguments: `{}`,
		want: `Model 'nope' not found; find_models tells which there are`},
	{token: "nobody", tool: "list_book", arguments: `{}`,
		want: `Permission denied: cannot view book`},
	{token: "bookish", tool: "list_author", arguments: `{}`,
		want: `Permission denied: cannot view author`},
	{token: "root", tool: "get_jotting", arguments: `{"id":1}`,
		want: `get is not offered for jotting; its tools are list_jotting, create_jotting, describe_jotting, bulk_jotting`},
	{token: "root", tool: "create_overview", arguments: `{"data":{"title":"x"}}`,
		want: `create is not offered for overview; its tools are list_overview, get_overview, describe_overview, autocomplete_overview`},
	{token: "root", tool: "list_book", arguments: `{"nope":1}`,
		want: `unknown argument "nope"; the arguments are limit, offset, cursor, total, search, order_by, filters, fields`},
	{token: "root", tool: "describe_book", arguments: `{"nope":1}`,
		want: `unknown argument "nope"; describe_book takes no arguments`},
	{token: "root", tool: "list_book", arguments: `{"idempotency_key":"x"}`,
		want: `idempotency_key is reserved and not supported; leave it out`},
	{token: "root", tool: "list_book", arguments: `{"limit":-1}`,
		want: `limit must be an integer of at least 0, not -1`},
	{token: "root", tool: "list_book", arguments: `{"offset":1.5}`,
		want: `offset must be an integer of at least 0, not 1.5`},
	{token: "root", tool: "list_book", arguments: `{"search":5}`,
		want: `search must be a string, not 5`},
	{token: "root", tool: "list_book", arguments: `{"search":"a b c d e f g h i j k"}`,
		want: `search: at most 10 words, not 11`},
	{token: "root", tool: "list_book", arguments: `{"search":"a\u0000"}`,
		want: `search must not contain U+0000`},
	{token: "root", tool: "list_jotting", arguments: `{"cursor":"x"}`,
		want: `unknown argument "cursor"; the arguments are limit, offset, total, search, order_by, filters, fields`},
	{token: "root", tool: "list_book", arguments: `{"cursor":""}`,
		want: `cursor must not be empty: leave it out to start at the first page, or send next_cursor as it was given`},
	{token: "root", tool: "list_book", arguments: `{"cursor":"nonsense"}`,
		want: `cursor: it does not belong to this list: send next_cursor as it was given, with the same order_by, filters and search, or leave cursor out to start again`},
	{token: "root", tool: "list_book", arguments: `{"cursor":"nonsense","offset":2}`,
		want: `cursor and offset do not go together: send one of them`},
	{token: "root", tool: "list_book", arguments: `{"total":"some"}`,
		want: `total must be "exact" or "none", or left out, not "some"`},
	{token: "root", tool: "list_book", arguments: `{"order_by":"title"}`,
		want: `order_by must be an array of strings, not "title"`},
	{token: "root", tool: "list_book", arguments: `{"order_by":["nope"]}`,
		want: `order_by: cannot order by "nope"; the fields to order by are id, title, author_id, editor_id, isbn, price, pages, in_stock, published, region, notes, version`},
	{token: "root", tool: "list_book", arguments: `{"order_by":["tags"]}`,
		want: `order_by: cannot order by "tags"; the fields to order by are id, title, author_id, editor_id, isbn, price, pages, in_stock, published, region, notes, version`},
	{token: "root", tool: "list_book", arguments: `{"order_by":["card_number"]}`,
		want: `order_by: cannot order by "card_number"; the fields to order by are id, title, author_id, editor_id, isbn, price, pages, in_stock, published, region, notes, version`},
	{token: "root", tool: "list_book", arguments: `{"fields":["nope"]}`,
		want: `fields: book has no field "nope"; the fields are id, title, author_id, editor_id, isbn, price, pages, in_stock, published, tags, region, card_number, notes, version`},
	{token: "root", tool: "list_book", arguments: `{"filters":[1]}`,
		want: `filters must be an object of field name to value, not [1]`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"nope":1}}`,
		want: `filters: nope: book has no field "nope" to filter by; it has id, title, author_id, editor_id, isbn, price, pages, in_stock, published, tags, region, notes, version; its relations (as relation__field) are author, edition_by_book, editor, review_by_book; a lookup may follow after __: exact, iexact, contains, icontains, startswith, istartswith, endswith, iendswith, gt, gte, lt, lte, in, range, isnull, ne, date, year, month, day`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"title__not":"x"}}`,
		want: `filters: title__not: title has no lookup "not"; its lookups are exact, iexact, contains, icontains, startswith, istartswith, endswith, iendswith, gt, gte, lt, lte, in, range, isnull, ne`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"author":1}}`,
		want: `filters: author: author is a relation to author, and only fields have values; use author_id or author__id`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"author__isnull":true}}`,
		want: `filters: author__isnull: author is a relation to author, and only fields have values; use author_id__isnull or author__id__isnull`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"author__nope":1}}`,
		want: `filters: author__nope: author has no field "nope" to filter by; it has id, name, country_id, born, bio; its relations (as relation__field) are book_by_author, book_by_editor, country; a lookup may follow after __: exact, iexact, contains, icontains, startswith, istartswith, endswith, iendswith, gt, gte, lt, lte, in, range, isnull, ne, date, year, month, day`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"author__name__like":"x"}}`,
		want: `filters: author__name__like: name has no lookup "like"; its lookups are exact, iexact, contains, icontains, startswith, istartswith, endswith, iendswith, gt, gte, lt, lte, in, range, isnull, ne`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"review_by_book":1}}`,
		want: `filters: review_by_book: review_by_book is a relation to review, and only fields have values; use review_by_book__id`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"card_number":"42"}}`,
		want: `filters: card_number: book has no field "card_number" to filter by; it has id, title, author_id, editor_id, isbn, price, pages, in_stock, published, tags, region, notes, version; its relations (as relation__field) are author, edition_by_book, editor, review_by_book; a lookup may follow after __: exact, iexact, contains, icontains, startswith, istartswith, endswith, iendswith, gt, gte, lt, lte, in, range, isnull, ne, date, year, month, day`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"tags__gt":1}}`,
		want: `filters: tags__gt: gt is not offered for a field of type json; its lookups are isnull`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages__icontains":"1"}}`,
		want: `filters: pages__icontains: icontains is not offered for a field of type integer; its lookups are exact, gt, gte, lt, lte, in, range, isnull, ne`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages":"many"}}`,
		want: `filters: pages: must be an integer, or a string of its digits, not "many"`, only: postgres + mysql},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages":9007199254740993}}`,
		want: `filters: pages: 9007199254740993 is beyond what a JSON number keeps exactly; send it as a string`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"price":"cheap"}}`,
		want: `filters: price: must be a decimal number, best as a string, not "cheap"`, only: postgres + mysql},
	{token: "root", tool: "list_book", arguments: `{"filters":{"in_stock":"yes"}}`,
		want: `filters: in_stock: must be true or false, not "yes"`, only: postgres + mysql},
	{token: "root", tool: "list_book", arguments: `{"filters":{"title":5}}`,
		want: `filters: title: must be a string or a number, not 5`, only: sqlite},
	{token: "root", tool: "list_book", arguments: `{"filters":{"title":5}}`,
		want: `filters: title: must be a string, not 5`, only: postgres + mysql},
	{token: "root", tool: "list_book", arguments: `{"filters":{"title":"a\u0000"}}`,
		want: `filters: title: must not contain U+0000`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"published":"1974"}}`,
		want: `filters: published: must be a date, YYYY-MM-DD, not "1974"`, only: postgres + mysql},
	{token: "root", tool: "list_book", arguments: `{"filters":{"published__year":"x"}}`,
		want: `filters: published__year: must be an integer, not "x"`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages__in":5}}`,
		want: `filters: pages__in: must be an array of values, not 5`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages__in":[null]}}`,
		want: `filters: pages__in: must have no null among its values; use isnull`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages__in":["x"]}}`,
		want: `filters: pages__in: each value must be an integer, or a string of its digits, not "x"`, only: postgres + mysql},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages__range":[1]}}`,
		want: `filters: pages__range: must be an array of two values, the least and the greatest, not [1]`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages__range":["x",1]}}`,
		want: `filters: pages__range: the least value must be an integer, or a string of its digits, not "x"`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages__range":[1,"x"]}}`,
		want: `filters: pages__range: the greatest value must be an integer, or a string of its digits, not "x"`},
	{token: "root", tool: "list_book", arguments: `{"filters":{"pages__isnull":1}}`,
		want: `filters: pages__isnull: must be true or false, not 1`},
	{token: "root", tool: "list_page", arguments: `{"filters":{"updated_at":"yesterday"}}`,
		want: `filters: updated_at: must be a date and time, YYYY-MM-DDTHH:MM:SS, not "yesterday"`, only: postgres + mysql},
	{token: "root", tool: "list_edition", arguments: `{"filters":{"id__gt":"1,1"}}`,
		want: `filters: id__gt: gt is not offered for a key of several columns; its lookups are exact, ne, in`},
	{token: "root", tool: "get_book", arguments: `{}`,
		want: `id parameter is required`},
	{token: "root", tool: "get_book", arguments: `{"id":"x"}`,
		want: `id: must be an integer, or a string of its digits, not "x"`},
	{token: "root", tool: "get_book", arguments: `{"id":99}`,
		want: `book not found`},
	{token: "root", tool: "get_book", arguments: `{"id":1,"include_inlines":"yes"}`,
		want: `include_inlines must be true or false, not "yes"`},
	{token: "root", tool: "get_edition", arguments: `{"id":5}`,
		want: `id: must be a string of book_id,number, each percent-encoded, joined by commas`},
	{token: "root", tool: "get_edition", arguments: `{"id":"1"}`,
		want: `id: must have 2 parts (book_id,number) joined by commas, not 1`},
	{token: "root", tool: "get_edition", arguments: `{"id":"1,%zz"}`,
		want: `id: part 2 is not percent-encoded properly: a percent sign is %25, a comma %2C`},
	{token: "root", tool: "get_edition", arguments: `{"id":"1,x"}`,
		want: `edition not found`, only: sqlite},
	{token: "root", tool: "get_edition", arguments: `{"id":"1,x"}`,
		want: `id: part 2 (number): must be an integer, or a string of its digits, not "x"`, only: postgres + mysql},
	{token: "root", tool: "get_book", arguments: `{"id":1,"offset":5}`,
		want: `offset and length go with field, which names the field to read a piece of`},
	{token: "root", tool: "get_book", arguments: `{"id":1,"field":"nope"}`,
		want: `field: book has no field "nope"; the fields that can be read in pieces are title, isbn, tags, region, notes`},
	{token: "root", tool: "get_book", arguments: `{"id":1,"field":"pages"}`,
		want: `field: pages is of type integer, which is not read in pieces; the fields that are: title, isbn, tags, region, notes`},
	{token: "root", tool: "get_book", arguments: `{"id":1,"field":"card_number"}`,
		want: `field: card_number is masked; the fields that can be read in pieces are title, isbn, tags, region, notes`},
	{token: "root", tool: "get_book", arguments: `{"id":1,"field":"notes","length":0}`,
		want: `length must be at least 1`},
	{token: "root", tool: "get_book", arguments: `{"id":1,"field":"notes","include_inlines":true}`,
		want: `field does not go with include_inlines or include_related: leave them out to read a piece of one value`},
	{token: "root", tool: "related_book", arguments: `{"id":1}`,
		want: `relation parameter is required; its relations are author, edition_by_book, editor, review_by_book`},
	{token: "root", tool: "related_book", arguments: `{"id":1,"relation":"nope"}`,
		want: `relation: book has no relation "nope"; its relations are author, edition_by_book, editor, review_by_book`},
	{token: "bookish", tool: "related_book", arguments: `{"id":1,"relation":"author"}`,
		want: `relation: book has no relation "author"; it has no relation that you may follow`},
	{token: "root", tool: "create_book", arguments: `{}`,
		want: `data parameter is required`},
	{token: "root", tool: "create_book", arguments: `{"data":[1]}`,
		want: `data must be an object of field name to value, not [1]`},
	{token: "root", tool: "create_book", arguments: `{"data":{}}`,
		want: `title: is required; author_id: is required`},
	{token: "root", tool: "create_book", arguments: `{"data":{"nope":1,"title":"x","author_id":1}}`,
		want: `nope: there is no such field; those that can be set are id, title, author_id, editor_id, isbn, price, pages, in_stock, tags, region, notes`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":null,"author_id":1}}`,
		want: `title: must not be null`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":99}}`,
		want: `author_id: no such author`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"isbn":"isbn-1"}}`,
		want: `isbn: must be unique: another row has this value`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"pages":0}}`,
		want: `pages: must be more than 0, not 0`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"pages":99999999999}}`,
		want: `pages: must be an integer between -2147483648 and 2147483647, not 99999999999`, only: postgres + mysql},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"region":"moon"}}`,
		want: `region: must be one of emea, apac, amer, not "moon"`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"published":"2020-01-01"}}`,
		want: `published: is read-only; leave it out`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"card_number":"1"}}`,
		want: `card_number: is read-only; leave it out`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"price":"1.234"}}`,
		want: `price: must have at most 2 digits after the point, not 3`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"price":"123456789.00"}}`,
		want: `price: must have at most 8 digits before the point, not 9`},
	{token: "root", tool: "create_book", arguments: `{"data":{"title":"x","author_id":1,"tags":"\u0000"}}`,
		want: `tags: must not contain U+0000`},
	{token: "root", tool: "create_sample", arguments: `{"data":{"short":"abcdef"}}`,
		want: `short: must have at most 5 characters, not 6`},
	{token: "root", tool: "create_sample", arguments: `{"data":{"moment":"soon"}}`,
		want: `moment: must be a date and time, YYYY-MM-DDTHH:MM:SS, not "soon"`},
	{token: "root", tool: "create_sample", arguments: `{"data":{"day":"2024-02-30"}}`,
		want: `day: must be a date, YYYY-MM-DD, not "2024-02-30"`},
	{token: "root", tool: "create_sample", arguments: `{"data":{"raw":"?"}}`,
		want: `raw: must be base64, not "?"`},
	{token: "root", tool: "create_sample", arguments: `{"data":{"rough":"1,5"}}`,
		want: `rough: must be a number, or "NaN", "Infinity" or "-Infinity", not "1,5"`},
	{token: "root", tool: "update_book", arguments: `{"id":1}`,
		want: `data parameter is required`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"data":{}}`,
		want: `data must name at least one field to change`},
	{token: "root", tool: "update_book", arguments: `{"id":99,"data":{"title":"x"}}`,
		want: `book not found`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"data":{"id":7}}`,
		want: `id: is part of the key, which cannot be changed; leave it out`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"data":{"title":"x"},"expected_version":9}`,
		want: `book has another version by now; read it again, and send its version as expected_version`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"data":{"title":"x"},"expected_version":"a"}`,
		want: `expected_version: must be an integer, or a string of its digits, not "a"; it is the row's version`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"inlines":[1]}`,
		want: `inlines must be an object of model name to array of rows, not [1]`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"inlines":{"nope":[]}}`,
		want: `inlines: book has no inline "nope"; its inlines are review, edition`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"inlines":{"review":{}}}`,
		want: `inlines.review must be an array of {data}, {id, data} or {id, _delete: true}`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"inlines":{"review":[5]}}`,
		want: `inlines.review[0] must be {data}, {id, data} or {id, _delete: true}`},
	{token: "root", tool: "update_book", arguments: `{"id":1,"inlines":{"review":[{"data":{"stars":9}}]}}`,
		want: `review[0].stars: must be at least 1 and at most 5, not 9; review[0].reader: is required`},
	{token: "root", tool: "delete_book", arguments: `{}`,
		want: `id parameter is required`},
	{token: "root", tool: "delete_book", arguments: `{"id":99}`,
		want: `book not found`},
	{token: "root", tool: "delete_author", arguments: `{"id":1}`,
		want: `author cannot be deleted: it is referred to by 2 books; delete or change those first`},
	{token: "bookish", tool: "delete_book", arguments: `{"id":1}`,
		want: `book cannot be deleted: other records depend on it`},
	{token: "viewer", tool: "delete_book", arguments: `{"id":1}`,
		want: `Permission denied: cannot delete book`},
	{token: "root", tool: "bulk_book", arguments: `{}`,
		want: `operation parameter is required; it is one of create, update, delete`},
	{token: "root", tool: "bulk_book", arguments: `{"operation":"nope","items":[1]}`,
		want: `operation must be one of create, update, delete`},
	{token: "root", tool: "bulk_book", arguments: `{"operation":"update"}`,
		want: `items parameter is required`},
	{token: "root", tool: "bulk_book", arguments: `{"operation":"update","items":[]}`,
		want: `items must be an array of at least one item`},
	{token: "root", tool: "bulk_book", arguments: `{"operation":"update","items":[5]}`,
		want: `nothing was changed; item 0: each item of a bulk update must be an object, not 5`},
	{token: "root", tool: "action_book", arguments: `{}`,
		want: `action parameter is required; you may run delete_selected, discount, retire, renumber`},
	{token: "root", tool: "action_book", arguments: `{"action":"nope","ids":[1]}`,
		want: `action: book has no action "nope"; you may run delete_selected, discount, retire, renumber`},
	{token: "root", tool: "action_book", arguments: `{"action":"retire"}`,
		want: `ids parameter is required`},
	{token: "root", tool: "action_book", arguments: `{"action":"retire","ids":5}`,
		want: `ids must be an array of ids, not 5`},
	{token: "root", tool: "action_book", arguments: `{"action":"retire","ids":[]}`,
		want: `ids must name at least one row`},
	{token: "root", tool: "action_book", arguments: `{"action":"retire","ids":[1,1]}`,
		want: `ids[1]: 1 is at ids[0] already; name each row once`},
	{token: "root", tool: "action_book", arguments: `{"action":"retire","ids":["x"]}`,
		want: `ids[0]: must be an integer, or a string of its digits, not "x"`},
	{token: "root", tool: "action_book", arguments: `{"action":"retire","ids":[99]}`,
		want: `book not found: none of the ids names a row that you may see`},
	{token: "root", tool: "action_book", arguments: `{"action":"discount","ids":[1]}`,
		want: `price: is required, in confirmation_data: a value of type decimal`},
	{token: "root", tool: "action_book", arguments: `{"action":"discount","ids":[1],"confirmation_data":5}`,
		want: `confirmation_data must be an object of parameter name to value, not 5`},
	{token: "root", tool: "action_book", arguments: `{"action":"discount","ids":[1],"confirmation_data":{"nope":1}}`,
		want: `nope: discount has no such parameter; its parameters are price; price: is required, in confirmation_data: a value of type decimal`},
	{token: "root", tool: "action_book", arguments: `{"action":"discount","ids":[1],"confirmation_data":{"price":"x"}}`,
		want: `price: must be a decimal number, best as a string, not "x"`},
	{token: "root", tool: "action_book", arguments: `{"action":"discount","ids":[3],"confirmation_data":{"price":"1.00"}}`,
		want: `book not found: discount applies to none of the rows; its condition excludes 3`},
	{token: "viewer", tool: "action_book", arguments: `{"action":"retire","ids":[1]}`,
		want: `Permission denied: cannot run actions on book`},
	{token: "root", tool: "autocomplete_book", arguments: `{"term":5}`,
		want: `term must be a string, not 5`},
	{token: "root", tool: "history_book", arguments: `{}`,
		want: `id parameter is required`},
	{token: "root", tool: "history_book", arguments: `{"id":99}`,
		want: `book not found`},
	{token: "root", tool: "find_models", arguments: `{"query":5}`,
		want: `query must be a string, not 5`},
}
