package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// job is a question with its right answer.
type job struct {
	ID, Database, SQL string
	Question          struct{ DE, EN string }
	Needs             []string
	Columns           []string
	Rows              [][]any
	RowCount          *int   `json:"row_count"`
	RowsSHA256        string `json:"rows_sha256"`
	Ordered           bool
	Open              bool
	Ties              [][2]int
	Cut               *struct {
		Sure       int
		Candidates [][]any
	}
}

// readJobs reads the questions of a folder.
func readJobs(folder string) ([]*job, error) {
	text, err := os.ReadFile(filepath.Join(folder, "jobs.json"))
	if err != nil {
		return nil, err
	}
	var jobs []*job
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&jobs); err != nil {
		return nil, fmt.Errorf("jobs.json: %w", err)
	}
	return jobs, nil
}

// hasRows reports whether the right answer has any row.
func (j *job) hasRows() bool { return len(j.Rows) > 0 || j.RowCount != nil && *j.RowCount > 0 }
