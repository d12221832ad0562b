package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

// linter gathers findings about objects.
type linter struct {
	report  report
	objects *manifests.Objects
}

// check reads the files and says what is wrong with their objects.
func check(ctx context.Context, paths []string, namespace string) (*report, error) {
	objects, err := manifests.Read(ctx, paths, namespace)
	if err != nil {
		return nil, err
	}
	l := &linter{objects: objects, report: report{Findings: []finding{}, Files: objects.Files, Objects: objects.Read}}
	for _, p := range objects.Problems {
		l.add(finding{File: p.File, Line: p.Line, Severity: severityError, Object: p.Object, Field: p.Field, Message: p.Message})
	}
	l.compile()
	slices.SortStableFunc(l.report.Findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return &l.report, nil
}

func (l *linter) add(f finding) { l.report.Findings = append(l.report.Findings, f) }

// at adds a finding about a field of an object.
func (l *linter) at(object, severity, path, message string) {
	place := l.objects.PlaceOf(object, path)
	l.add(finding{File: place.File, Line: place.Line, Severity: severity, Object: object, Field: path, Message: message})
}

// noEndpoint says that an object's endpoint is not among the files.
func (l *linter) noEndpoint(object string, of types.NamespacedName) {
	if slices.ContainsFunc(l.objects.Refused, func(r manifests.Refused) bool { return r.Kind == "MCPEndpoint" && r.Key == of }) {
		return // the endpoint's own finding says so
	}
	message := fmt.Sprintf("the files hold no MCPEndpoint %s, so the names in this object are not checked", of)
	var names []string
	for i := range l.objects.Endpoints {
		names = append(names, client.ObjectKeyFromObject(&l.objects.Endpoints[i]).String())
	}
	if i := spelling.Nearest(of.String(), names); i >= 0 {
		message += fmt.Sprintf("; the nearest is %s", names[i])
	}
	l.at(object, severityWarning, "spec.endpointRef.name", message)
}
