package snapshot

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// maxModelsBytes bounds what a status says of models. The rest of a status is small.
const maxModelsBytes = contract.MaxStatusBytes - 64<<10

// shorten cuts the lists of columns of all models until they fit into a status. The longest lists are cut first.
func shorten(models []contract.ModelStatus) []contract.ModelStatus {
	shortened := models
	for _, most := range []int{200, 50, 10, 0} {
		if sizeOf(shortened) <= maxModelsBytes {
			break
		}
		shortened = slices.Clone(models)
		for i := range shortened {
			cutColumns(&shortened[i], most)
		}
	}
	return shortened
}

func sizeOf(models []contract.ModelStatus) int {
	text, err := json.Marshal(models)
	if err != nil {
		panic(err) // The type has no value that JSON lacks.
	}
	return len(text)
}

// cutColumns leaves at most so many names in each list of columns, and so many foreign keys, and a note if some are missing.
func cutColumns(model *contract.ModelStatus, most int) {
	cut := false
	for _, list := range []*[]string{&model.Columns, &model.Hidden, &model.Masked, &model.ReadOnly} {
		if len(*list) > most {
			*list, cut = (*list)[:most:most], true
		}
	}
	if len(model.ForeignKeys) > most {
		model.ForeignKeys, cut = model.ForeignKeys[:most:most], true
	}
	if cut {
		note := fmt.Sprintf("The status names at most %d columns: the endpoint has too many to name all. Agents see all of them.", most)
		model.Notes = append(slices.Clone(model.Notes), note)
	}
}
