/** Takes the write lock of a SQLite file, says so, and commits one row when it is told to. */
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
