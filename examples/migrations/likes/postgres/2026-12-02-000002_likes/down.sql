DROP TABLE likes;
DROP TABLE posts;
DROP TABLE authors;
