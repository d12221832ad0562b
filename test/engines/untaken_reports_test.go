package engines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// guests has a table that reports are about.
const guests = `
create table visit (id int primary key, guest varchar(20), day date);
insert into visit values (1, 'Ada', '2026-01-01');`

// secretWord stands in the statements of reports, and nothing may tell it.
const secretWord = "a-secret-word"

type untakenReport struct{ name, statement, want string }

// untakenReports are queries, and what the exposure's status says of each.
var untakenReports = []untakenReport{
	{"no_table", "select * from nosuch where note = '" + secretWord + "'", "it names a table that is not there, or that the database's user may not see ("},
	{"no_column", "select v.nosuch from visit v where guest = '" + secretWord + "'", "it names a column that is not there ("},
	{"no_function", "select nosuch(guest) from visit where guest = '" + secretWord + "'", "it calls a function that the database does not have, or not for values of these types ("},
	{"no_sql", "select from where '" + secretWord + "'", "the database does not understand it, as it is not written in the SQL of this database."},
	{"no_group", "select guest, count(*) from visit group by nosuch", "it names a column that is not there ("},
}

// untakenByGateway is one of takenReports that vtgate does not take.
var untakenByGateway = untakenReport{"own", "", "the database does not take it (the gateway prepares nothing that begins with WITH;"}

// takenReports are queries that each engine takes, with what stands for the caller.
var takenReports = []contract.Report{
	{Name: "all", IgnoresPolicies: true, Statement: "select id, guest from visit where day >= :since and guest <> :token", Parameters: []contract.Parameter{{Name: "since", Type: "Date", Required: true}}},
	{Name: "own", IgnoresPolicies: true, Statement: "with own as (select guest, id from visit) select guest, count(*) as n from own where guest in (:groups) or guest = :attribute_region or id = :id group by guest",
		Parameters: []contract.Parameter{{Name: "id", Type: "Integer"}}},
}

func TestReportsThatTheDatabaseDoesNotTakeAreInTheStatus(t *testing.T) {
	model := contract.Model{Name: "visit", Table: "visit", Expose: true, Reports: append([]contract.Report{}, takenReports...)}
	for _, r := range untakenReports {
		model.Reports = append(model.Reports, contract.Report{Name: r.name, IgnoresPolicies: true, Statement: r.statement})
	}
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, _ := engine.Open(t, guests)
			endpoint := harness.Serve(t, database, []contract.Model{model}, tokens())
			untaken := untakenReports
			if engine.Gateway {
				untaken = slices.Insert(slices.Clone(untaken), 0, untakenByGateway)
			}
			if engine.Shards { // the gateway asks no shard for columns before a query runs
				untaken = slices.DeleteFunc(untaken, func(r untakenReport) bool { return strings.Contains(r.want, "names a column") })
			}
			notes := notesOfReports(t, endpoint, len(untaken))
			for i, r := range untaken {
				begin := fmt.Sprintf("The report %s cannot be run: ", r.name)
				if !strings.HasPrefix(notes[i], begin) || !strings.HasSuffix(notes[i], ". Correct its statement in spec.actions, or the database.") {
					t.Errorf("%q, want it to begin with %q and to say what to do", notes[i], begin)
				}
				if said := strings.TrimPrefix(notes[i], begin); (r.name == untakenByGateway.name || !engine.Gateway) && (!strings.HasPrefix(said, r.want) || strings.HasSuffix(r.want, "(") != strings.Contains(said, "nosuch)")) {
					t.Errorf("%q, want %q, and the name of what is not there", notes[i], r.want)
				}
				if strings.Contains(notes[i], secretWord) {
					t.Errorf("%q tells what the statement compares with", notes[i])
				}
			}
		})
	}
}

// Trying again does not help who calls a report that names what is not there.
func TestAReportThatDoesNotFitTheDatabaseIsNotTriedAgain(t *testing.T) {
	const told = `"the report does not fit the database, and trying again will not help; whoever administers the endpoint must mend it, and finds the cause in the exposure's status"`
	model := contract.Model{Name: "visit", Table: "visit", Expose: true, Reports: []contract.Report{
		{Name: "no_column", IgnoresPolicies: true, Statement: "select v.nosuch from visit v"},
		{Name: "no_table", IgnoresPolicies: true, Statement: "select * from nosuch"},
	}}
	everything := contract.Rule{Models: []string{"*"}, Verbs: []string{"view", "export"}, Actions: []string{"*"}}
	exporter := contract.Token{Namespace: "test", Name: "exporter", Hashes: []string{contract.HashToken(secret("exporter"))}, Rules: []contract.Rule{everything}}
	for _, engine := range allEngines() {
		t.Run(engine.Title, func(t *testing.T) {
			t.Parallel()
			database, plain := engine.Open(t, guests)
			s := &suite{engine, harness.Serve(t, database, []contract.Model{model}, append(tokens(), exporter)), plain}
			for _, report := range model.Reports {
				for _, more := range []string{"", `,"export":"csv"`} {
					s.check(t, report.Name+more, func(t *testing.T) {
						failed := s.fails(t, "exporter", "report_visit", `{"report":"`+report.Name+`"`+more+`}`, "internal")
						if !engine.Gateway { // which says less of what is wrong
							want(t, failed, told, "error")
						}
					})
				}
			}
		})
	}
}

// notesOfReports waits until so many notes about reports are in the status of the first model.
func notesOfReports(t *testing.T, endpoint *harness.Endpoint, count int) []string {
	t.Helper()
	var notes []string
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		notes = nil
		for _, note := range endpoint.Status().Models[0].Notes {
			if strings.HasPrefix(note, "The report ") {
				notes = append(notes, note)
			}
		}
		if len(notes) == count {
			return notes
		}
	}
	t.Fatalf("the status has %q, want %d notes about reports", notes, count)
	return nil
}
