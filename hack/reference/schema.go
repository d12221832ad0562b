package main

import (
	"bytes"
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// editorSchema is the kind's schema as editors read it. A field that the kind does not have is wrong there, because the API
// server would drop it without a word.
func (d *definition) editorSchema() ([]byte, error) {
	spec, err := plain(d.schema.Properties["spec"])
	if err != nil {
		return nil, err
	}
	closeObjects(spec)
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(map[string]any{
		"$schema":     "http://json-schema.org/draft-07/schema#",
		"title":       d.kind,
		"description": d.schema.Description,
		"type":        "object",
		"required":    []string{"apiVersion", "kind", "metadata", "spec"},
		"properties": map[string]any{
			"apiVersion": map[string]any{"const": d.apiVersion},
			"kind":       map[string]any{"const": d.kind},
			"metadata":   map[string]any{"type": "object"},
			"spec":       spec,
			"status":     map[string]any{"type": "object"},
		},
		"additionalProperties": false,
	})
	return b.Bytes(), err
}

// plain is a schema as JSON.
func plain(schema apiextensionsv1.JSONSchemaProps) (map[string]any, error) {
	encoded, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, json.Unmarshal(encoded, &fields)
}

// closeObjects has objects refuse what is not among their properties, and takes out what only Kubernetes understands.
func closeObjects(schema map[string]any) {
	open := schema["x-kubernetes-preserve-unknown-fields"] == true
	for key := range schema {
		if len(key) > 2 && key[:2] == "x-" {
			delete(schema, key)
		}
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		for _, property := range properties {
			closeObjects(property.(map[string]any))
		}
		if !open {
			schema["additionalProperties"] = false
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if below, ok := schema[key].(map[string]any); ok {
			closeObjects(below)
		}
	}
}
