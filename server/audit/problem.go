package audit

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
)

// Problem says why an output did not take its newest line, in words that stay the same as long as the problem does; "" if each did.
func (l *Log) Problem() string {
	if l == nil {
		return ""
	}
	if problem := l.problem.Load(); problem != nil {
		return *problem
	}
	return ""
}

// Try finds out whether a folder that did not take a line would take one now, though nobody calls. Without a Problem it does nothing.
func (l *Log) Try() {
	if l.Problem() == "" {
		return
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	for i, to := range l.to {
		if folder, ok := to.(*Folder); ok && l.failures[i] != nil {
			l.failures[i] = folder.Try()
		}
	}
	l.note()
}

// note brings problem up to date. The caller holds writing.
func (l *Log) note() {
	var problems []string
	for _, err := range l.failures {
		if err != nil {
			problems = append(problems, lasting(err))
		}
	}
	problem := strings.Join(problems, "; ")
	if problem == l.Problem() {
		return
	}
	l.problem.Store(&problem)
	if l.Changed != nil {
		l.Changed()
	}
}

// lasting returns an error's text without the name of the file, which has the time in it.
func lasting(err error) string {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return filepath.Dir(at.Path) + ": " + at.Err.Error()
	}
	return err.Error()
}
