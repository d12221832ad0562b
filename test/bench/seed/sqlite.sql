PRAGMA journal_mode = WAL;
PRAGMA synchronous = OFF;
CREATE TABLE author (
  id         integer PRIMARY KEY,
  name       text NOT NULL,
  email      text UNIQUE,
  born       date,
  created_at timestamp NOT NULL DEFAULT current_timestamp
);
CREATE TABLE book (
  id          integer PRIMARY KEY,
  title       text NOT NULL,
  author_id   integer NOT NULL REFERENCES author(id),
  price       decimal(10,2) NOT NULL,
  published   date,
  in_stock    boolean NOT NULL DEFAULT true,
  description text NOT NULL DEFAULT '',
  created_at  timestamp NOT NULL DEFAULT current_timestamp
);
BEGIN;
WITH RECURSIVE n(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < :authors)
INSERT INTO author(name, email, born, created_at)
SELECT printf('Author %d %08x', g, g * 2654435761 % 4294967296), printf('author%d@example.org', g),
       date('1920-01-01', printf('+%d days', g * 37 % 30000)), datetime('2020-01-01', printf('+%d minutes', g * 7))
FROM n;
WITH RECURSIVE n(g) AS (SELECT 1 UNION ALL SELECT g + 1 FROM n WHERE g < :books)
INSERT INTO book(title, author_id, price, published, in_stock, description, created_at)
SELECT printf('%06x %09x vol. %d', g * 2654435761 % 16777216, g * 40503 % 4294967296, g % 12 + 1),
       (g * 2654435761 % 4294967296 >> 5) % :authors + 1,
       round(g * 40503 % 10000 / 100.0 + 0.99, 2),
       CASE WHEN g % 50 = 0 THEN NULL ELSE date('1950-01-01', printf('+%d days', g % 27000)) END,
       g % 7 <> 0,
       printf('A %s about %016x%016x, with "quotes", %016x%016x and an end.',
         CASE g % 5 WHEN 0 THEN 'novel' WHEN 1 THEN 'biography' WHEN 2 THEN 'textbook' WHEN 3 THEN 'memoir' ELSE 'thriller' END,
         g * 2654435761, g * 40503, g * 2246822519, g * 3266489917),
       datetime('2021-01-01', printf('+%d seconds', g * 97))
FROM n;
COMMIT;
CREATE INDEX book_author_id ON book(author_id);
ANALYZE;
