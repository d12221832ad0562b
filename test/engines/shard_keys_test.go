package engines

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/database/databasetest"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// apart has rows that lie on two shards by another column than their key. A sequence fills the key of purchase, and nothing that of
// parcel. The harness makes no sequence for what counts in capital letters.
const apart = `
create table buyer (id int primary key, region varchar(10) not null);
create table purchase (id bigint auto_increment primary key, buyer_id int not null, total int not null, foreign key (buyer_id) references buyer (id) on delete cascade);
create table bonus (id bigint auto_increment primary key, buyer_id int not null, foreign key (buyer_id) references buyer (id) on delete cascade);
create table parcel (id bigint primary key, buyer_id int not null, weight int not null, foreign key (buyer_id) references buyer (id) on delete cascade);
create table receipt (id bigint AUTO_INCREMENT primary key, note varchar(10));
create table stub (id bigint AUTO_INCREMENT primary key, buyer_id int not null, foreign key (buyer_id) references buyer (id) on delete cascade);
create table part (code varchar(20) character set utf8mb4 collate utf8mb4_bin primary key);
insert into buyer (id, region) values (1, 'near'), (2, 'near'), (3, 'near'), (4, 'near'), (5, 'far'), (6, 'far'), (7, 'far'), (8, 'far');
insert into purchase (id, buyer_id, total) values (11, 1, 1), (12, 2, 2), (13, 3, 3), (14, 4, 4), (15, 5, 5), (16, 6, 6), (17, 7, 7), (18, 8, 8);
insert into parcel (id, buyer_id, weight) values (11, 1, 1), (12, 2, 2), (15, 5, 5), (16, 6, 6)`

// ofBuyers are the models on them. Clerks see what belongs to buyers of their region.
func ofBuyers() []contract.Model {
	see := func(field string) []contract.RowPolicy {
		return []contract.RowPolicy{
			{Name: "near", Groups: []string{"clerks"}, Filters: []contract.Filter{{Field: field, Value: "near"}}},
			{Name: "staff", Groups: []string{"staff"}, AllRows: true},
		}
	}
	return []contract.Model{
		{Name: "buyer", Table: "buyer", Expose: true, RowPolicies: see("region")},
		{Name: "purchase", Table: "purchase", Expose: true, RowPolicies: see("buyer__region"), Inlines: []contract.Inline{{Model: "bonus", ForeignKey: "id", Max: 3}}},
		{Name: "bonus", Table: "bonus", Expose: true},
		{Name: "parcel", Table: "parcel", Expose: true, Key: []string{"id"}, RowPolicies: see("buyer__region")},
		{Name: "keyless", Table: "stub", Expose: true},
		{Name: "receipt", Table: "receipt", Expose: true},
		{Name: "item", Table: "item", Expose: true}, {Name: "part", Table: "part", Expose: true},
		{Name: "loose", Table: "loose", Expose: true},
		{Name: "numbers", Schema: "plain", Table: numbersTable(), Expose: true},
	}
}

// numbersTable is a sequence beside the tables.
func numbersTable() string { return fmt.Sprintf("numbers_%d", os.Getpid()) }

// A key is unique on each shard alone. If rows lie by another column, an id that a caller chose could be that of a row on another shard,
// which the caller may not see: what is read and checked by id would be about that row.
func TestAKeyThatShardsKeepForThemselves(t *testing.T) {
	onShards(t, func(t *testing.T, engine harness.Engine) {
		s := serveBuyers(t, engine)
		s.numbersOfASequence(t)
		s.keysOfNothing(t)
		s.countsWithoutASequence(t)
		s.tellsOfShards(t)
	})
}

func serveBuyers(t *testing.T, engine harness.Engine) *suite {
	t.Helper()
	database, plain := engine.Open(t, apart)
	var keyspace string
	if err := plain.QueryRow("select database()").Scan(&keyspace); err != nil {
		t.Fatal(err)
	}
	byBytes := func() error {
		_, err := plain.Exec("alter vschema on item add vindex xxhash(sku) using xxhash")
		return err
	}
	if err := databasetest.Topology(byBytes); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"create table item (sku varchar(20) primary key)",
		"create table loose (id int primary key)",
		"alter table bonus add foreign key (id) references purchase (id)",
		"create table plain." + numbersTable() + " (id bigint primary key, next_id bigint, cache bigint) comment 'vitess_sequence'",
	} {
		if _, err := plain.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := plain.Exec("drop table plain." + numbersTable()); err != nil {
			t.Error(err)
		}
	})
	schemas := func(c *contract.Config) { c.Endpoint.Database.Schemas = []string{keyspace, "plain"} }
	return &suite{engine, harness.Serve(t, database, ofBuyers(), tokens(), withAudit, schemas), plain}
}

func (s *suite) numbersOfASequence(t *testing.T) {
	t.Helper()
	s.check(t, "nobody sets a key that a sequence fills", func(t *testing.T) {
		for _, token := range []string{"clerk", "root"} {
			for id := 11; id <= 18; id++ { // on the buyer's shard and on the other
				told := s.fails(t, token, "create_purchase", fmt.Sprintf(`{"data":{"id":%d,"buyer_id":1,"total":66}}`, id), "validation_error")
				if !strings.Contains(fmt.Sprint(told), "is read-only; leave it out") {
					t.Fatalf("%s: got %v", token, told)
				}
			}
			s.fails(t, token, "bulk_purchase", `{"operation":"create","atomic":true,"items":[{"data":{"id":15,"buyer_id":1,"total":66}}]}`, "validation_error")
		}
		s.holds(t, "select count(*) from purchase where total = 66", "0")
		s.fails(t, "clerk", "create_purchase", `{"data":{"buyer_id":5,"total":67}}`, "validation_error")
		s.holds(t, "select count(*) from purchase where total = 67", "0")
		for buyer := 1; buyer <= 4; buyer++ {
			added := s.ok(t, "clerk", "create_purchase", fmt.Sprintf(`{"data":{"buyer_id":%d,"total":68}}`, buyer))
			want(t, added, fmt.Sprint(buyer), "object", "buyer_id")
			want(t, s.ok(t, "clerk", "get_purchase", fmt.Sprintf(`{"id":%v}`, added["id"])), `68`, "total")
		}
	})
	s.check(t, "neither does the row that another one is sent with", func(t *testing.T) {
		told := s.fails(t, "root", "create_purchase", `{"data":{"buyer_id":1,"total":69},"inlines":{"bonus":[{"data":{"buyer_id":1}}]}}`, "permission_denied")
		if !strings.Contains(fmt.Sprint(told["error"]), "a row cannot be added here: nobody may set id of bonus, which would lead to the other row") {
			t.Errorf("got %v", told)
		}
		s.holds(t, "select count(*) from purchase where total = 69", "0")
	})
	s.check(t, "the description says who fills what", func(t *testing.T) {
		described := s.ok(t, "root", "describe_purchase", `{}`)
		want(t, described, `{"name":"id","type":"integer","required":false,"default":"computed by the database","primary_key":true,"unique":true,"editable":false}`, "fields", 0)
		want(t, described, `"Set on create only."`, "fields", 1, "help_text")
		told := s.fails(t, "root", "update_purchase", `{"id":11,"data":{"buyer_id":2}}`, "validation_error")
		if !strings.Contains(fmt.Sprint(told), "decides which server holds the row, so it is set only when the row is created") {
			t.Errorf("got %v", told)
		}
	})
	s.check(t, "undo gives a row its number back", func(t *testing.T) {
		deleted := s.ok(t, "root", "delete_purchase", `{"id":12}`)
		s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, deleted["call"]))
		s.holds(t, "select concat(id, ' of ', buyer_id, ': ', total) from purchase where id = 12", "12 of 2: 2")
	})
}

func (s *suite) keysOfNothing(t *testing.T) {
	t.Helper()
	s.check(t, "a key that nothing fills names no row that could be changed", func(t *testing.T) {
		told := s.fails(t, "clerk", "create_parcel", `{"data":{"id":15,"buyer_id":1,"weight":66}}`, "permission_denied")
		if !strings.Contains(fmt.Sprint(told["error"]), "parcel has no key, so that it cannot be checked whether you may see the new row") {
			t.Errorf("got %v", told)
		}
		s.holds(t, "select count(*) from parcel where weight = 66", "0")
		s.ok(t, "root", "create_parcel", `{"data":{"id":20,"buyer_id":5,"weight":1}}`)
		want(t, s.ok(t, "root", "get_parcel", `{"id":20}`), `5`, "buyer_id")
		for _, tool := range []string{"update_parcel", "delete_parcel"} {
			s.fails(t, "root", tool, `{"id":11}`, "permission_denied")
		}
		s.notes(t, "parcel", "No update or delete: each shard keeps the primary key (id) unique for itself alone. Have a sequence of the VSchema fill it, or shard the table by it.")
	})
	s.check(t, "a table whose shards count has no key either", func(t *testing.T) {
		s.ok(t, "root", "create_keyless", `{"data":{"buyer_id":1}}`)
		s.notes(t, "keyless", "No get, update or delete: each shard keeps the primary key (id) unique for itself alone. Have a sequence of the VSchema fill it, or shard the table by it; to read rows by their key, list it in spec.key.")
	})
}

func (s *suite) countsWithoutASequence(t *testing.T) {
	t.Helper()
	s.check(t, "a number that says where a row lies is required if no sequence gives it", func(t *testing.T) {
		told := s.fails(t, "root", "create_receipt", `{"data":{"note":"x"}}`, "validation_error")
		if !strings.Contains(fmt.Sprint(told), "is required") {
			t.Errorf("got %v", told)
		}
		for id := 1; id <= 4; id++ {
			s.ok(t, "root", "create_receipt", fmt.Sprintf(`{"data":{"id":%d,"note":"x"}}`, id))
			want(t, s.ok(t, "root", "get_receipt", fmt.Sprintf(`{"id":%d}`, id)), `"x"`, "note")
		}
		s.databaseNotes(t, "no sequence fills the AUTO_INCREMENT columns KEYSPACE.receipt.id, KEYSPACE.stub.id of rows on several shards")
	})
}

func (s *suite) tellsOfShards(t *testing.T) {
	t.Helper()
	s.check(t, "texts that are equal in another case", func(t *testing.T) {
		s.databaseNotes(t, "rows lie on their shards by the bytes of KEYSPACE.item.sku, whose collations take texts in another case as equal")
		for model, hasKey := range map[string]bool{"item": false, "part": true} {
			if tools := s.statusOf(model).Tools; slices.Contains(tools, "delete_"+model) != hasKey {
				t.Errorf("%s has the tools %q", model, tools)
			}
		}
	})
	s.check(t, "what nobody can be served says why", func(t *testing.T) {
		for model, why := range map[string]string{
			"loose":   ".loose lies on several shards, and the VSchema has no rule for it; add one (ALTER VSCHEMA ON … ADD VINDEX …)",
			"numbers": "table plain." + numbersTable() + " is a sequence",
		} {
			if m := s.statusOf(model); m.Reason != contract.ReasonTableNotFound || !strings.Contains(m.Message, why) {
				t.Errorf("%s: %s %s, want %s", model, m.Reason, m.Message, why)
			}
		}
	})
}

func (s *suite) statusOf(model string) contract.ModelStatus {
	models := s.endpoint.Status().Models
	return models[slices.IndexFunc(models, func(m contract.ModelStatus) bool { return m.Name == model })]
}

// notes expects a note of a model's status.
func (s *suite) notes(t *testing.T, model, note string) {
	t.Helper()
	if got := s.statusOf(model).Notes; !slices.Contains(got, note) {
		t.Errorf("%s: the notes are %q, want %q", model, got, note)
	}
}

// databaseNotes expects the status of the database to have a piece of a note. KEYSPACE stands for the database's name.
func (s *suite) databaseNotes(t *testing.T, piece string) {
	t.Helper()
	piece = strings.ReplaceAll(piece, "KEYSPACE", s.sql(t, "select database()"))
	if notes := s.endpoint.Status().Database.Notes; !strings.Contains(notes, piece) {
		t.Errorf("the database's notes are %s, want %s", notes, piece)
	}
}
