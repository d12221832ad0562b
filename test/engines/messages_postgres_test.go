package engines

import (
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// oddities is a table of the types and rules that PostgreSQL alone has.
const oddities = `
create extension if not exists btree_gist;
create table oddity (
  id int primary key, address inet, net cidr, card macaddr, span int4range, spans int4multirange, clock time, ratio real, place point, doc xml,
  vector tsvector, hundreds numeric(3,-2), fraction numeric(2,4), code char(3), numbers int[], amount money, wait interval, mask bit(3),
  room int, during int4range, exclude using gist (room with =, during with &&));
insert into oddity (id, room, during) values (1, 1, '[1,5)');
create table log (id int not null, year int not null, primary key (id, year)) partition by list (year);
create table log_2020 partition of log for values in (2020);`

// What does not fit a type of PostgreSQL's is told with the form that would.
func TestMessagesOfPostgreSQL(t *testing.T) {
	for _, engine := range harness.Engines {
		if engine.Name != contract.EnginePostgreSQL {
			continue
		}
		database, plain := engine.Open(t, oddities)
		served := []contract.Model{{Name: "oddity", Table: "oddity", Expose: true}, {Name: "log", Table: "log", Expose: true}}
		s := &suite{engine, harness.Serve(t, database, served, tokens()), plain}
		s.tells(t, messagesOfPostgreSQL)
	}
}

var messagesOfPostgreSQL = []messageRow{
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"address":"x"}}`,
		want: `address: must be an IP address, with or without the length of its network: 192.0.2.1 or 192.0.2.0/24, not "x"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"net":"192.0.2.1/24"}}`,
		want: `net: must be a network without bits of a host: 192.0.2.0/24, not "192.0.2.1/24"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"card":"x"}}`,
		want: `card: must be a MAC address: 08:00:2b:01:02:03, not "x"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"span":"[5,1)"}}`,
		want: `span: must be a range of the type int4range: [1,5), not "[5,1)"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"span":"x"}}`,
		want: `span: must be a range of the type int4range: [1,5), not "x"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"spans":"x"}}`,
		want: `spans: must be ranges of the type int4multirange: {[1,3),[5,8)}, not "x"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"clock":"25:00"}}`,
		want: `clock: must be a time, HH:MM:SS, not "25:00"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"ratio":1e300}}`,
		want: `ratio: must lie in the range of real, not 1e+300`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"place":"x"}}`,
		want: `place: must be a point: (1,2), not "x"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"doc":"<a>"}}`,
		want: `doc: must be well-formed XML, not "<a>"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"vector":"'cat"}}`,
		want: `vector: must be a text search vector: 'cat':1 'dog':2, not "'cat"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"hundreds":12345}}`,
		want: `hundreds: must be a multiple of 1e2`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"hundreds":1e6}}`,
		want: `hundreds: must have at most 5 digits before the point, not 7`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"code":"abcd"}}`,
		want: `code: must have at most 3 characters, not 4`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"numbers":5}}`,
		want: `numbers: must be an array of integer values, not 5`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"numbers":[1,"x"]}}`,
		want: `numbers: each value must be an integer, or a string of its digits, not "x"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"numbers":[[1],[2,3]]}}`,
		want: `numbers: must be an array whose inner arrays are all of one length`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"numbers":[[1],2]}}`,
		want: `numbers: must not mix values and arrays`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"numbers":[99999999999]}}`,
		want: `numbers: must lie in the range of integer[]`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"amount":"x"}}`,
		want: `amount: must be an amount of money: 12.34, not "x"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"wait":"soon"}}`,
		want: `wait: must be an interval: 1 day 02:03:04, not "soon"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"mask":"12"}}`,
		want: `mask: must be a string of zeros and ones, not "12"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"mask":"1010"}}`,
		want: `mask: must have at most 3 bits, not 4`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"address":5}}`,
		want: `address: must be a string, not 5`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"room":1,"during":"[4,6)"}}`,
		want: `room: another row conflicts with this value, says the database's rule oddity_room_during_excl; during: another row conflicts with this value, says the database's rule oddity_room_during_excl`},
	{token: "root", tool: "create_log", arguments: `{"data":{"id":1,"year":2021}}`,
		want: `year: the database has no partition for this value`},
	{token: "root", tool: "list_oddity", arguments: `{"filters":{"address":"x"}}`,
		want: `filters: address: must be an IP address, with or without the length of its network: 192.0.2.1 or 192.0.2.0/24, not "x"`},
	{token: "root", tool: "list_oddity", arguments: `{"filters":{"span":"x"}}`,
		want: `filters: span: must be a range of the type int4range: [1,5), not "x"`},
	{token: "root", tool: "list_oddity", arguments: `{"filters":{"place":"x"}}`,
		want: `filters: place: exact is not offered for a field of type other; its lookups are isnull`},
	{token: "root", tool: "list_oddity", arguments: `{"filters":{"numbers":[1]}}`,
		want: `filters: numbers: exact is not offered for a field of type array; its lookups are isnull`},
	{token: "root", tool: "list_oddity", arguments: `{"filters":{"amount":"x"}}`,
		want: `filters: amount: must be an amount of money: 12.34, not "x"`},
	{token: "root", tool: "list_oddity", arguments: `{"filters":{"wait":"soon"}}`,
		want: `filters: wait: must be an interval: 1 day 02:03:04, not "soon"`},
	{token: "root", tool: "list_oddity", arguments: `{"filters":{"clock":"noon"}}`,
		want: `filters: clock: must be a time, HH:MM:SS, not "noon"`},
	{token: "root", tool: "create_oddity", arguments: `{"data":{"id":2,"fraction":"0.01"}}`,
		want: `fraction: must be less than 1e-2 in size`},
}
