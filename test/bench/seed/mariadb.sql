CREATE TABLE author (
  id         bigint AUTO_INCREMENT PRIMARY KEY,
  name       varchar(200) NOT NULL,
  email      varchar(200) UNIQUE,
  born       date,
  created_at datetime NOT NULL DEFAULT current_timestamp
);
CREATE TABLE book (
  id          bigint AUTO_INCREMENT PRIMARY KEY,
  title       varchar(200) NOT NULL,
  author_id   bigint NOT NULL,
  price       decimal(10,2) NOT NULL,
  published   date,
  in_stock    boolean NOT NULL DEFAULT true,
  description text NOT NULL DEFAULT '',
  created_at  datetime NOT NULL DEFAULT current_timestamp,
  FOREIGN KEY book_author_id (author_id) REFERENCES author(id)
);
INSERT INTO author(name, email, born, created_at)
SELECT concat('Author ', seq, ' ', left(md5(seq), 8)), concat('author', seq, '@example.org'),
       date '1920-01-01' + INTERVAL seq * 37 % 30000 DAY, timestamp '2020-01-01 00:00:00' + INTERVAL seq * 7 MINUTE
FROM seq_1_to_:authors;
INSERT INTO book(title, author_id, price, published, in_stock, description, created_at)
SELECT concat(left(md5(concat('t', seq)), 6), ' ', left(md5(concat('u', seq)), 9), ' vol. ', seq % 12 + 1),
       crc32(concat('a', seq)) % :authors + 1,
       crc32(concat('p', seq)) % 10000 / 100 + 0.99,
       IF(seq % 50 = 0, NULL, date '1950-01-01' + INTERVAL seq % 27000 DAY),
       seq % 7 <> 0,
       concat('A ', elt(seq % 5 + 1, 'novel', 'biography', 'textbook', 'memoir', 'thriller'), ' about ',
         md5(concat('d', seq)), ', with "quotes", ', md5(concat('e', seq)), ' and an end.'),
       timestamp '2021-01-01 00:00:00' + INTERVAL seq * 97 SECOND
FROM seq_1_to_:books;
ANALYZE TABLE author, book;
