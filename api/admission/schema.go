package admission

import (
	"context"
	"fmt"
	"io/fs"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/config/crd"
)

// kind holds the checks of the objects of a kind.
type kind struct {
	definition *apiextensionsv1.JSONSchemaProps
	// prepared makes the rest, when it is needed first: to compile the rules takes a tenth of a second.
	prepared   func() error
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// kinds are the API's kinds, by "group/version Kind".
var kinds = sync.OnceValues(func() (map[string]*kind, error) {
	files, err := fs.Glob(crd.Bases, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	all := map[string]*kind{}
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
			k := &kind{definition: version.Schema.OpenAPIV3Schema}
			k.prepared = sync.OnceValue(k.prepare)
			all[fmt.Sprintf("%s/%s %s", definition.Spec.Group, version.Name, definition.Spec.Names.Kind)] = k
		}
	}
	return all, nil
})

func (k *kind) prepare() error {
	var internal apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(k.definition, &internal, nil)
	if err != nil {
		return err
	}
	if k.structural, err = structuralschema.NewStructural(&internal); err != nil {
		return err
	}
	if k.values, _, err = validation.NewSchemaValidator(&internal); err != nil {
		return err
	}
	k.rules = cel.NewValidator(k.structural, true, celconfig.PerCallLimit)
	return nil
}

// check says what an API server would say of the fields and values of a new object, and, if these are good, of the rules.
// It takes out of the object what an API server takes out.
func (k *kind) check(ctx context.Context, object map[string]any) field.ErrorList {
	var errs field.ErrorList
	unknown := pruning.PruneWithOptions(object, k.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		errs = append(errs, field.Forbidden(field.NewPath(path), "there is no such field"))
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(object, k.structural)
	errs = append(errs, validation.ValidateCustomResource(nil, object, k.values)...)
	errs = append(errs, objectmeta.Validate(ctx, nil, object, k.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structural, object)...)
	if len(errs) > 0 {
		return errs
	}
	errs, _ = k.rules.Validate(ctx, nil, k.structural, object, nil, celconfig.RuntimeCELCostBudget)
	return errs
}
