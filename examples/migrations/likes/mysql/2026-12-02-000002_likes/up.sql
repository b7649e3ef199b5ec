-- No transaction holds these statements together: each does nothing where it was done before.
-- Names are bytes: no collation folds their case, or the space at an end.
CREATE TABLE IF NOT EXISTS authors (
    name   VARBINARY(255) NOT NULL PRIMARY KEY,
    points BIGINT         NOT NULL DEFAULT 0
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS posts (
    id     BIGINT         NOT NULL PRIMARY KEY,
    author VARBINARY(255) NOT NULL,
    FOREIGN KEY (author) REFERENCES authors (name)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- That a user likes a post: there, or not.
CREATE TABLE IF NOT EXISTS likes (
    post_id BIGINT         NOT NULL,
    `user`  VARBINARY(255) NOT NULL,
    PRIMARY KEY (post_id, `user`),
    FOREIGN KEY (post_id) REFERENCES posts (id)
) ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT IGNORE INTO authors (name) VALUES ('ann'), ('ben');
INSERT IGNORE INTO posts (id, author) VALUES (1, 'ann'), (2, 'ben'), (3, 'ann');
