// Package write holds create, update, delete and bulk. An operation reads its data (data.go, inlines.go) before the database is
// asked, and then does everything in one transaction: write.go adds and changes rows and reads them back through the row
// policy, deletion.go deletes them with what cascade.go finds, journal.go writes the audit table. Begin with write.go.
//
// The rooms action, once and steps import it.
package write
