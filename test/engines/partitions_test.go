package engines

import (
	"fmt"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// divided are partitioned tables that refer to each other; the partitions of one have partitions themselves.
const divided = `
create table parcel (id int, region varchar(10), note varchar(40), weight int check (weight > 0), twice int generated always as (weight * 2) stored, primary key (id, region)) partition by list (region);
create table parcel_near partition of parcel for values in ('near');
create table parcel_far partition of parcel for values in ('far') partition by range (id);
create table parcel_far_low partition of parcel_far for values from (0) to (100);
create table label (id int primary key, parcel_id int, region varchar(10), foreign key (parcel_id, region) references parcel on delete cascade on update cascade) partition by hash (id);
create table label_0 partition of label for values with (modulus 2, remainder 0);
create table label_1 partition of label for values with (modulus 2, remainder 1);
insert into parcel values (1, 'near', 'one', 3), (2, 'far', 'two', 5), (3, 'near', 'three', 7);
insert into label values (1, 1, 'near'), (2, 1, 'near'), (3, 2, 'far');`

func TestPartitionedTables(t *testing.T) {
	for _, engine := range allEngines() {
		if engine.Name != contract.EnginePostgreSQL {
			continue
		}
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, divided)
			noteVersion(t, engine, plain)
			served := []contract.Model{
				{Name: "parcel", Table: "parcel", Expose: true}, {Name: "label", Table: "label", Expose: true}, {Name: "near_parcel", Table: "parcel_near", Expose: true},
			}
			s := &suite{engine, harness.Serve(t, database, served, tokens(), withAudit), plain}
			s.check(t, "rows of all partitions are one table, wherever they move", func(t *testing.T) {
				moved := s.ok(t, "root", "update_parcel", `{"id":"3,near","data":{"weight":8}}`)
				want(t, moved, `16`, "object", "twice")
				s.sql(t, "update parcel set region = 'far' where id = 3")
				s.holds(t, "select id from parcel_far_low order by id", "2 3")
				want(t, s.ok(t, "root", "list_parcel", `{"limit":2,"order_by":["-weight"],"fields":["id"]}`), `[{"id":3,"pk":"3,far"},{"id":2,"pk":"2,far"}]`, "results")
			})
			s.check(t, "a deletion tells the rows that go along once, and undo brings them back", func(t *testing.T) {
				s.deletesLabels(t, "parcel", `{"id":"1,near"`)
			})
			s.check(t, "so does one from the partition alone", func(t *testing.T) {
				s.deletesLabels(t, "near_parcel", `{"id":"1,near"`)
			})
		})
	}
}

// deletesLabels deletes a parcel with two labels and takes it back; which names it.
func (s *suite) deletesLabels(t *testing.T, model, which string) {
	t.Helper()
	want(t, s.ok(t, "root", "delete_"+model, which+`,"dry_run":true}`), fmt.Sprintf(`"Would delete %s 1,near, and with it 2 labels"`, model), "message")
	gone := s.ok(t, "root", "delete_"+model, which+`}`)
	s.holds(t, "select id from label order by id", "3")
	s.ok(t, "root", "undo", fmt.Sprintf(`{"call":%q}`, gone["call"]))
	s.holds(t, "select id from label order by id", "1 2 3")
}
