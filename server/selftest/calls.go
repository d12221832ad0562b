package selftest

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// calling are the checks of tools that write.
var calling = []trial{
	{
		name: "create", expected: "a new row is stored, and shown with its key and what the database made of it", tables: true, needed: true,
		means: "create, bulk and transact fail",
		try: func(ctx context.Context, r *run) (string, error) {
			if _, err := r.agent.call(ctx, "create_kind", `{"data":{"id":1,"name":"one"}}`); err != nil {
				return "", err
			}
			made, err := r.agent.ask(ctx, "create_item", `{"data":{"name":"created","kind_id":1,"price":"1.50"}}`)
			switch {
			case err != nil:
				return "", err
			case made.Object.ID == "" || made.Object.Price != "1.50":
				return "", unexpected{"the row is not as it was written"}
			case r.tables.table("item").InsertReturns:
				return "the statement returns the row", nil
			}
			return "the row is read back", nil
		},
	},
	{
		name: "versions", expected: "a change of a row that somebody else has changed is a conflict", tables: true, needed: true,
		means: "expected_version does not hold: agents overwrite what others changed",
		try: func(ctx context.Context, r *run) (string, error) {
			made, err := r.item(ctx, "versions", "2.00")
			if err != nil {
				return "", err
			}
			change := fmt.Sprintf(`{"id":%s,"data":{"price":"3.00"},"expected_version":%d}`, made.Object.ID, made.Object.Version)
			if changed, err := r.agent.ask(ctx, "update_item", change); err != nil || changed.Object.Price != "3.00" {
				return "", orUnexpected(err, "the row is not as it was changed")
			}
			_, err = r.agent.call(ctx, "update_item", change)
			return "", refusedAs(err, call.CodeConflict)
		},
	},
	{
		name: "dry run", expected: "a call is tried, and nothing of it stays", tables: true, needed: true,
		means: "dry_run fails, or changes rows",
		try: func(ctx context.Context, r *run) (string, error) {
			if _, err := r.agent.call(ctx, "create_item", `{"data":{"name":"dry"},"dry_run":true}`); err != nil {
				return "", err
			}
			return "", r.holds(ctx, "dry", 0)
		},
	},
	{
		name: "bulk", expected: "of many items those that fail are undone, and the others kept", tables: true, needed: true,
		means: "bulk fails; send the items one by one",
		try: func(ctx context.Context, r *run) (string, error) {
			done, err := r.agent.ask(ctx, "bulk_item", `{"operation":"create","items":[{"data":{"name":"bulk1"}},{"data":{"name":"bulk1"}},{"data":{"name":"bulk2"}}]}`)
			if err == nil && (done.SuccessCount != 2 || done.ErrorCount != 1) {
				err = unexpected{fmt.Sprintf("of three items, of which one cannot be stored, %d were kept", done.SuccessCount)}
			}
			return "", err
		},
	},
	{
		name: "transact and undo", expected: "several calls are one, and are taken back as one", tables: true, needed: true,
		means: "transact or undo fails",
		try: func(ctx context.Context, r *run) (string, error) {
			if r.schema.Audit == nil {
				return "", unasked{"there is no table for the journal"}
			}
			done, err := r.agent.ask(ctx, "transact", `{"steps":[{"tool":"create_item","arguments":{"data":{"name":"steps"}}},`+
				`{"tool":"create_part","arguments":{"data":{"name":"steps","item_id":{"_step":0,"path":"object.id"}}}}]}`)
			if err != nil {
				return "", err
			}
			if err := r.holds(ctx, "steps", 1); err != nil {
				return "", err
			}
			if _, err := r.agent.call(ctx, "undo", `{"call":"`+done.Call+`"}`); err != nil {
				return "", err
			}
			return "", r.holds(ctx, "steps", 0)
		},
	},
	{
		name: "deletion", expected: "a row goes with those that belong to it, and comes back with them", tables: true,
		means: "delete or its undo fails",
		try: func(ctx context.Context, r *run) (string, error) {
			made, err := r.item(ctx, "deleted", "1.00")
			if err != nil {
				return "", err
			}
			if _, err := r.agent.call(ctx, "create_part", fmt.Sprintf(`{"data":{"name":"deleted","item_id":%s}}`, made.Object.ID)); err != nil {
				return "", err
			}
			gone, err := r.agent.ask(ctx, "delete_item", fmt.Sprintf(`{"id":%s}`, made.Object.ID))
			if err != nil {
				return "", err
			}
			if err := r.holds(ctx, "deleted", 0); err != nil || r.schema.Audit == nil {
				return "", err
			}
			if _, err := r.agent.call(ctx, "undo", `{"call":"`+gone.Call+`"}`); err != nil {
				return "", err
			}
			return "", r.holds(ctx, "deleted", 1)
		},
	},
	{
		name: "idempotency_key", expected: "the same call, sent twice, happens once", tables: true,
		means: "leave spec.idempotency out: agents cannot send a call again without looking first",
		try: func(ctx context.Context, r *run) (string, error) {
			if r.schema.Idempotency == nil {
				return "", unasked{"there is no table for the keys"}
			}
			const once = `{"data":{"name":"once"},"idempotency_key":"once"}`
			if _, err := r.agent.call(ctx, "create_item", once); err != nil {
				return "", err
			}
			again, err := r.agent.ask(ctx, "create_item", once)
			if err == nil && !again.Replayed {
				err = unexpected{"the second call was not answered with the first answer"}
			}
			if err != nil {
				return "", err
			}
			return "", r.holds(ctx, "once", 1)
		},
	},
	{
		name: "history", expected: "the journal tells what was changed", tables: true,
		means: "history fails",
		try: func(ctx context.Context, r *run) (string, error) {
			if r.schema.Audit == nil {
				return "", unasked{"there is no table for the journal"}
			}
			made, err := r.item(ctx, "history", "1.00")
			if err != nil {
				return "", err
			}
			told, err := r.agent.ask(ctx, "history_item", fmt.Sprintf(`{"id":%s}`, made.Object.ID))
			if err == nil && told.Count != 1 {
				err = unexpected{fmt.Sprintf("it tells of %d changes of a row that was changed once", told.Count)}
			}
			return "", err
		},
	},
}

// item adds a row of that name.
func (r *run) item(ctx context.Context, name, price string) (answer, error) {
	return r.agent.ask(ctx, "create_item", fmt.Sprintf(`{"data":{"name":%q,"price":%q}}`, name, price))
}

// holds is an error if there are more or fewer rows of that name.
func (r *run) holds(ctx context.Context, name string, want int) error {
	found, err := r.agent.ask(ctx, "list_item", fmt.Sprintf(`{"filters":{"name":%q},"total":"exact"}`, name))
	if err == nil && (found.TotalCount == nil || *found.TotalCount != want) {
		err = unexpected{fmt.Sprintf("there are %d rows where %d should be", found.Count, want)}
	}
	return err
}

// refusedAs is nil if an error is a tool's with that code.
func refusedAs(err error, code call.Code) error {
	var refused *refusal
	switch {
	case err == nil:
		return unexpected{"it was done"}
	case errors.As(err, &refused) && refused.code == code:
		return nil
	}
	return err
}

// question is a call that reads, and what it must answer.
type question struct {
	name, what, tool, arguments string
	// want are the results; "" is any answer but an error.
	want string
}

// dispensable are the questions without which agents can do.
var dispensable = map[string]bool{"documents": true, "empty groups": true}

// questions are about the rows that the first of them adds.
var questions = []question{
	{"question rows", "rows to ask about can be added", "transact", `{"steps":[` +
		`{"tool":"create_kind","arguments":{"data":{"id":2,"name":"two"}}},` +
		`{"tool":"create_item","arguments":{"data":{"id":1001,"name":"qa","kind_id":1,"price":"10.00","made":"2026-01-05","note":"q","doc":{"a":1}}}},` +
		`{"tool":"create_item","arguments":{"data":{"id":1002,"name":"qb","kind_id":1,"price":"20.50","made":"2026-01-20","note":"q"}}},` +
		`{"tool":"create_item","arguments":{"data":{"id":1003,"name":"qc","kind_id":2,"price":"5.25","made":"2026-03-01","note":"q"}}},` +
		`{"tool":"create_item","arguments":{"data":{"id":1004,"name":"Qd","price":null,"note":"q"}}},` +
		`{"tool":"create_part","arguments":{"data":{"name":"pa","item_id":{"_step":1,"path":"object.id"}}}},` +
		`{"tool":"create_part","arguments":{"data":{"name":"pb","item_id":{"_step":1,"path":"object.id"}}}},` +
		`{"tool":"create_plain","arguments":{"data":{"name":"plain"}}}]}`, ""},
	{"filters", "conditions, dates and an order", "list_item",
		`{"filters":{"note":"q","price__gte":"5.25","made__year":2026,"name__icontains":"Q"},"order_by":["-price"],"fields":["name","price"]}`,
		`[{"id":1002,"name":"qb","price":"20.50"},{"id":1001,"name":"qa","price":"10.00"},{"id":1003,"name":"qc","price":"5.25"}]`},
	{"case", "letters of different case are different", "list_item", `{"filters":{"note":"q","name__startswith":"q"},"order_by":["name"],"fields":["name"]}`,
		`[{"id":1001,"name":"qa"},{"id":1002,"name":"qb"},{"id":1003,"name":"qc"}]`},
	{"related rows", "values of related rows in filters, orders and fields", "list_item",
		`{"filters":{"note":"q","kind__name":"one"},"order_by":["kind__name","-name"],"fields":["name","kind__name"]}`,
		`[{"id":1002,"name":"qb","kind__name":"one"},{"id":1001,"name":"qa","kind__name":"one"}]`},
	{"rows without others", "rows that have no related row, or some", "list_item",
		`{"filters":{"note":"q","part_by_item__none":{},"kind_id__isnull":false},"order_by":["name"],"fields":["name"]}`,
		`[{"id":1002,"name":"qb"},{"id":1003,"name":"qc"}]`},
	{"documents", "conditions on JSON documents", "list_item", `{"filters":{"note":"q","doc__contains":{"a":1}},"fields":["name"]}`, `[{"id":1001,"name":"qa"}]`},
	{"rows without a key", "a table without a key", "list_plain", `{"filters":{"name":"plain"}}`, `[{"name":"plain"}]`},
	{"groups", "groups with counts, sums and averages, and conditions on them", "aggregate_item",
		`{"filters":{"note":"q","kind_id__isnull":false},"group_by":["kind__name"],"measures":{"n":{"count":"*"},"sum":{"sum":"price"},"avg":{"avg":"price"}},"having":{"n__gte":1},"order_by":["kind__name"]}`,
		`[{"kind__name":"one","n":2,"sum":"30.50","avg":"15.250000"},{"kind__name":"two","n":1,"sum":"5.25","avg":"5.250000"}]`},
	{"statistics", "medians and texts of groups", "aggregate_item",
		`{"filters":{"note":"q"},"measures":{"median":{"median":"price"},"names":{"texts":"name"}}}`,
		`[{"median":"10.000000","names":"Qd, qa, qb, qc"}]`},
	{"deviation", "standard deviations", "aggregate_item", `{"filters":{"note":"q"},"measures":{"spread":{"stddev":"price"}}}`, ``},
	{"windows", "values that look at other groups", "aggregate_item",
		`{"filters":{"note":"q","made__isnull":false},"group_by":["made__month"],"measures":{"n":{"count":"*"},"so_far":{"running":"n"},"part":{"share":"n"}}}`,
		`[{"made__month":"2026-01","n":2,"so_far":2,"part":"0.666666666667"},{"made__month":"2026-03","n":1,"so_far":3,"part":"0.333333333333"}]`},
	{"empty groups", "months without rows", "aggregate_item", `{"filters":{"note":"q","made__isnull":false},"group_by":["made__month"],"fill":true,"measures":{"n":{"count":"*"}}}`,
		`[{"made__month":"2026-01","n":2},{"made__month":"2026-02","n":0},{"made__month":"2026-03","n":1}]`},
}

// trial is the check of a question.
func (q question) trial() trial {
	return trial{
		name: q.name, expected: q.what, tables: true, needed: !dispensable[q.name], means: "calls of this kind fail, or answer wrongly",
		try: func(ctx context.Context, r *run) (string, error) {
			if q.want == "" {
				_, err := r.agent.call(ctx, q.tool, q.arguments)
				return "", err
			}
			found, err := r.agent.ask(ctx, q.tool, q.arguments)
			if err == nil && string(found.Results) != q.want {
				err = unexpected{"the answer is wrong: " + string(found.Results)}
			}
			return "", err
		},
	}
}
