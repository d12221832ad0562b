package duckdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

// mostFiles bounds the files of a folder that are looked at.
const mostFiles = 10_000

// mostTables bounds the tables of a folder: DuckDB looks into each when it opens the folder.
const mostTables = 500

// fileKind is a kind of file that DuckDB reads.
type fileKind string

const (
	parquet fileKind = "parquet"
	csv     fileKind = "csv"
	// native is a database of DuckDB's own.
	native fileKind = "duckdb"
)

// kindOf is the kind of a file by its name; "" if it is none that is read.
func kindOf(name string) fileKind {
	name = strings.ToLower(name)
	for _, suffix := range []string{".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz"} {
		if strings.HasSuffix(name, suffix) {
			return csv
		}
	}
	switch filepath.Ext(name) {
	case ".parquet":
		return parquet
	case ".duckdb", ".ddb", ".db":
		return native
	}
	return ""
}

// A source is the file, or the folder of files, of one table.
type source struct {
	// table is the table's name.
	table string
	kind  fileKind
	// path is a file, or a folder, and files are those that are read.
	path  string
	files []string
}

// A version says what the files are.
type version struct {
	// database reports whether the path is a database of DuckDB's own; then there are no sources.
	database bool
	// single reports whether the path is one file, which is the only table.
	single  bool
	sources []source
	// files are all files that are read.
	files []file
	// notes are about what is not served.
	notes []database.Unserved
	// settles is when the next file without an end counts as whole, unless it changes before; zero if there is none.
	settles time.Time
}

// holds reports whether a version still describes the files, which are now as another version found them.
func (v *version) holds(now *version) bool {
	return v.same(now) && (v.settles.IsZero() || time.Now().Before(v.settles))
}

// A file is one file that is read, as it was when it was looked at.
type file struct {
	path string
	info os.FileInfo
}

// same reports whether two versions are the same files with the same content, as far as the file system tells.
func (v *version) same(other *version) bool {
	return slices.EqualFunc(v.files, other.files, func(a, b file) bool {
		return a.path == b.path && isSameFile(a.info, b.info)
	})
}

// isSameFile reports whether a file is the same with the same content, as far as the file system tells.
func isSameFile(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

var (
	errNoPath   = errors.New("the server was not told which file or folder to read (--duckdb)")
	errNotThere = errors.New("it is not there, or may not be read")
	errKind     = errors.New("its name must end in .duckdb, .parquet, .csv or .tsv, or it must be a folder")
	errPattern  = errors.New("its path must have none of the characters * ? [ ] { }")
	errEmpty    = errors.New("no file in the folder ends in .parquet, .csv or .tsv")
	errLink     = errors.New("it is a link that leads out of its folder; name the file itself")
	errMany     = fmt.Errorf("the folder has more than %d files", mostFiles)
)

// look finds what lies at a path.
func look(path string) (*version, error) {
	if path == "" {
		return nil, errNoPath
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, errNotThere
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, errNotThere
	case info.IsDir():
		return lookInFolder(path)
	case !info.Mode().IsRegular():
		return nil, errNotThere
	}
	if !staysIn(filepath.Dir(path), path) {
		return nil, errLink
	}
	v := &version{files: []file{{path, info}}}
	switch kind := kindOf(path); kind {
	case "":
		return nil, errKind
	case native:
		v.database = true
		if log, err := os.Stat(path + ".wal"); err == nil { // changes that are not in the file yet
			v.files = append(v.files, file{path + ".wal", log})
		}
	case parquet, csv:
		if isPattern(path) {
			return nil, errPattern
		}
		v.single = true
		v.sources = []source{{tableName(filepath.Base(path)), kind, path, []string{path}}}
	}
	return v, nil
}

// lookInFolder finds the tables of a folder: its files, and its folders whose files are all of one kind.
func lookInFolder(path string) (*version, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, errNotThere
	}
	v := &version{}
	for _, entry := range entries {
		name, whole := entry.Name(), filepath.Join(path, entry.Name())
		if isHidden(name) {
			continue
		}
		info, err := os.Stat(whole) // a ConfigMap's files are links
		switch {
		case err != nil:
		case !staysIn(path, whole):
			v.notes = append(v.notes, notServed("", "file", name, "it is a link that leads out of the folder"))
		case info.IsDir():
			err = v.addFolder(name, whole)
		default:
			v.addFile(name, whole, info)
		}
		if len(v.files) > mostFiles {
			err = errMany
		}
		if errors.Is(err, errMany) {
			return nil, err
		}
	}
	if len(v.sources) == 0 && len(v.notes) == 0 {
		return nil, errEmpty
	}
	v.dropAmbiguous()
	if beyond := len(v.sources) - mostTables; beyond > 0 {
		why := fmt.Sprintf("a folder has at most %d tables; put files of one kind into a folder of their own, which is one table", mostTables)
		v.notes = append(v.notes, database.Unserved{Count: beyond, Why: "a file or folder is not served: " + why,
			Note: fmt.Sprintf("%d files and folders from %s on are not served: %s.", beyond, filepath.Base(v.sources[mostTables].path), why)})
		v.sources = v.sources[:mostTables]
	}
	return v, nil
}

// staysIn reports whether a path is below a folder once all links are followed. Who may only put files there must not have the
// server read others of its machine, such as the token of its pod.
func staysIn(folder, path string) bool {
	root, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	below, err := filepath.Rel(root, target)
	return err == nil && filepath.IsLocal(below)
}

// isHidden reports whether a file is none of the data, as those that programs write aside while they work.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

func (v *version) addFile(name, path string, info os.FileInfo) {
	kind := kindOf(name)
	switch {
	case kind == "" || !info.Mode().IsRegular():
		return
	case kind == native:
		v.notes = append(v.notes, notServed("The file ", "file", name, "a DuckDB database must be named itself, not its folder"))
		return
	case isPattern(path):
		v.notes = append(v.notes, notPlain(name))
		return
	}
	v.files = append(v.files, file{path, info})
	v.sources = append(v.sources, source{tableName(name), kind, path, []string{path}})
}

// isPattern reports whether DuckDB would take a path for a pattern of paths.
func isPattern(path string) bool { return strings.ContainsAny(path, "*?[]{}") }

// notServed is a note about a thing that is not served, whose name follows other words.
func notServed(before, thing, name, why string) database.Unserved {
	why = " is not served: " + why
	return database.Unserved{Note: before + name + why + ".", Why: "a " + thing + why}
}

func notPlain(name string) database.Unserved {
	return notServed("", "file or folder", name, "its path has one of the characters * ? [ ] { }")
}

// addFolder adds a folder as one table.
func (v *version) addFolder(name, path string) error {
	kinds := map[fileKind]bool{}
	var files []file
	err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // what cannot be read is none of the data, or the query says so
		case at != path && isHidden(entry.Name()):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		info, err := os.Stat(at)
		if kind := kindOf(entry.Name()); err == nil && kind != "" && staysIn(filepath.Dir(path), at) {
			kinds[kind] = true
			if files = append(files, file{at, info}); len(files)+len(v.files) > mostFiles {
				return errMany
			}
		}
		return nil
	})
	switch {
	case err != nil || len(files) == 0:
		return err
	case len(kinds) > 1 || kinds[native]:
		v.notes = append(v.notes, notServed("The folder ", "folder", name, "its files must all be Parquet, or all CSV"))
		return nil
	}
	s := source{name, kindOf(files[0].path), path, nil}
	for _, f := range files {
		if isPattern(f.path) {
			v.notes = append(v.notes, notPlain(name))
			return nil
		}
		s.files = append(s.files, f.path)
	}
	v.files = append(v.files, files...)
	v.sources = append(v.sources, s)
	return nil
}

// dropAmbiguous leaves out the sources whose tables would have one name. To DuckDB names are the same in either case.
func (v *version) dropAmbiguous() {
	times := map[string]int{}
	for _, s := range v.sources {
		times[strings.ToLower(s.table)]++
	}
	v.sources = slices.DeleteFunc(v.sources, func(s source) bool {
		if times[strings.ToLower(s.table)] == 1 {
			return false
		}
		v.notes = append(v.notes, notServed("", "file or folder", filepath.Base(s.path), "another file or folder gives a table of the same name"))
		return true
	})
}

// reading is the function that reads the source.
func (s source) reading() string {
	options := ""
	if len(s.files) > 1 {
		options = ", union_by_name = true"
	}
	return "read_" + string(s.kind) + "(" + literals(s.files) + options + ")"
}

// literal quotes a text. Only names of files are written so, never what a caller says.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// identifier quotes a name.
func identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literals is a list of quoted texts.
func literals(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = literal(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
