package engines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// vectorTables are tables with what PostgreSQL has for words, by name: further columns, and what is made after the rows are there.
var vectorTables = []struct {
	name, columns, after string
	model                contract.Model
	// used is set if search may use it.
	used bool
}{
	{"generated", "words tsvector generated always as (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(body, ''))) stored", "", contract.Model{}, true},
	{"unshown", "words tsvector generated always as (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(body, ''))) stored", "", contract.Model{Exclude: []string{"words"}}, true},
	{"weighted", "words tsvector generated always as (setweight(to_tsvector('english', coalesce(title, '')), 'A') || setweight(to_tsvector('english', coalesce(body, '')), 'B')) stored",
		"create index on weighted using gin (words)", contract.Model{}, true},
	{"of_hidden", "words tsvector generated always as (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(body, ''))) stored", "", contract.Model{Exclude: []string{"body", "words"}}, false},
	{"of_masked", "words tsvector generated always as (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(body, ''))) stored", "",
		contract.Model{Exclude: []string{"words"}, Masked: []contract.MaskedField{{Name: "body"}}}, false},
	{"two_languages", "words tsvector generated always as (to_tsvector('english', coalesce(title, '')) || to_tsvector('german', coalesce(body, ''))) stored", "", contract.Model{}, false},
	{"by_trigger", "words tsvector", triggered, contract.Model{}, false},
	{"by_named", "words tsvector", strings.ReplaceAll(triggered, "by_trigger", "by_named"), contract.Model{SearchFields: []string{"words"}}, true},
	{"expressed", `x int`, "create index on expressed using gin (to_tsvector('english', title || ' ' || coalesce(body, ''::text)))", contract.Model{}, true},
	{"twice", `x int`, "create index on twice using gin (region, to_tsvector('english', (title)::text || ' ' || coalesce(body, '')))", contract.Model{}, true},
	{"by_gist", `x int`, "create index on by_gist using gist (to_tsvector('english', title || ' ' || coalesce(body, '')))", contract.Model{}, true},
	{"partly", `x int`, "create index on partly using gin (to_tsvector('english', title || ' ' || coalesce(body, ''))) where id > 0", contract.Model{}, false},
	{"kept", "words tsvector generated always as (to_tsvector('english', coalesce(title, '') || ' ' || coalesce(body, ''))) stored", "", contract.Model{SearchMode: contract.SearchContains}, false},
}

const triggered = `update by_trigger set words = to_tsvector('english', title || ' ' || body);
create trigger fill before insert or update on by_trigger for each row execute function tsvector_update_trigger(words, 'pg_catalog.english', title, body)`

func TestSearchByPostgreSQLsVectors(t *testing.T) {
	for _, engine := range allEngines() {
		if engine.Name != contract.EnginePostgreSQL {
			continue
		}
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			var script strings.Builder
			script.WriteString("create extension if not exists btree_gin;\n")
			var models []contract.Model
			for _, table := range vectorTables {
				fmt.Fprintf(&script, "create table %s (id int primary key, title varchar(200), body text, region varchar(10), %s);\ninsert into %[1]s (id, title, body, region) values %[3]s;\n%[4]s;\n",
					table.name, table.columns, articleRows, table.after)
				m := table.model
				m.Name, m.Table, m.Expose = table.name, table.name, true
				models = append(models, m)
			}
			// Names that need quotes, in an expression with another table's column of the same name.
			script.WriteString(`create table "Odd ""table" ("id" int primary key, "Ti""tle" text, "text" text, "order" text, region int references expressed);
insert into "Odd ""table" values (1, 'a comet', 'stars', 'bright', 1), (2, 'a planet', 'dust of comets', 'dim', 2);
create index on "Odd ""table" using gin (to_tsvector('english', coalesce("Ti""tle", '') || ' ' || coalesce("text"::text, '') || ' ' || coalesce("order", '')));`)
			models = append(models, contract.Model{Name: "odd", Table: `Odd "table`, Expose: true})
			opened, plain := engine.Open(t, script.String())
			noteVersion(t, engine, plain)
			s := &suite{engine, harness.Serve(t, opened, models, tokens(), withAudit), plain}
			for _, m := range s.endpoint.Status().Models {
				if !m.Served() {
					t.Fatalf("%s: %s %s", m.Name, m.Reason, m.Message)
				}
			}
			for _, table := range vectorTables {
				s.check(t, table.name, func(t *testing.T) {
					says, _ := at(t, s.ok(t, "root", "describe_"+table.name, `{}`), "asking", "search").(string)
					if (says != "") != table.used {
						t.Fatalf("describe says %q of search", says)
					}
					if !table.used {
						if got := s.searched(t, "root", table.name, "turbine"); got != "" && strings.HasPrefix(table.name, "of_") {
							t.Errorf("a hidden column is searched: %s", got)
						}
						return
					}
					for search, found := range map[string]string{
						"turbine": "2", "panels": "1 2", "POWERS -turbine": "1 5", `"sea power"`: "5", "ship or coffees": "3 5", "the ships": "5", "-power": "3 4 6", "the -power": "3 4 6",
					} {
						if got := sorted(s.searched(t, "root", table.name, search)); got != found {
							t.Errorf("%s finds %q, want %q", search, got, found)
						}
					}
					if got := s.searched(t, "root", table.name, "solar panel"); got != "1 2" {
						t.Errorf("solar panel finds %q, want 1 2: the best first", got)
					}
					if got := s.searched(t, "root", table.name, "the"); table.name != "by_named" && sorted(got) != "2 3" && sorted(got) != "3" {
						t.Errorf("a stop word alone finds %q", got)
					}
				})
			}
			s.check(t, "names in quotes, and joins", func(t *testing.T) {
				if engine.Title == "Pgpool-II" {
					t.Skip(`Pgpool-II finds no table with a " in its name (docs/failover.md)`)
				}
				list := s.ok(t, "root", "list_odd", `{"search": "comet", "fields": ["id", "region__title"], "filters": {"region__title__icontains": "power"}}`)
				if got := column(t, list, "id") + " " + column(t, list, "region__title"); got != "1 2 Solar power Wind power" {
					t.Errorf("comet finds %s", got)
				}
			})
		})
	}
}
