package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Tables whose hidden or masked foreign keys the database follows in each way.
const hiddenKeys = `
create table gone (id int primary key, name varchar(20));
create table emptied (id int primary key, name varchar(20));
create table renamed (id int primary key, code varchar(20) unique, name varchar(20));
create table secretly (id int primary key, code varchar(20) unique);
create table kept (id int primary key, name varchar(20));
create table top (id int primary key, name varchar(20));
create table middle (id int primary key, top_id int, foreign key (top_id) references top (id) on delete cascade);
create table child (
  id int primary key, label varchar(20), gone_id int, emptied_id int, renamed_code varchar(20), secret_code varchar(20), kept_id int, keeper_id int, middle_id int,
  foreign key (gone_id) references gone (id) on delete cascade,
  foreign key (emptied_id) references emptied (id) on delete set null,
  foreign key (renamed_code) references renamed (code) on update cascade,
  foreign key (secret_code) references secretly (code) on delete cascade on update cascade,
  foreign key (kept_id) references kept (id) on delete cascade,
  foreign key (keeper_id) references kept (id),
  foreign key (middle_id) references middle (id) on delete cascade);
insert into gone values (1, 'a'), (2, 'b');
insert into emptied values (1, 'a'), (2, 'b');
insert into renamed values (1, 'x', 'a'), (2, 'y', 'b');
insert into secretly values (1, 'x'), (2, 'y');
insert into kept values (1, 'a'), (2, 'b');
insert into top values (1, 'a'), (2, 'b'), (3, 'c');
insert into middle values (1, 1), (2, 2);
insert into child values (1, 'one', 1, 1, 'x', 'x', 1, 1, 1), (2, 'two', null, null, null, null, 2, null, null)`

func hiddenKeyModels() []contract.Model {
	var models []contract.Model
	for _, name := range []string{"gone", "emptied", "renamed", "kept", "top", "middle"} {
		models = append(models, contract.Model{Name: name, Table: name, Expose: true})
	}
	return append(models,
		contract.Model{Name: "secretly", Table: "secretly", Expose: true, Exclude: []string{"code"}},
		contract.Model{Name: "child", Table: "child", Expose: true, Exclude: []string{"gone_id", "renamed_code", "keeper_id", "middle_id"}, Masked: []contract.MaskedField{{Name: "emptied_id"}}})
}

func TestNoCallTellsWhatAHiddenForeignKeyNames(t *testing.T) {
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			skipOverShards(t, engine, betweenShards)
			database, plain := engine.Open(t, hiddenKeys)
			s := &suite{engine, harness.Serve(t, database, hiddenKeyModels(), tokens(), withAudit), plain}
			// The first of two rows is referred to by a hidden key, the second is not.
			alike := func(t *testing.T, tool, arguments, code, says string) {
				t.Helper()
				for id := 1; id <= 2; id++ {
					if got := fmt.Sprint(s.fails(t, "root", tool, fmt.Sprintf(arguments, id), code)); !strings.Contains(got, says) {
						t.Errorf("row %d: %s, want %q in it", id, got, says)
					}
				}
			}
			for _, model := range []string{"gone", "emptied", "secretly"} {
				s.check(t, "no deletion of "+model+" is offered", func(t *testing.T) {
					alike(t, "delete_"+model, `{"id":%d,"dry_run":true}`, "permission_denied", "delete is not offered")
					alike(t, "delete_"+model, `{"id":%d}`, "permission_denied", "delete is not offered")
					alike(t, "bulk_"+model, `{"operation":"delete","items":[%d]}`, "invalid_argument", "operation must be one of create, update")
					alike(t, "action_"+model, `{"action":"delete_selected","ids":[%d]}`, "permission_denied", "not offered")
					alike(t, "transact", `{"steps":[{"tool":"delete_`+model+`","arguments":{"id":%d}},{"tool":"list_child","arguments":{}}],"dry_run":true}`, "permission_denied", "not offered")
					for _, tool := range s.listed(t, "root", "") {
						if tool == "delete_"+model {
							t.Error("it is in the list of tools")
						}
					}
				})
			}
			s.check(t, "undo deletes no row that was created", func(t *testing.T) {
				made := s.ok(t, "root", "create_gone", `{"data":{"id":3,"name":"c"}}`)
				s.fails(t, "root", "undo", fmt.Sprintf(`{"call":%q,"dry_run":true}`, made["call"]), "protected")
			})
			s.check(t, "no value that it refers to changes", func(t *testing.T) {
				alike(t, "update_renamed", `{"id":%d,"data":{"code":"z"},"dry_run":true}`, "protected", "other records may depend on it")
				s.ok(t, "root", "update_renamed", `{"id":1,"data":{"name":"c"}}`)
			})
			s.check(t, "a deletion that leads to rows with such a key goes no further", func(t *testing.T) {
				alike(t, "delete_top", `{"id":%d,"dry_run":true}`, "protected", "other records may depend on it")
				s.ok(t, "root", "delete_top", `{"id":3}`)
			})
			s.check(t, "a visible key is followed, whatever a hidden one names", func(t *testing.T) {
				for id := 1; id <= 2; id++ {
					got := s.ok(t, "root", "delete_kept", fmt.Sprintf(`{"id":%d,"dry_run":true}`, id))
					want(t, got, fmt.Sprintf(`"Would delete kept %d, and with it 1 child"`, id), "message")
				}
			})
			s.check(t, "the exposure says why", func(t *testing.T) {
				for _, m := range s.endpoint.Status().Models {
					said := strings.Contains(fmt.Sprint(m.Notes), "No delete: the database would delete or change rows of ")
					if hides := m.Name == "gone" || m.Name == "emptied" || m.Name == "secretly" || m.Name == "middle"; said != hides {
						t.Errorf("the notes of %s are %q", m.Name, m.Notes)
					}
				}
			})
			s.holds(t, "select count(*) from child where gone_id = 1 and emptied_id = 1 and renamed_code = 'x' and secret_code = 'x'", "1")
		})
	}
}
