package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder is a domain: its tables and rows, and the tasks to carry out on them. README.md has its form.
type folder struct {
	name         string
	schema, data string
	tasks        []*task
	actions      actions
}

// task is somebody's request with its golden actions, and what they must do to the rows.
type task struct {
	ID      string
	Actions []action
	Writes  map[string]writes
}

// action is a golden action.
type action struct {
	Name      string
	Arguments json.RawMessage
	// Kind is read, write or none; Error is set if the action must be refused.
	Kind, Error string
}

// writes are the expected changes of one table.
type writes struct {
	Inserted []object
	Updated  []struct{ Key, Old, New object }
	Deleted  []struct{ Key, Old object }
}

// taskFiles are the files with tasks that a folder may have.
var taskFiles = []string{"tasks.json", "tasks-train.json"}

// readFolder reads a domain. The file says what its actions mean.
func readFolder(path, file string) (*folder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f := &folder{name: filepath.Base(absolute)}
	for name, into := range map[string]*string{"schema.sql": &f.schema, "data.sql": &f.data} {
		text, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			return nil, err
		}
		*into = string(text)
	}
	if f.actions, err = readActions(file); err != nil {
		return nil, err
	}
	for _, name := range taskFiles {
		some, err := readTasks(filepath.Join(path, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f.tasks = append(f.tasks, some...)
	}
	return f, f.check(file)
}

func readTasks(path string) ([]*task, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var some []*task
	return some, decode(text, &some)
}

// decode reads a document, and keeps its numbers as they are written.
func decode(text []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(into)
}

// check reports actions that the file does not tell of, or of no kind.
func (f *folder) check(file string) error {
	var unknown []string
	for _, t := range f.tasks {
		for _, a := range t.Actions {
			switch _, known := f.actions[a.Name]; {
			case !slices.Contains([]string{"read", "write", "none"}, a.Kind):
				return fmt.Errorf("%s: %s is of the kind %q; it must be read, write or none", t.ID, a.Name, a.Kind)
			case a.Kind != "none" && !known:
				unknown = append(unknown, a.Name)
			}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("%s does not say what these actions mean: %s", file, strings.Join(slices.Compact(unknown), ", "))
}
