package tools

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// undivided is a database whose transactions lose their savepoints with the first statement.
type undivided struct{ database.DB }

func (d undivided) Transact(ctx context.Context, do func(database.Tx) error) error {
	return d.DB.Transact(ctx, func(tx database.Tx) error { return do(undividedTx{tx}) })
}

type undividedTx struct{ database.Tx }

func (undividedTx) Savepoint(context.Context, func() error) error {
	return &database.Error{Code: database.Undivided, Message: "there are no savepoints"}
}

func TestChangesWithoutSavepoints(t *testing.T) {
	l := newLibrary(t)
	l.set.db = undivided{l.set.db}
	bulk := l.must(ownerText, "bulk_author", `{"operation":"create","items":[{"name":"Lem"},{"name":null},{"name":"Verne"}]}`)
	if bulk["success_count"] != 2.0 || bulk["error_count"] != 1.0 {
		t.Errorf("a bulk whose items the database takes: %v", bulk)
	}
	authors := l.one("SELECT count(*) FROM author")
	r := l.call(ownerText, "bulk_author", `{"operation":"update","items":[{"id":1,"data":{"name":"A"}},{"data":{}},{"id":99,"data":{"name":"B"}},{"id":2,"data":{"name":"C"}}]}`)
	payload := l.decode(r)
	if r.Code != call.CodeNotFound || payload["success_count"] != 0.0 || payload["error_count"] != 2.0 ||
		!strings.HasPrefix(r.Message, "nothing was changed; item 2: ") || !strings.Contains(fmt.Sprint(payload["notice"]), "the database cannot undo one item by itself") {
		t.Errorf("a bulk with an item that failed: %s", r.Text)
	}
	if name := l.one("SELECT name FROM author WHERE id = 1"); name == "A" {
		t.Error("an item was kept beside one that failed")
	}
	l.must(ownerText, "undo", fmt.Sprintf(`{"call":%q}`, bulk["call"]))
	if left := l.one("SELECT count(*) FROM author"); left == authors {
		t.Errorf("%s authors are left after undo, of %s", left, authors)
	}
}
