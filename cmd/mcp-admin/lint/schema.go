package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/config/crd"
)

// kindSchema is what an API server checks an object of a kind with.
type kindSchema struct {
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// schemas are those of the kinds, by "group/version Kind", made when they are needed first.
type schemas struct {
	definitions map[string]*apiextensionsv1.JSONSchemaProps
	made        map[string]*kindSchema
}

// loadSchemas returns those of the API's kinds.
var loadSchemas = sync.OnceValues(func() (*schemas, error) {
	s := &schemas{definitions: map[string]*apiextensionsv1.JSONSchemaProps{}, made: map[string]*kindSchema{}}
	files, err := fs.Glob(crd.Bases, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		content, err := crd.Bases.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(content, &definition); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, version := range definition.Spec.Versions {
			s.definitions[fmt.Sprintf("%s/%s %s", definition.Spec.Group, version.Name, definition.Spec.Names.Kind)] = version.Schema.OpenAPIV3Schema
		}
	}
	return s, nil
})

// of is the schema of a kind; nil if it is none of the API's.
func (s *schemas) of(kind string) (*kindSchema, error) {
	if made := s.made[kind]; made != nil || s.definitions[kind] == nil {
		return made, nil
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s.definitions[kind], &internal, nil); err != nil {
		return nil, err
	}
	made := &kindSchema{}
	var err error
	if made.structural, err = structuralschema.NewStructural(&internal); err != nil {
		return nil, err
	}
	if made.values, _, err = validation.NewSchemaValidator(&internal); err != nil {
		return nil, err
	}
	made.rules = cel.NewValidator(made.structural, true, celconfig.PerCallLimit)
	s.made[kind] = made
	return made, nil
}

// validate says what an API server would say of a new object: first of its fields and values, and, if these are good, of the
// rules.
func (k *kindSchema) validate(ctx context.Context, encoded []byte) (field.ErrorList, error) {
	var object map[string]any
	if err := utiljson.Unmarshal(encoded, &object); err != nil { // it makes integers of whole numbers
		return nil, err
	}
	var errs field.ErrorList
	unknown := pruning.PruneWithOptions(runtime.DeepCopyJSON(object), k.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		errs = append(errs, field.Forbidden(field.NewPath(path), "there is no such field"))
	}
	errs = append(errs, validation.ValidateCustomResource(nil, object, k.values)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, object)...)
	if len(errs) > 0 {
		return errs, nil
	}
	broken, _ := k.rules.Validate(ctx, nil, k.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return broken, nil
}

// head is what every object has, and the endpoint that an exposure names.
type head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		EndpointRef struct {
			Name string `json:"name"`
		} `json:"endpointRef"`
	} `json:"spec"`
}

// headOf reads as much of it as can be read.
func headOf(encoded []byte) head {
	var h head
	_ = json.Unmarshal(encoded, &h) // what is of another type stays empty
	return h
}
