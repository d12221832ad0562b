package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const preface = `# Field reference

Generated from the CustomResourceDefinitions; do not edit. [The three kinds](objects.md) tell what the fields are for, with examples,
and ` + "`kubectl explain mcpendpoint.spec`" + ` says the same in a terminal. An absent field stays absent in your object; its description
says what that means. What has a pod's own form is not listed further: Kubernetes' documents tell of it.

## In an editor

The folder [schemas](schemas) has a JSON schema of each kind, for completion and checks while you type. Editors with the YAML language
server (VS Code with its YAML extension, Neovim, Helix, IntelliJ) read this line at the top of a file:

` + "```yaml" + `
# yaml-language-server: $schema=https://raw.githubusercontent.com/mcp-admin/mcp-admin-operator/main/docs/schemas/mcptoken.json
apiVersion: mcpadmin.dev/v1alpha1
kind: MCPToken
metadata: {name: agent}
spec:
  endpointRef: {name: shop}
  permissions: [{models: ["*"], verbs: [view]}]
` + "```" + `

`

// ofKubernetes are the fields that have a pod's own form.
var ofKubernetes = []string{
	"affinity", "env", "podSecurityContext", "podTemplate", "resources", "securityContext", "tolerations", "topologySpreadConstraints",
	"volumeMounts", "volumes",
}

// page is the part of the page on a kind.
func (d *definition) page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n", d.kind, sentence(d.schema.Description))
	for _, part := range []string{"spec", "status"} {
		if schema, ok := d.schema.Properties[part]; ok {
			fmt.Fprintf(&b, "\n### %s of %s\n\n| field | type | says |\n|---|---|---|\n", part, d.kind)
			rows(&b, part, schema)
		}
	}
	b.WriteString("\n")
	return b.String()
}

// rows writes a row for each field below a schema.
func rows(b *strings.Builder, path string, schema apiextensionsv1.JSONSchemaProps) {
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		field := schema.Properties[name]
		at := path + "." + name
		required := ""
		if slices.Contains(schema.Required, name) {
			required = ", required"
		}
		fmt.Fprintf(b, "| `%s` | %s%s | %s |\n", at, kindOf(&field), required, says(&field))
		if slices.Contains(ofKubernetes, name) {
			continue
		}
		switch {
		case field.Items != nil && field.Items.Schema != nil:
			rows(b, at+"[]", *field.Items.Schema)
		case field.AdditionalProperties != nil && field.AdditionalProperties.Schema != nil:
			rows(b, at+".*", *field.AdditionalProperties.Schema)
		default:
			rows(b, at, field)
		}
	}
}

// kindOf is a field's type in a word or two.
func kindOf(field *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case field.XIntOrString:
		return "integer or text"
	case field.Type == "array" && field.Items != nil && field.Items.Schema != nil:
		return "list of " + kindOf(field.Items.Schema)
	case field.Type == "object" && field.AdditionalProperties != nil && field.AdditionalProperties.Schema != nil:
		return "map of " + kindOf(field.AdditionalProperties.Schema)
	case field.Type == "string" && field.Format == "date-time":
		return "time"
	case field.Type == "string":
		return "text"
	}
	return field.Type
}

// says is a field's description, with the values that it can have.
func says(field *apiextensionsv1.JSONSchemaProps) string {
	text := strings.ReplaceAll(strings.Join(strings.Fields(field.Description), " "), "|", `\|`)
	values := make([]string, len(field.Enum))
	for i, value := range field.Enum {
		values[i] = "`" + strings.Trim(string(value.Raw), `"`) + "`"
	}
	if len(values) > 0 {
		text += " One of " + strings.Join(values, ", ") + "."
	}
	return text
}

// sentence is the first one of a description.
func sentence(description string) string {
	text := strings.Join(strings.Fields(description), " ")
	if end := strings.Index(text, ". "); end >= 0 {
		return text[:end+1]
	}
	return text
}
