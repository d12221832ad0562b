package rights

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/output"
)

const shop = `apiVersion: mcpadmin.dev/v1alpha1
kind: MCPEndpoint
metadata: {name: shop, namespace: shop}
spec:
  database: {sqlite: {emptyDir: {}}}
  groups:
  - name: readers
    permissions: [{models: ["*"], verbs: [view]}]
  - name: clerks
    permissions: [{models: [order], verbs: [view, change, delete, export]}]
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: order, namespace: shop}
spec:
  endpointRef: {name: shop}
  table: {name: orders}
  fields: {masked: [{name: iban}], exclude: [notes], readOnly: [total]}
  rowPolicies:
  - {name: everything, groups: [readers], allRows: true}
  - {name: own-region, groups: [clerks], filters: [{field: region, tokenAttribute: region}]}
---
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPModelExposure
metadata: {name: customer, namespace: shop}
spec: {endpointRef: {name: shop}, table: {name: customers}}
`

func tokenOf(name, spec string) string {
	return fmt.Sprintf("---\napiVersion: mcpadmin.dev/v1alpha1\nkind: MCPToken\nmetadata: {name: %s, namespace: shop}\nspec: {endpointRef: {name: shop}, %s}\n", name, spec)
}

// run runs a command over manifests, and returns what it printed and its error.
func run(t *testing.T, command *cobra.Command, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "a.yaml")
	all := shop + tokenOf("ann", "groups: [readers]") + tokenOf("bob", "groups: [readers]") +
		tokenOf("clerk", "groups: [clerks], attributes: {region: north}") + tokenOf("old", `groups: [clerks], expiry: "2020-01-01T00:00:00Z"`)
	if err := os.WriteFile(file, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	command.SetOut(&out)
	command.SetErr(&out)
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetArgs(append(args, "-f", file))
	err := command.ExecuteContext(t.Context())
	return out.String(), err
}

func TestTheMatrixHasALineForEachSetOfRights(t *testing.T) {
	out, err := run(t, MatrixCommand())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"TOKEN                    GROUPS    CUSTOMER   ORDER\n",
		"shop/ann and 1 like it   readers   v----      v----\n",
		"shop/clerk               clerks    -----      v-cde own-region\n",
		"order: masked: iban; hidden: notes (by spec.fields.exclude)\n",
		"The database was not asked: only it knows which columns are hidden for their names",
		"Tokens that let nobody in: 1; -o json says why.",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
}

func TestTheMatrixAsCSVHasALineForEachTokenAndModel(t *testing.T) {
	out, err := run(t, MatrixCommand(), "--csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(lines) != 1+3*2 {
		t.Fatalf("%v, %d lines, want 7:\n%s", err, len(lines), out)
	}
	want := "shop/clerk,clerks,order,true,false,true,true,true,delete_selected,own-region,iban,notes"
	if !strings.Contains(out, want+"\n") {
		t.Errorf("it lacks %s:\n%s", want, out)
	}
}

func TestWhoReachesAModelOrAColumn(t *testing.T) {
	for of, wants := range map[string][]string{
		"order":       {"shop/ann and 1 like it view all group readers", "shop/clerk view, change, delete, export own-region group clerks"},
		"customer":    {"shop/ann and 1 like it view all group readers"},
		"order.iban":  {"order.iban is masked.", "shop/ann and 1 like it view (masked) all", "shop/clerk view (masked), export (masked) own-region"},
		"order.notes": {"order.notes is hidden by spec.fields.exclude.", "No token of MCPEndpoint shop/shop reaches order.notes."},
		"order.total": {"order.total is not known: the database was not asked.", "The database was not asked: only it knows which columns are hidden for their names"},
	} {
		out, err := run(t, WhoCommand(), of)
		if err != nil {
			t.Errorf("%s: %v", of, err)
		}
		flat := strings.Join(strings.Fields(out), " ")
		for _, want := range wants {
			if !strings.Contains(flat, want) {
				t.Errorf("%s: the output lacks %q:\n%s", of, want, out)
			}
		}
		if strings.Contains(out, "shop/old") {
			t.Errorf("%s: a token that is not in force is told:\n%s", of, out)
		}
	}
	if out, err := run(t, WhoCommand(), "ordr"); err == nil || !strings.Contains(err.Error(), `the nearest is "order"`) {
		t.Errorf("ordr: %v\n%s", err, out)
	}
}

func TestColumnsAreToldByTheStatus(t *testing.T) {
	m := Model{Name: "customer", Shown: []string{"id", "name"}, Masked: []string{"email"}, Hidden: []string{"password"}, ReadOnly: []string{"id"}}
	for column, want := range map[string]string{"id": readOnly, "name": shown, "email": masked, "password": "hidden for its name"} {
		if got, err := m.State(column); got != want || err != nil {
			t.Errorf("%s is %q, %v, want %q", column, got, err, want)
		}
	}
	if _, err := m.State("nam"); err == nil || !strings.Contains(err.Error(), `the nearest is "name"`) {
		t.Error(err)
	}
}

// who says of actions who may run them, and of a column which of them set it, also if nobody may change it otherwise.
func TestActionsAreWaysToChangeAModel(t *testing.T) {
	o := manyObjects(1)
	set := func(field string) *v1alpha1.UpdateActionSpec {
		return &v1alpha1.UpdateActionSpec{Set: []v1alpha1.FieldAssignment{{Field: field, Source: v1alpha1.AssignValue, Value: new("x")}}}
	}
	x := &o.Exposures[0]
	x.Spec.Actions = []v1alpha1.ActionSpec{{Name: "ship", Update: set("state")}, {Name: "raise", Update: set("salary")}}
	x.Spec.Fields.Exclude = []string{"salary"}
	x.Status.Columns, x.Status.HiddenColumns = []string{"id", "state"}, []string{"pin"}
	o.Endpoint.Spec.Groups[0].Permissions[0].Actions = []string{"ship", "raise"}
	m, err := o.Matrix(time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if got := Cell(&m.Callers[0].Access[0]); got != "v---- +ship +raise" {
		t.Errorf("the cell is %q", got)
	}
	if got := m.Models[0].Concealed(); got != "hidden: pin (for its name), salary (by spec.fields.exclude)" {
		t.Errorf("concealed is %q", got)
	}
	for of, want := range map[string]string{"m0": "view; actions ship, raise", "m0.state": "view; action ship", "m0.salary": "action raise", "m0.id": "view"} {
		w, err := m.Who(of)
		if err != nil || len(w.Callers) != 1 || w.Callers[0].May() != want {
			t.Errorf("%s: %+v, %v, want %s", of, w, err, want)
		}
	}
	if w, err := m.Who("m0.pin"); err != nil || len(w.Callers) != 0 || w.State != "hidden for its name" {
		t.Errorf("%+v, %v", w, err)
	}
}

// A model that is not served is told as that, and not as one that is not there.
func TestAModelThatIsNotServedIsToldWithTheReason(t *testing.T) {
	o := manyObjects(1)
	o.Exposures[3].Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionResolved, Status: metav1.ConditionFalse, Reason: "InvalidField", Message: "no column wrad; the nearest is ward"}}
	o.Exposures[4].Spec.Actions = []v1alpha1.ActionSpec{{Name: "odd", SQL: &v1alpha1.SQLActionSpec{Statements: []string{"update m4 set a = 'open"}}}}
	m, err := o.Matrix(time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Who("m3.phone"); err == nil || err.Error() != "m3 is not served: InvalidField: no column wrad; the nearest is ward" {
		t.Error(err)
	}
	if _, err := m.Who("m4"); err == nil || !strings.Contains(err.Error(), "m4 is not served: ") {
		t.Error(err)
	}
	var out bytes.Buffer
	m.show(output.NewScreen(&out))
	if !strings.Contains(out.String(), "m3 is not served: InvalidField: no column wrad") {
		t.Error(out.String())
	}
}

// Ten thousand tokens are one line for each set of rights, and cost little more than reading them.
func BenchmarkTheMatrixOfTenThousandTokens(b *testing.B) {
	o := manyObjects(10_000)
	for b.Loop() {
		m, err := o.Matrix(time.Unix(0, 0))
		if err != nil || len(m.Callers) != 10 {
			b.Fatalf("%d lines, %v", len(m.Callers), err)
		}
	}
}

func manyObjects(tokens int) *Objects {
	e := &v1alpha1.MCPEndpoint{}
	e.Namespace, e.Name = "shop", "shop"
	e.Spec.Database.SQLite = &v1alpha1.SQLiteSpec{EmptyDir: &v1alpha1.SQLiteEmptyDir{}}
	o := &Objects{Endpoint: e}
	for i := range 10 {
		e.Spec.Groups = append(e.Spec.Groups, v1alpha1.Group{Name: fmt.Sprint("g", i),
			Permissions: []v1alpha1.PermissionRule{{Models: []string{fmt.Sprint("m", i)}, Verbs: []v1alpha1.Verb{"view"}}}})
		x := v1alpha1.MCPModelExposure{}
		x.Namespace, x.Name, x.Spec.EndpointRef.Name, x.Spec.Table.Name = "shop", fmt.Sprint("m", i), "shop", fmt.Sprint("m", i)
		o.Exposures = append(o.Exposures, x)
	}
	for i := range tokens {
		t := v1alpha1.MCPToken{}
		t.Namespace, t.Name, t.Spec.EndpointRef.Name, t.Spec.Groups = "shop", fmt.Sprint("t", i), "shop", []string{fmt.Sprint("g", i%10)}
		o.Tokens = append(o.Tokens, t)
	}
	return o
}
