CREATE TABLE author (
  id         bigserial PRIMARY KEY,
  name       text NOT NULL,
  email      text UNIQUE,
  born       date,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE book (
  id          bigserial PRIMARY KEY,
  title       text NOT NULL,
  author_id   bigint NOT NULL REFERENCES author(id),
  price       numeric(10,2) NOT NULL,
  published   date,
  in_stock    boolean NOT NULL DEFAULT true,
  description text NOT NULL DEFAULT '',
  created_at  timestamptz NOT NULL DEFAULT now()
);
INSERT INTO author(name, email, born, created_at)
SELECT 'Author ' || g || ' ' || substr(md5(g::text), 1, 8), 'author' || g || '@example.org',
       date '1920-01-01' + g * 37 % 30000, timestamptz '2020-01-01 00:00Z' + g * interval '7 minutes'
FROM generate_series(1, :authors) g;
INSERT INTO book(title, author_id, price, published, in_stock, description, created_at)
SELECT initcap(substr(md5('t' || g), 1, 6) || ' ' || substr(md5('u' || g), 1, 9)) || ' vol. ' || g % 12 + 1,
       (hashint8(g)::bigint & 2147483647) % :authors + 1,
       ((hashint8(g + 7)::bigint & 2147483647) % 10000) / 100.0 + 0.99,
       CASE WHEN g % 50 = 0 THEN NULL ELSE date '1950-01-01' + g % 27000 END,
       g % 7 <> 0,
       'A ' || (ARRAY['novel', 'biography', 'textbook', 'memoir', 'thriller'])[g % 5 + 1] || ' about ' ||
         md5('d' || g) || ', with "quotes", ' || md5('e' || g) || ' and an end.',
       timestamptz '2021-01-01 00:00Z' + g * interval '97 seconds'
FROM generate_series(1, :books) g;
CREATE INDEX book_author_id ON book(author_id);
CREATE SCHEMA many;
DO $$ BEGIN
  FOR n IN 1..200 LOOP
    EXECUTE format('CREATE TABLE many.book_%s (LIKE public.book INCLUDING ALL)', n);
  END LOOP;
END $$;
