CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL, text TEXT NOT NULL);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(title, text, content = notes, content_rowid = id);
CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON notes BEGIN
    INSERT INTO words(rowid, title, text) VALUES (new.id, new.title, new.text);
END;
CREATE TRIGGER IF NOT EXISTS deleted AFTER DELETE ON notes BEGIN
    INSERT INTO words(words, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
END;
CREATE TRIGGER IF NOT EXISTS edited AFTER UPDATE ON notes BEGIN
    INSERT INTO words(words, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
    INSERT INTO words(rowid, title, text) VALUES (new.id, new.title, new.text);
END;
