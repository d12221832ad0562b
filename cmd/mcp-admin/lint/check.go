package lint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/manifests"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
	"github.com/mcp-admin/mcp-admin-operator/controllers/compile"
)

// linter gathers objects and findings.
type linter struct {
	report    report
	namespace string
	schemas   *schemas
	// places are the documents of the objects, by "Kind namespace/name".
	places map[string]*document

	endpoints []*v1alpha1.MCPEndpoint
	exposures []v1alpha1.MCPModelExposure
	tokens    []v1alpha1.MCPToken
	// spoilt are the endpoints that are there and cannot be used.
	spoilt map[types.NamespacedName]bool
	// incomplete are the endpoints of exposures that cannot be used: that a name does not exist there means nothing.
	incomplete map[types.NamespacedName]bool
	secrets    map[types.NamespacedName]compile.WebhookSecret
	labels     map[string]map[string]string
}

// check reads the files and says what is wrong with their objects.
func check(ctx context.Context, paths []string, namespace string) (*report, error) {
	all, err := loadSchemas()
	if err != nil {
		return nil, err
	}
	l := &linter{
		namespace: namespace, schemas: all, report: report{Findings: []finding{}}, places: map[string]*document{},
		spoilt: map[types.NamespacedName]bool{}, incomplete: map[types.NamespacedName]bool{}, secrets: map[types.NamespacedName]compile.WebhookSecret{}, labels: map[string]map[string]string{},
	}
	for _, path := range paths {
		files, err := manifests.Files(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			l.report.Files++
			documents, err := l.read(file)
			if err != nil {
				return nil, err
			}
			for i := range documents {
				if err := l.take(ctx, &documents[i]); err != nil {
					return nil, err
				}
			}
		}
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
	d := l.places[object]
	l.add(finding{File: d.file, Line: d.line(path), Severity: severity, Object: object, Field: path, Message: message})
}

// take checks one document, and keeps its object.
func (l *linter) take(ctx context.Context, d *document) error {
	h := headOf(d.json)
	if h.Kind == "" || h.APIVersion == "" {
		l.add(finding{File: d.file, Line: d.line(""), Severity: severityError, Message: "it is no object of Kubernetes: apiVersion or kind is missing"})
		return nil
	}
	key := types.NamespacedName{Namespace: cmp.Or(h.Metadata.Namespace, l.namespace), Name: h.Metadata.Name}
	object := h.Kind + " " + key.String()
	l.report.Objects++
	ours := strings.HasPrefix(h.APIVersion, v1alpha1.GroupVersion.Group+"/")
	switch {
	case h.APIVersion+" "+h.Kind == "v1 Namespace":
		var namespace corev1.Namespace
		if json.Unmarshal(d.json, &namespace) == nil {
			l.labels[key.Name] = labels.Merge(namespace.Labels, labels.Set{corev1.LabelMetadataName: key.Name})
		}
	case h.APIVersion+" "+h.Kind == "v1 Secret":
		l.takeSecret(d, key)
	case !ours:
	case l.places[object] != nil:
		l.add(finding{
			File: d.file, Line: d.line("metadata.name"), Severity: severityError, Object: object,
			Message: fmt.Sprintf("it is in %s, line %d, too", l.places[object].file, l.places[object].line("metadata.name")),
		})
	default:
		l.places[object] = d
		return l.takeOurs(ctx, d, h, key, object)
	}
	return nil
}

func (l *linter) takeSecret(d *document, key types.NamespacedName) {
	var secret corev1.Secret
	if json.Unmarshal(d.json, &secret) != nil {
		return
	}
	data := map[string][]byte{}
	for name, value := range secret.Data {
		data[name] = value
	}
	for name, value := range secret.StringData {
		data[name] = []byte(value)
	}
	l.secrets[key] = compile.WebhookSecret{Host: secret.Annotations[v1alpha1.WebhookHostAnnotation], Data: data}
}

// takeOurs checks an object of the API as an API server would, and by the rules in Go.
func (l *linter) takeOurs(ctx context.Context, d *document, h head, key types.NamespacedName, object string) error {
	schema, err := l.schemas.of(h.APIVersion + " " + h.Kind)
	if err != nil {
		return err
	}
	if schema == nil {
		l.at(object, severityError, "kind", fmt.Sprintf("%s has no kind %s", h.APIVersion, h.Kind))
		return nil
	}
	if key.Name == "" {
		l.at(object, severityError, "metadata.name", "it is missing")
		return nil
	}
	errs, err := schema.validate(ctx, d.json)
	if err != nil {
		return err
	}
	good := l.addErrors(object, errs)
	switch h.Kind {
	case "MCPEndpoint":
		e := &v1alpha1.MCPEndpoint{}
		if !good || !l.decode(d, object, key, e) || !l.addErrors(object, v1alpha1.Validate(e)) {
			l.spoilt[key] = true
			return nil
		}
		l.endpoints = append(l.endpoints, e)
	case "MCPModelExposure":
		e := &v1alpha1.MCPModelExposure{}
		if good && l.decode(d, object, key, e) && l.addErrors(object, v1alpha1.Validate(e)) {
			l.exposures = append(l.exposures, *e)
		} else {
			l.incomplete[types.NamespacedName{Namespace: key.Namespace, Name: h.Spec.EndpointRef.Name}] = true
		}
	case "MCPToken":
		t := &v1alpha1.MCPToken{}
		if good && l.decode(d, object, key, t) && l.addErrors(object, v1alpha1.Validate(t)) {
			l.tokens = append(l.tokens, *t)
		}
	}
	return nil
}

// addErrors adds an error for each, and reports whether there is none.
func (l *linter) addErrors(object string, errs field.ErrorList) bool {
	for _, e := range errs {
		l.at(object, severityError, strings.TrimPrefix(e.Field, "<nil>"), e.ErrorBody())
	}
	return len(errs) == 0
}

func (l *linter) decode(d *document, object string, key types.NamespacedName, into client.Object) bool {
	if err := json.Unmarshal(d.json, into); err != nil {
		l.at(object, severityError, "", err.Error())
		return false
	}
	into.SetNamespace(key.Namespace)
	return true
}

// noEndpoint says that an object's endpoint is not among the files.
func (l *linter) noEndpoint(object string, of types.NamespacedName) {
	if l.spoilt[of] {
		return // which is told there
	}
	message := fmt.Sprintf("the files hold no MCPEndpoint %s, so the names in this object are not checked", of)
	var names []string
	for _, e := range l.endpoints {
		names = append(names, client.ObjectKeyFromObject(e).String())
	}
	if i := spelling.Nearest(of.String(), names); i >= 0 {
		message += fmt.Sprintf("; the nearest is %s", names[i])
	}
	l.at(object, severityWarning, "spec.endpointRef.name", message)
}
