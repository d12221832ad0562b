package observe

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/intern"
)

// maxModels bounds the models of a Status: an empty one takes a hundred times the memory of its text. A pod's image is the
// choice of whoever wrote the endpoint, so its answer is a stranger's: this and contract.MaxStatusBytes bound its cost.
const maxModels = 5000

// readReport reads a pod's Status.
func readReport(body []byte) (*contract.Status, error) {
	var report struct {
		contract.Status
		Models models `json:"models"` // in place of the one in Status
	}
	if err := json.Unmarshal(body, &report); err != nil {
		return nil, errors.New("the pod's answer is not a status")
	}
	if report.Serial == "" {
		return nil, errors.New("the pod's answer has no serial")
	}
	status := report.Status
	status.Models = report.Models
	intern.Within(&status) // models of many endpoints have the same columns and tools
	return &status, nil
}

// models is a list that stops at maxModels.
type models []contract.ModelStatus

// UnmarshalJSON implements json.Unmarshaler.
func (m *models) UnmarshalJSON(raw []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	switch start, err := decoder.Token(); {
	case err != nil || start == nil:
		return err
	case start != json.Delim('['):
		return errors.New("models is not a list")
	}
	for decoder.More() {
		if len(*m) == maxModels {
			return fmt.Errorf("more than %d models", maxModels)
		}
		var model contract.ModelStatus
		if err := decoder.Decode(&model); err != nil {
			return err
		}
		*m = append(*m, model)
	}
	return nil
}
