// Package planner turns a query's tree into calls of tools that give the same rows. It knows the schema and the rules of SQL,
// and none of the questions: a query is planned exactly, or refused with what it needs. Only test/jobs imports it.
package planner
