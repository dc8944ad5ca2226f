/** Takes the write lock of a SQLite file, prints `locked`, and commits one row after a line on standard input. */
import { Database } from 'bun:sqlite'

const connection = new Database(Bun.argv[2])
connection.run('PRAGMA busy_timeout = 5000')
connection.run('BEGIN IMMEDIATE')
process.stdout.write('locked\n')
for await (const _ of console) break
connection.run("INSERT INTO attempts (id, bucket, at) VALUES ('theirs', 'other process', 1)")
connection.run('COMMIT')
connection.close()
process.stdout.write('released\n')
