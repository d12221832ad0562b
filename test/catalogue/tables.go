// Package catalogue serves databases of many tables, and measures what tools/list costs an agent.
package catalogue

import (
	"fmt"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// The words that tables' names are made of: 26 times 25 are the 650 tables of the largest database.
var (
	subjects = strings.Fields(`account address batch branch budget campaign carrier contract customer delivery department
		employee fixture holiday invoice licence machine market order partner plant product project region supplier warehouse`)
	aspects = strings.Fields(`alert approval audit bonus category change claim comment contact cost document event forecast
		history item label limit note plan price quota rating schedule status visit`)
)

// tableName is the name of a table: no two have the same.
func tableName(i int) string {
	return subjects[i%len(subjects)] + "_" + aspects[i/len(subjects)]
}

// script makes so many ordinary tables, of eight columns each. Each refers to another: the first to itself.
func script(tables int) string {
	var b strings.Builder
	for i := range tables {
		name, parent := tableName(i), tableName(i/2)
		fmt.Fprintf(&b, `create table %s (
			id integer primary key,
			number varchar(20) not null unique,
			title varchar(120) not null,
			status varchar(20) not null default 'open' check (status in ('open', 'done', 'cancelled')),
			amount decimal(12,2),
			due_on date,
			updated_at timestamp not null default current_timestamp,
			%[2]s_id integer references %[2]s (id));
`, name, parent)
	}
	return b.String()
}

// models exposes the tables.
func models(tables int) []contract.Model {
	all := make([]contract.Model, tables)
	for i := range all {
		name := tableName(i)
		all[i] = contract.Model{Name: name, Table: name, Expose: true, Description: "One row is one " + strings.ReplaceAll(name, "_", " ") + "."}
	}
	return all
}

// ordinary is a table of eight columns that refers to one table, and is referred to by none.
const ordinary = `
create table author (id integer primary key, name varchar(80) not null);
create table book (
	id integer primary key,
	title varchar(120) not null,
	isbn varchar(13) not null unique,
	author_id integer not null references author (id),
	status varchar(20) not null default 'draft' check (status in ('draft', 'out', 'sold')),
	price decimal(10,2),
	published date,
	updated_at timestamp not null default current_timestamp);
`
