package observe

import (
	"encoding/json"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestAReportIsReadAsItWasWritten(t *testing.T) {
	want := contract.Status{Serial: "a", Revision: 7, Ready: true, Models: []contract.ModelStatus{{Name: "order", Columns: []string{"id"}}, {Name: "line"}}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{string(text), strings.Replace(string(text), `"ready"`, `"unknown":[1],"ready"`, 1)} {
		if got, err := readReport([]byte(body)); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v %v", body, got, err)
		}
	}
	if got, err := readReport([]byte(`{"serial":"a","models":null}`)); err != nil || len(got.Models) != 0 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestAHostileReportCostsLittle(t *testing.T) {
	for name, body := range map[string]string{
		"many empty models": `{"serial":"a","models":[` + strings.Repeat("{},", 300000) + `{}]}`,
		"many bytes":        `{"serial":"a","models":[` + strings.Repeat("{},", 4000000) + `{}]}`,
		"no status":         `[[[`,
		"no models":         `{"serial":"a","models":7}`,
		"no serial":         `{}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		report, err := readReport([]byte(body))
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s was taken: %+v", name, report)
		} else if len(err.Error()) > 200 {
			t.Errorf("%s: %d bytes are said", name, len(err.Error()))
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 32<<20 {
			t.Errorf("%s took %d MiB", name, grown>>20)
		}
	}
}
