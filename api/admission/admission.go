// Package admission says of an object of the API what an API server would say of it, without one: it runs the schema of the
// object's kind and its rules in CEL, as they are installed. It is for programs that read objects from files. The controllers
// do not call it: it takes twenty times as long as to compile an object, and the API server has checked what they see.
// Whoever wants to know more of an object than a schema can say asks v1alpha1.Validate next.
//
// The commands' package manifests imports it. Begin with Read.
package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// Knows reports whether the API has a kind.
func Knows(apiVersion, name string) (bool, error) {
	all, err := kinds()
	return all[apiVersion+" "+name] != nil, err
}

// Read decodes an object of a kind that Knows into a pointer to its Go type, and says what an API server would have against
// it as a new object. If that is anything, the object is not to be used. Without a namespace the object is of the one given.
func Read(ctx context.Context, encoded []byte, namespace string, into metav1.Object) (field.ErrorList, error) {
	object := map[string]any{}
	if err := utiljson.Unmarshal(encoded, &object); err != nil { // it makes integers of whole numbers
		return nil, err
	}
	u := unstructured.Unstructured{Object: object}
	errs := checkMetadata(object, namespace)
	all, err := kinds()
	if err != nil {
		return nil, err
	}
	k := all[u.GetAPIVersion()+" "+u.GetKind()]
	if k == nil {
		return nil, fmt.Errorf("%s has no kind %s", u.GetAPIVersion(), u.GetKind())
	}
	if err := k.prepared(); err != nil {
		return nil, err
	}
	for _, e := range k.check(ctx, object) {
		errs = append(errs, plain(e))
	}
	if len(errs) > 0 {
		return errs, nil
	}
	if u.GetNamespace() == "" {
		u.SetNamespace(namespace)
	}
	checked, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return nil, json.Unmarshal(checked, into)
}

// checkMetadata says what is wrong with an object's metadata.
func checkMetadata(object map[string]any, namespace string) field.ErrorList {
	path := field.NewPath("metadata")
	given, isObject := object["metadata"].(map[string]any)
	if !isObject {
		return field.ErrorList{field.Required(path, "")}
	}
	encoded, err := json.Marshal(given)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	var metadata metav1.ObjectMeta
	unknown, err := kjson.UnmarshalStrict(encoded, &metadata)
	if err = errors.Join(append(unknown, err)...); err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	if metadata.Namespace == "" {
		metadata.Namespace = namespace
	}
	return apivalidation.ValidateObjectMeta(&metadata, true, apivalidation.NameIsDNSSubdomain, path)
}

var (
	// inBody is how the schema's validator begins, after the path that the error has anyway.
	inBody = regexp.MustCompile(`^\S+ in body `)
	// wrongType is its message about a value of another type.
	wrongType = regexp.MustCompile(`^must be of type (\w+): "(\w+)"$`)
)

// plain is an error of the schema's validator in words that tell what to do.
func plain(e *field.Error) *field.Error {
	e.Detail = inBody.ReplaceAllString(e.Detail, "")
	if types := wrongType.FindStringSubmatch(e.Detail); types != nil {
		e.BadValue, e.Detail = field.OmitValueType{}, fmt.Sprintf("must be of type %s, and is of type %s", types[1], types[2])
		if types[1] == "string" && types[2] != "object" && types[2] != "array" {
			e.Detail += ": put it in quotes"
		}
	}
	return e
}
