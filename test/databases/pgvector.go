package main

// pgVector is PostgreSQL with the extension vector, which Debian has in its newest suite alone.
type pgVector struct{ postgres }

func newPGVector(project string) pgVector {
	return pgVector{postgres{unpacked: in(project, "postgresql-18-pgvector", true), project: project}}
}

// find needs the programs and what starts them.
func (v pgVector) find() string { return v.unpacked.find("postgres" + unwrapped) }

// install also wraps the programs, which start one another.
func (v pgVector) install() error {
	if err := v.unpacked.install(); err != nil {
		return err
	}
	return v.wrap("initdb", "pg_ctl", "postgres")
}

// loader is nil: the scripts know it.
func (pgVector) loader() []string { return nil }

func (pgVector) environment(string) []string { return nil }
