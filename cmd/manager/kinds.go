package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
)

// schema has the needed parts of an OpenAPI schema.
type schema struct {
	Properties           map[string]schema       `json:"properties"`
	Items                *schema                 `json:"items"`
	Any                  bool                    `json:"x-kubernetes-preserve-unknown-fields"`
	AdditionalProperties *schema                 `json:"additionalProperties"`
	Kinds                []struct{ Kind string } `json:"x-kubernetes-group-version-kind"`
}

// checkKinds returns an error if one of the kinds is not installed, or its CustomResourceDefinition is older than this
// manager: the API server would refuse or drop the fields that it lacks. Every user may read what this asks for.
func checkKinds(config *rest.Config) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	version := v1alpha1.GroupVersion.String()
	versions, err := client.OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	served, ok := versions["apis/"+version]
	if !ok {
		return fmt.Errorf("the API server does not serve %s: install the CustomResourceDefinitions of config/crd", version)
	}
	text, err := served.Schema("application/json")
	if err != nil {
		return err
	}
	var document struct {
		Components struct{ Schemas map[string]schema }
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("the OpenAPI document of %s: %w", version, err)
	}
	for kind, ours := range map[string]reflect.Type{
		"MCPEndpoint": reflect.TypeFor[v1alpha1.MCPEndpoint](), "MCPModelExposure": reflect.TypeFor[v1alpha1.MCPModelExposure](), "MCPToken": reflect.TypeFor[v1alpha1.MCPToken](),
		"MCPApproval": reflect.TypeFor[v1alpha1.MCPApproval](),
	} {
		if err := checkKind(document.Components.Schemas, kind, ours); err != nil {
			return err
		}
	}
	return nil
}

func checkKind(schemas map[string]schema, kind string, ours reflect.Type) error {
	for _, s := range schemas {
		if len(s.Kinds) != 1 || s.Kinds[0].Kind != kind {
			continue
		}
		for _, part := range []string{"Spec", "Status"} {
			field, _ := ours.FieldByName(part)
			name := strings.ToLower(part)
			if lacking := lackingField(field.Type, s.Properties[name], name); lacking != "" {
				return fmt.Errorf("the CustomResourceDefinition of %s is older than this manager, it has no %s: install this version's (config/crd, or the chart with crds.install)", kind, lacking)
			}
		}
		return nil
	}
	return fmt.Errorf("the API server does not serve the kind %s of %s: install the CustomResourceDefinitions of config/crd", kind, v1alpha1.GroupVersion)
}

// lackingField is the path of a field of this API that the schema does not have; "" if it has all. It looks into this
// API's own types alone.
func lackingField(t reflect.Type, s schema, path string) string {
	if s.Any {
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		return lackingField(t.Elem(), s, path)
	case reflect.Slice:
		if s.Items == nil {
			return ""
		}
		return lackingField(t.Elem(), *s.Items, path)
	case reflect.Map:
		if s.AdditionalProperties == nil {
			return ""
		}
		return lackingField(t.Elem(), *s.AdditionalProperties, path)
	case reflect.Struct:
		if t.PkgPath() != reflect.TypeFor[v1alpha1.MCPToken]().PkgPath() {
			return ""
		}
	default:
		return ""
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			if lacking := lackingField(field.Type, s, path); field.Anonymous && lacking != "" {
				return lacking
			}
			continue
		}
		property, ok := s.Properties[name]
		if !ok {
			return path + "." + name
		}
		if lacking := lackingField(field.Type, property, path+"."+name); lacking != "" {
			return lacking
		}
	}
	return ""
}
