package admin

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
)

// The definitions of the tools that read. What is said here is the same for every token: a relation or a field of another
// model, which not every token may see, is named by what describe_ answers.

func defineList(m *catalog.Model) definition {
	properties := map[string]schema{
		"limit":    limitSchema(m, m.DefaultPageSize),
		"offset":   offsetSchema(),
		"order_by": {Type: "array", Items: &schema{Type: "string"}, Description: "field names; a leading - is descending"},
		"filters":  {Type: "object", Description: "field or relation__field, then __ and a lookup (ne, in, range, gt, gte, lt, lte, isnull, icontains, istartswith, year, …) or none, to value; all must hold"},
		"fields":   {Type: "array", Items: &schema{Type: "string"}, Description: "only these; all without it"},
		"total":    {Type: "string", Enum: []any{totalExact, totalNone}, Description: "exact counts however long it takes; none leaves total_count out"},
	}
	if m.UniqueKey {
		properties["cursor"] = schema{Type: "string", Description: "next_cursor of the page before, all but limit unchanged; instead of offset"}
	}
	if len(m.Search) > 0 {
		properties["search"] = schema{Type: "string", Description: "words that must all be found, in " + searchNames(m)}
	}
	return definition{
		Name:        "list_" + m.Name,
		Description: fmt.Sprintf("List %s.%s Fields: %s.", m.VerboseNamePlural, sentence(describeModel(m)), fieldTypes(m)),
		InputSchema: closed(properties),
		Annotations: reads,
	}
}

func defineGet(m *catalog.Model) definition {
	properties := map[string]schema{idName: idArgument(m)}
	if len(m.Inlines) > 0 {
		properties["include_inlines"] = schema{Type: "boolean", Description: "with _inlines: the rows that belong to it, by model"}
	}
	if len(m.Relations) > 0 {
		properties["include_related"] = schema{Type: "boolean", Description: fmt.Sprintf("with _related: at most %d rows of each relation", mostRelatedRows)}
	}
	return definition{
		Name:        "get_" + m.Name,
		Description: fmt.Sprintf("Get one %s by its id.", m.VerboseName),
		InputSchema: closed(properties, idName),
		Annotations: reads,
	}
}

func defineDescribe(m *catalog.Model) definition {
	return definition{
		Name:        "describe_" + m.Name,
		Description: fmt.Sprintf("Describe %s: fields, relationships, and how lists are searched and ordered.", m.VerboseNamePlural),
		InputSchema: closed(map[string]schema{}),
		Annotations: reads,
	}
}

func defineRelated(m *catalog.Model) definition {
	return definition{
		Name:        "related_" + m.Name,
		Description: fmt.Sprintf("Get the rows that a relation of one %s leads to; describe_%s names the relations.", m.VerboseName, m.Name),
		InputSchema: closed(map[string]schema{
			idName:     idArgument(m),
			"relation": {Type: "string", Description: "the relation's name"},
			"limit":    limitSchema(nil, 0),
			"offset":   offsetSchema(),
		}, idName, "relation"),
		Annotations: reads,
	}
}

func defineHistory(m *catalog.Model) definition {
	return definition{
		Name:        "history_" + m.Name,
		Description: fmt.Sprintf("Get what changed one %s through this endpoint: when, by which token, which values; newest first.", m.VerboseName),
		InputSchema: closed(map[string]schema{idName: idArgument(m), "limit": limitSchema(m, historyLimit), "offset": offsetSchema()}, idName),
		Annotations: reads,
	}
}

func defineAutocomplete(m *catalog.Model) definition {
	return definition{
		Name:        "autocomplete_" + m.Name,
		Description: fmt.Sprintf("Find ids of %s by a piece of what they are called.", m.VerboseNamePlural),
		InputSchema: closed(map[string]schema{
			"term":  {Type: "string", Description: "text in the name or search fields, or an id; the first rows without it"},
			"limit": limitSchema(m, autocompleteLimit),
		}),
		Annotations: reads,
	}
}

// limitSchema is the argument limit of a list of a model's rows; of one that is not known beforehand for nil.
func limitSchema(m *catalog.Model, absent int) schema {
	zero := 0
	if m == nil {
		return schema{Type: "integer", Minimum: &zero}
	}
	return schema{Type: "integer", Minimum: &zero, Maximum: &m.MaxPageSize, Description: fmt.Sprintf("%d without it", min(absent, m.MaxPageSize))}
}

func offsetSchema() schema {
	zero := 0
	return schema{Type: "integer", Minimum: &zero}
}
