package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// task is a customer's request with its golden actions, and what they must do to the rows.
type task struct {
	ID      string
	Actions []action
	Writes  map[string]writes
}

// action is a golden action.
type action struct {
	Name      string
	Arguments json.RawMessage
	// Kind is read, write or none; Error is set if the shop refuses it.
	Kind, Error string
}

// writes are the expected changes of one table.
type writes struct {
	Inserted []map[string]any
	Updated  []struct{ Key, New map[string]any }
	Deleted  []struct{ Key map[string]any }
}

// taskFiles are the files that a folder may have.
var taskFiles = []string{"tasks.json", "tasks-train.json"}

// readTasks reads the tasks of a folder.
func readTasks(folder string) ([]*task, error) {
	var all []*task
	for _, name := range taskFiles {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var some []*task
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&some); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}
