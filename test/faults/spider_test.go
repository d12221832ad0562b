package faults

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Tables of Spider show those of other servers, which have their rows. Spider's transactions have no savepoints, so that it could not
// undo a part of one: its tables are read, and not written.
func TestTablesOfSpiderAreRead(t *testing.T) {
	data := folder(t)
	uris := strings.Fields(install(t, "Spider", "start", "-engine", "spider", "-data", data))
	t.Cleanup(func() { control(t, "stop", "-engine", "spider", "-data", data) })
	const tables = "create database shop; create table shop.item (id int primary key, name varchar(20) not null, pages int, region varchar(10))"
	front := tables + ` engine = spider comment = 'wrapper "mysql", table "item"' partition by key (id) (partition p2 comment = 'srv "node2"', partition p3 comment = 'srv "node3"');
create table shop.note (id int primary key, item_id int, body varchar(20));
insert into shop.item values (1, 'one', 10, 'a'), (2, 'two', 20, 'b'), (3, 'three', 30, 'a'), (4, 'four', 40, 'b'), (5, 'five', null, 'a');
insert into shop.note values (1, 2, 'of two');`
	for i, uri := range uris[1:] {
		harness.On(t, uri+"mysql", tables+";")
		u, err := url.Parse(uri)
		if err != nil {
			t.Fatal(err)
		}
		password, _ := u.User.Password()
		front = fmt.Sprintf("create server node%d foreign data wrapper mysql options (host '%s', port %s, user '%s', password '%s', database 'shop');\n",
			i+2, u.Hostname(), u.Port(), u.User.Username(), password) + front
	}
	harness.On(t, uris[0]+"mysql", front)
	database := harness.Database{Connection: map[string][]byte{"uri": []byte(uris[0] + "shop")}}
	all := contract.Token{Namespace: "test", Name: "root", Hashes: []string{contract.HashToken(root)}, Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"*"}}}}
	models := []contract.Model{
		{Name: "item", Table: "item", Expose: true},
		{Name: "note", Table: "note", Expose: true, Relations: []contract.Relation{{Name: "item", Columns: []string{"item_id"}, Model: "item"}}},
	}
	endpoint := harness.Serve(t, database, models, []contract.Token{all})
	for call, want := range map[[2]string]string{
		{"list_item", `{"order_by":["-pages"],"limit":2,"fields":["name"],"filters":{"region":"b"}}`}:    `"results":[{"id":4,"name":"four"},{"id":2,"name":"two"}]`,
		{"list_item", `{"search":"thr","fields":["name"]}`}:                                              `"results":[{"id":3,"name":"three"}]`,
		{"aggregate_item", `{"group_by":["region"],"measures":{"n":{"count":"*"},"p":{"sum":"pages"}}}`}: `"results":[{"region":"a","n":3,"p":40},{"region":"b","n":2,"p":60}]`,
		{"get_item", `{"id":5}`}:                   `"name":"five"`,
		{"list_note", `{"fields":["item__name"]}`}: `"item__name":"two"`,
		{"list_item", `{"filters":{"note_by_item__none":{}},"fields":["id"],"order_by":["id"]}`}: `"results":[{"id":1},{"id":3},{"id":4},{"id":5}]`,
		{"create_item", `{"data":{"id":6,"name":"six"}}`}:                                        `create is not offered for item`,
		{"create_note", `{"data":{"id":2,"body":"x"}}`}:                                          `"success":true`,
	} {
		if text, _ := endpoint.Call(root, call[0], call[1]); !strings.Contains(text, want) {
			t.Errorf("%v: got %s, want %s in it", call, text, want)
		}
	}
	first, more := endpoint.Call(root, "list_item", `{"limit":2,"order_by":["name"],"fields":["id"]}`)
	if !strings.Contains(first, "next_cursor") {
		t.Errorf("got %s %v, want a cursor", first, more)
	}
	for _, m := range endpoint.Status().Models {
		if notes := fmt.Sprint(m.Notes); (m.Name == "item") != strings.Contains(notes, "no savepoints") {
			t.Errorf("%s: the notes are %s", m.Name, notes)
		}
	}
	(&served{T: t, engine: "Spider"}).held("tables over two servers are read, and not written")
}
