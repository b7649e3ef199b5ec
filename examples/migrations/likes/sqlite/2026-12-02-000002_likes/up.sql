CREATE TABLE authors (
    name   TEXT   PRIMARY KEY NOT NULL,
    points BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE posts (
    id     BIGINT PRIMARY KEY NOT NULL,
    author TEXT   NOT NULL REFERENCES authors (name)
);

-- That a user likes a post: there, or not.
CREATE TABLE likes (
    post_id BIGINT NOT NULL REFERENCES posts (id),
    "user"  TEXT   NOT NULL,
    PRIMARY KEY (post_id, "user")
);

INSERT INTO authors (name) VALUES ('ann'), ('ben');
INSERT INTO posts (id, author) VALUES (1, 'ann'), (2, 'ben'), (3, 'ann');
