package laptop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

const (
	// ApprovalsFile is the file in the state folder with the MCPApprovals, as a cluster would have them.
	ApprovalsFile = "approvals.json"
	// DecisionsFolder is the folder in the state folder from which dev takes decisions: who can write into it decides.
	DecisionsFolder = "decisions"
)

// Person names the person at this machine.
func Person() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "somebody"
}

// Decision is a file in the DecisionsFolder.
type Decision struct {
	// Approval is the MCPApproval's name.
	Approval string                    `json:"approval"`
	Decision v1alpha1.ApprovalDecision `json:"decision"`
}

// Approvals returns the calls that wait, or waited, for an approval.
func (f *Flag) Approvals() ([]v1alpha1.MCPApproval, error) {
	content, err := os.ReadFile(filepath.Join(f.Folder, ApprovalsFile))
	if errors.Is(err, fs.ErrNotExist) {
		_, err := f.Read() // nothing waited yet, or nothing is served
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	var all []v1alpha1.MCPApproval
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("--state: %s is not what dev writes: %w", ApprovalsFile, err)
	}
	return all, nil
}

// Approval returns an MCPApproval by its own name or by the one that callers know.
func (f *Flag) Approval(name string) (*v1alpha1.MCPApproval, error) {
	all, err := f.Approvals()
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i := range all {
		if names[i] = all[i].Name; name == names[i] || name == all[i].ShortName() {
			return &all[i], nil
		}
	}
	message := fmt.Sprintf("there is no MCPApproval %q", name)
	if i := spelling.Nearest(name, names); i >= 0 {
		message += fmt.Sprintf("; the nearest is %q", names[i])
	}
	return nil, errors.New(message)
}

// Decide leaves a decision for dev to take.
func (f *Flag) Decide(approval string, decision *v1alpha1.ApprovalDecision) error {
	content, err := json.Marshal(Decision{approval, *decision})
	if err != nil {
		return err
	}
	folder := filepath.Join(f.Folder, DecisionsFolder)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	file, err := os.CreateTemp(folder, "*.new")
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), strings.TrimSuffix(file.Name(), ".new")+".json") // dev reads it whole
	}
	if err != nil {
		return fmt.Errorf("--state: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}
