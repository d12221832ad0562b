-- What people's databases hold, each kind once. Rows are few, but for those that pages must be walked over.
CREATE SCHEMA archive;

-- Soft deletion by a rule, and by a trigger.
CREATE TABLE document (id integer PRIMARY KEY, title text NOT NULL, deleted boolean NOT NULL DEFAULT false);
CREATE RULE soft AS ON DELETE TO document DO INSTEAD UPDATE document SET deleted = true WHERE id = OLD.id;
INSERT INTO document SELECT n, 'document ' || n FROM generate_series(1, 30) n;
CREATE TABLE folder (id integer PRIMARY KEY, name text NOT NULL, deleted_at timestamptz);
CREATE FUNCTION keep_folder() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN UPDATE folder SET deleted_at = now() WHERE id = OLD.id; RETURN NULL; END $$;
CREATE TRIGGER keep BEFORE DELETE ON folder FOR EACH ROW EXECUTE FUNCTION keep_folder();
INSERT INTO folder VALUES (1, 'inbox'), (2, 'outbox');

-- Triggers that refuse, silently or with words, and that change what is written.
CREATE TABLE frozen (id integer PRIMARY KEY, note text);
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER frozen BEFORE UPDATE ON frozen FOR EACH ROW EXECUTE FUNCTION nothing();
INSERT INTO frozen VALUES (1, 'as it is');
CREATE TABLE guarded (id integer PRIMARY KEY, amount integer);
CREATE FUNCTION guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.amount < 0 THEN RAISE EXCEPTION 'amounts are not negative here'; END IF; RETURN NEW; END $$;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded FOR EACH ROW EXECUTE FUNCTION guard();
INSERT INTO guarded VALUES (1, 5);
CREATE TABLE stamped (id serial PRIMARY KEY, name text NOT NULL, slug text NOT NULL);
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name := trim(NEW.name); NEW.slug := lower(NEW.name); RETURN NEW; END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON stamped FOR EACH ROW EXECUTE FUNCTION stamp();

-- Old partitions: inheritance, and a trigger that puts rows elsewhere. New ones: declared.
CREATE TABLE reading (id serial PRIMARY KEY, year integer NOT NULL, value integer);
CREATE TABLE reading_2025 (CHECK (year = 2025), PRIMARY KEY (id)) INHERITS (reading);
CREATE TABLE reading_2026 (CHECK (year = 2026), PRIMARY KEY (id)) INHERITS (reading);
CREATE FUNCTION route() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.year = 2025 THEN INSERT INTO reading_2025 VALUES (NEW.*); ELSE INSERT INTO reading_2026 VALUES (NEW.*); END IF; RETURN NULL; END $$;
CREATE TRIGGER route BEFORE INSERT ON reading FOR EACH ROW EXECUTE FUNCTION route();
INSERT INTO reading (year, value) SELECT 2025 + n % 2, n FROM generate_series(1, 40) n;
CREATE TABLE sale (id integer NOT NULL, region text NOT NULL, total numeric(8,2), PRIMARY KEY (id, region)) PARTITION BY LIST (region);
CREATE TABLE sale_emea PARTITION OF sale FOR VALUES IN ('emea');
CREATE TABLE sale_apac PARTITION OF sale FOR VALUES IN ('apac');
INSERT INTO sale SELECT n, CASE n % 2 WHEN 0 THEN 'emea' ELSE 'apac' END, n * 1.5 FROM generate_series(1, 25) n;

-- Domains, checks, exclusion, deferrable constraints.
CREATE DOMAIN percentage AS integer CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE rated (id integer PRIMARY KEY, state text NOT NULL DEFAULT 'draft' CHECK (state IN ('draft', 'live', 'gone')), share percentage, CONSTRAINT even_only CHECK (share % 2 = 0));
INSERT INTO rated VALUES (1, 'draft', 50), (2, 'live', NULL);
CREATE TABLE booking (id integer PRIMARY KEY, room text, during int4range, CONSTRAINT no_overlap EXCLUDE USING gist (during WITH &&));
INSERT INTO booking VALUES (1, 'blue', '[1,5)');
CREATE TABLE chain (id integer PRIMARY KEY, next_id integer REFERENCES chain DEFERRABLE INITIALLY DEFERRED, position integer UNIQUE DEFERRABLE INITIALLY DEFERRED);
INSERT INTO chain VALUES (1, 2, 1), (2, NULL, 2);

-- Keys: composite and nullable unique ones, none at all (with rows that are the same).
CREATE TABLE seat (hall text NOT NULL, number integer NOT NULL, holder text, UNIQUE (hall, number));
INSERT INTO seat SELECT 'h' || n % 3, n, CASE WHEN n % 4 = 0 THEN NULL ELSE 'p' || n END FROM generate_series(1, 20) n;
CREATE TABLE nickname (name text UNIQUE, person text);
INSERT INTO nickname VALUES ('jo', 'Joanna'), ('al', 'Albert'), (NULL, 'Nobody'), (NULL, 'Nobody');
CREATE TABLE visit (page text, amount numeric(8,2), day date);
INSERT INTO visit SELECT 'p' || n % 3, n % 5, date '2026-01-01' + n % 2 FROM generate_series(1, 60) n;

-- Odd names; one table name in two schemas; a generated column; a key that changes what points at it.
CREATE TABLE "Odd ""Table""" (id integer PRIMARY KEY, "unit price" numeric(8,2), "select" text, "größe" text, "a__b" text);
INSERT INTO "Odd ""Table""" VALUES (1, 9.5, 'x', 'klein', 'y');
CREATE TABLE archive.document (id integer PRIMARY KEY, body text);
INSERT INTO archive.document VALUES (7, 'old');
CREATE TABLE priced (id integer PRIMARY KEY, net numeric(8,2), gross numeric(8,2) GENERATED ALWAYS AS (net * 1.2) STORED);
INSERT INTO priced VALUES (1, 10);
CREATE TABLE currency (code text PRIMARY KEY, label text);
CREATE TABLE price_list (id integer PRIMARY KEY, currency_code text REFERENCES currency ON UPDATE CASCADE ON DELETE SET NULL);
INSERT INTO currency VALUES ('EUR', 'Euro'), ('USD', 'Dollar');
INSERT INTO price_list VALUES (1, 'EUR'), (2, 'EUR'), (3, 'USD');

-- Views over all of that.
CREATE VIEW live_document AS SELECT id, title FROM document WHERE NOT deleted;
CREATE VIEW visit_total AS SELECT page, sum(amount) AS total, count(*) AS visits FROM visit GROUP BY page;
CREATE MATERIALIZED VIEW reading_year AS SELECT year, sum(value) AS total FROM reading GROUP BY year;
CREATE MATERIALIZED VIEW never_filled AS SELECT 1 AS id WITH NO DATA;
