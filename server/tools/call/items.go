package call

import (
	"encoding/json"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/server/jsontext"
	"github.com/mcp-admin/mcp-admin-operator/server/lookup"
)

// Items is an argument of names, and of objects that say how to compute a value and name it.
type Items []Item

// Item is a name, or an object.
type Item struct {
	Text   string
	Object json.RawMessage
}

// Has reports whether a name is among the items.
func (items Items) Has(name string) bool {
	return slices.ContainsFunc(items, func(item Item) bool { return item.Object == nil && item.Text == name })
}

func decodeItems(name string, raw json.RawMessage, into *Items) error {
	if len(raw) == 0 || raw[0] != '[' {
		return Invalid("%s must be an array of names, and of objects that compute a value, not %s", name, lookup.Excerpt(raw))
	}
	for _, value := range jsontext.Inside(raw) {
		item := Item{}
		if value[0] == '{' {
			item.Object = value
		} else if text, ok := jsontext.ReadString(value); ok {
			item.Text = text
		} else {
			return Invalid("%s must be an array of names, and of objects that compute a value, not %s", name, lookup.Excerpt(raw))
		}
		*into = append(*into, item)
	}
	return nil
}

// ItemsOf are items that are names.
func ItemsOf(names ...string) Items {
	items := make(Items, len(names))
	for i, name := range names {
		items[i].Text = name
	}
	return items
}
