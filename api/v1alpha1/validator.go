package v1alpha1

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validator gathers what is wrong with an object. Its methods are the schema's markers: MinLength and MaxLength count
// characters, a set holds nothing twice.
type validator struct{ errs field.ErrorList }

func (v *validator) add(err *field.Error) { v.errs = append(v.errs, err) }

func (v *validator) invalid(path *field.Path, value any, detail string) {
	v.add(field.Invalid(path, value, detail))
}

// required is a text that must be given.
func (v *validator) required(path *field.Path, s string, maximum int, pattern *regexp.Regexp) {
	if s == "" {
		v.add(field.Required(path, ""))
		return
	}
	v.text(path, s, 1, maximum, pattern)
}

// optional is a text that may be absent, which is the same as empty.
func (v *validator) optional(path *field.Path, s string, maximum int, pattern *regexp.Regexp) {
	if s != "" {
		v.text(path, s, 1, maximum, pattern)
	}
}

func (v *validator) text(path *field.Path, s string, minimum, maximum int, pattern *regexp.Regexp) {
	switch length := utf8.RuneCountInString(s); {
	case length < minimum:
		v.invalid(path, s, fmt.Sprintf("must have at least %d characters", minimum))
	case length > maximum:
		v.add(field.TooLong(path, s, maximum))
	case pattern != nil && !pattern.MatchString(s):
		v.invalid(path, s, "must match "+pattern.String())
	}
}

// texts is a list of texts that are not empty.
func (v *validator) texts(path *field.Path, list []string, maxItems, maxLength int, pattern *regexp.Regexp) {
	v.atMost(path, len(list), maxItems)
	for i, s := range list {
		v.text(path.Index(i), s, 1, maxLength, pattern)
	}
}

// set is a list of texts that holds none twice.
func (v *validator) set(path *field.Path, list []string, maxItems, maxLength int, pattern *regexp.Regexp) {
	v.texts(path, list, maxItems, maxLength, pattern)
	for i, s := range list {
		if slices.Contains(list[:i], s) {
			v.add(field.Duplicate(path.Index(i), s))
		}
	}
}

func (v *validator) atMost(path *field.Path, n, maximum int) {
	if n > maximum {
		v.add(field.TooMany(path, n, maximum))
	}
}

func (v *validator) secretKey(path *field.Path, ref *SecretKeyReference) {
	if ref != nil {
		v.required(path.Child("name"), ref.Name, 253, nil)
		v.required(path.Child("key"), ref.Key, 253, nil)
	}
}

// metadata are labels and annotations that users may give to what the controllers make.
func (v *validator) metadata(path *field.Path, labels map[string]LabelValue, annotations map[string]AnnotationValue) {
	v.atMost(path.Child("labels"), len(labels), 50)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		v.metadataKey(path.Child("labels"), key)
		for _, msg := range validation.IsValidLabelValue(string(labels[key])) {
			v.invalid(path.Child("labels").Key(key), string(labels[key]), msg)
		}
	}
	v.atMost(path.Child("annotations"), len(annotations), 50)
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		v.metadataKey(path.Child("annotations"), key)
		v.text(path.Child("annotations").Key(key), string(annotations[key]), 0, 4096, nil)
	}
}

// metadataKey is the key of a label or annotation that users may give.
func (v *validator) metadataKey(path *field.Path, key string) {
	for _, msg := range validation.IsQualifiedName(key) {
		v.invalid(path.Key(key), key, msg)
	}
	if strings.HasPrefix(key, GroupVersion.Group+"/") {
		v.invalid(path.Key(key), key, "keys of "+GroupVersion.Group+" are the controllers' own")
	}
}

func oneOf[T ~string](v *validator, path *field.Path, value T, allowed ...T) {
	if !slices.Contains(allowed, value) {
		v.add(field.NotSupported(path, value, allowed))
	}
}

// oneOfEach is a list of which each is allowed, and none stands twice.
func oneOfEach[T ~string](v *validator, path *field.Path, values []T, allowed ...T) {
	v.atMost(path, len(values), len(allowed))
	for i, value := range values {
		oneOf(v, path.Index(i), value, allowed...)
		if slices.Contains(values[:i], value) {
			v.add(field.Duplicate(path.Index(i), value))
		}
	}
}

// notEmpty is a list that must hold something if it is there.
func notEmpty[T any](v *validator, path *field.Path, list []T) {
	if list != nil && len(list) == 0 {
		v.add(field.Required(path, "name at least one, or leave it out"))
	}
}

// distinct refuses what has the key of something before it in the list.
func distinct[T any](v *validator, path *field.Path, list []T, key func(T) string) {
	seen := map[string]bool{}
	for i, item := range list {
		if k := key(item); seen[k] {
			v.add(field.Duplicate(path.Index(i), k))
		} else {
			seen[k] = true
		}
	}
}

// within is an optional number; 0 is absent.
func within[N int32 | int64](v *validator, path *field.Path, n, minimum, maximum N) {
	if n != 0 && (n < minimum || n > maximum) {
		v.invalid(path, n, fmt.Sprintf("must be between %d and %d", minimum, maximum))
	}
}
